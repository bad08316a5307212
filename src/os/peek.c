/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel copies, which says so instead of a fault. Where it may not (a strict sandbox), a read of the page it is.
 */
#include "os/peek.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "os/vm.h"

static ABTI_NOINLINE ABTI_NO_SANITIZE void copy_bytes(char *to, const volatile char *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
}

bool abti_peek(void *to, const void *from, size_t size)
{
    int saved_errno = errno;
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};
    ssize_t got = syscall(SYS_process_vm_readv, (long)getpid(), &here, 1L, &there, 1L, 0L);
    bool forbidden = got < 0 && (errno == ENOSYS || errno == EPERM);
    errno = saved_errno;
    if (!forbidden)
        return got == (ssize_t)size;
    const char *last = (const char *)from + size - 1;
    if (!abti_vm_is_mapped((void *)(uintptr_t)from) || !abti_vm_is_mapped((void *)(uintptr_t)last))
        return false;
    copy_bytes(to, from, size);
    return true;
}
