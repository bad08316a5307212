/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is at the other end of a socket. */
#ifndef ABTI_OS_PEER_H
#define ABTI_OS_PEER_H

#include <stdbool.h>
#include "base/compiler.h"

/* The process that has connected the Unix socket has this process's user. False also where the system does not tell. */
bool abti_peer_is_own(int fd) ABTI_MUST_CHECK;

#endif
