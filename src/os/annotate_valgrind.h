/* valgrind's requests where its header is there, nothing elsewhere. For os/annotate.c only. */
#ifndef ABTI_OS_ANNOTATE_VALGRIND_H
#define ABTI_OS_ANNOTATE_VALGRIND_H

#include <stdbool.h>

#include "base/build.h"
#include "base/compiler.h"

#if ABTI_BUILD_MEMCHECK

#include <valgrind/memcheck.h>

/* The tool that watches memory runs, which alone knows what is defined. Others, which count, see the usual paths. */
ABTI_INLINE bool abti_valgrind_present(void)
{
    char byte = 0, bits = 0;
    return VALGRIND_GET_VBITS(&byte, &bits, 1) == 1;
}

ABTI_INLINE unsigned abti_valgrind_stack_register(const void *low, const void *high)
{
    return VALGRIND_STACK_REGISTER(low, high);
}

ABTI_INLINE void abti_valgrind_stack_deregister(unsigned id)
{
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

ABTI_INLINE bool abti_valgrind_present(void)
{
    return false;
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
