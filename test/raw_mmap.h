/* SPDX-License-Identifier: BSD-3-Clause */
/* mmap() for those who stand in for it: the system call itself. */
#ifndef TEST_RAW_MMAP_H
#define TEST_RAW_MMAP_H

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __s390x__

/* It takes the address of its arguments. */
static inline void *raw_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
    unsigned long args[] = {(unsigned long)addr,  size, (unsigned long)prot, (unsigned long)flags, (unsigned long)fd,
                            (unsigned long)offset};
    return (void *)syscall(SYS_mmap, args);
}

#else

static inline void *raw_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, addr, size, prot, flags, fd, offset);
}

#endif

#endif
