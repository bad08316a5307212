/* SPDX-License-Identifier: BSD-3-Clause */
/* valgrind's requests where its header is there, nothing elsewhere. For os/annotate.c only. */
#ifndef ABTI_OS_ANNOTATE_VALGRIND_H
#define ABTI_OS_ANNOTATE_VALGRIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/build.h"
#include "base/compiler.h"

/* --enable-fast=ndebug defines NVALGRIND, with which the header's requests are nothing. */
#if ABTI_BUILD_MEMCHECK && !defined(NVALGRIND)

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <valgrind/helgrind.h>
#include <valgrind/memcheck.h>

/* The tool that watches memory runs, which alone knows what is defined. Others, which count, see the usual paths. */
ABTI_INLINE bool abti_valgrind_watches_memory(void)
{
    char byte = 0, bits = 0;
    return VALGRIND_GET_VBITS(&byte, &bits, 1) == 1;
}

/* helgrind or DRD runs. They have the same two requests for orders, which other tools do not answer. */
ABTI_INLINE bool abti_valgrind_watches_races(void)
{
    enum { NO_ANSWER = 1 }; /* theirs is 0 */
    char any = 0;
    return VALGRIND_DO_CLIENT_REQUEST_EXPR(NO_ANSWER, _VG_USERREQ__HG_USERSO_SEND_PRE, &any, 0, 0, 0, 0) != NO_ANSWER;
}

ABTI_INLINE bool abti_valgrind_is_drd(void)
{
    enum { NO_HELGRIND = -2 };
    char any = 0, bits = 0;
    return abti_valgrind_watches_races() && (int)VALGRIND_HG_GET_ABITS(&any, &bits, 1) == NO_HELGRIND;
}

/* helgrind does not look at accesses to it. */
ABTI_INLINE void abti_valgrind_unwatch(const void *ptr, size_t size)
{
    VALGRIND_HG_DISABLE_CHECKING(ptr, size);
}

ABTI_INLINE void abti_valgrind_release(const void *address)
{
    ANNOTATE_HAPPENS_BEFORE(address);
}

ABTI_INLINE void abti_valgrind_acquire(const void *address)
{
    ANNOTATE_HAPPENS_AFTER(address);
}

/*
 * As if the command line had --suppressions with a file of that. It is not one on disk, which might be missing where
 * the program runs: valgrind ends the program then.
 */
ABTI_INLINE void abti_valgrind_suppress(const char *text, size_t size)
{
    char option[64];
    const char *path = option + sizeof("--suppressions=") - 1;
    int fd = memfd_create("libabt.supp", MFD_CLOEXEC);
    if (fd < 0)
        return;
    snprintf(option, sizeof(option), "--suppressions=/proc/self/fd/%d", fd);
    if (write(fd, text, size) == (ssize_t)size && access(path, R_OK) == 0)
        VALGRIND_CLO_CHANGE(option);
    close(fd);
}

ABTI_INLINE unsigned abti_valgrind_stack_register(const void *low, const void *high)
{
    return VALGRIND_STACK_REGISTER(low, high);
}

ABTI_INLINE void abti_valgrind_stack_deregister(unsigned id)
{
    if (id > 0) /* 0 is the first thread's */
        VALGRIND_STACK_DEREGISTER(id);
}

ABTI_INLINE void abti_valgrind_no_access(const void *ptr, size_t size)
{
    (void)VALGRIND_MAKE_MEM_NOACCESS(ptr, size);
}

ABTI_INLINE void abti_valgrind_undefined(const void *ptr, size_t size)
{
    (void)VALGRIND_MAKE_MEM_UNDEFINED(ptr, size);
}

#else

ABTI_INLINE bool abti_valgrind_watches_memory(void)
{
    return false;
}

ABTI_INLINE bool abti_valgrind_watches_races(void)
{
    return false;
}

ABTI_INLINE bool abti_valgrind_is_drd(void)
{
    return false;
}

ABTI_INLINE void abti_valgrind_unwatch(const void *ptr, size_t size)
{
    (void)ptr;
    (void)size;
}

ABTI_INLINE void abti_valgrind_release(const void *address)
{
    (void)address;
}

ABTI_INLINE void abti_valgrind_acquire(const void *address)
{
    (void)address;
}

ABTI_INLINE void abti_valgrind_suppress(const char *text, size_t size)
{
    (void)text;
    (void)size;
}

ABTI_INLINE unsigned abti_valgrind_stack_register(const void *low, const void *high)
{
    (void)low;
    (void)high;
    return 0;
}

ABTI_INLINE void abti_valgrind_stack_deregister(unsigned id)
{
    (void)id;
}

ABTI_INLINE void abti_valgrind_no_access(const void *ptr, size_t size)
{
    (void)ptr;
    (void)size;
}

ABTI_INLINE void abti_valgrind_undefined(const void *ptr, size_t size)
{
    (void)ptr;
    (void)size;
}

#endif

#endif
