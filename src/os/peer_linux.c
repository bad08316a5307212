/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/socket.h>
#include <unistd.h>
#include "os/peer.h"

bool abti_peer_is_own(int fd)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && cred.uid == geteuid();
}
