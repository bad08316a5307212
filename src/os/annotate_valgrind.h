/* valgrind's requests where its header is there, nothing elsewhere. For os/annotate.c only. */
#ifndef ABTI_OS_ANNOTATE_VALGRIND_H
#define ABTI_OS_ANNOTATE_VALGRIND_H

#include <stdbool.h>

#include "base/build.h"
#include "base/compiler.h"

#if ABTI_BUILD_VALGRIND

#include <valgrind/valgrind.h>

ABTI_INLINE bool abti_valgrind_present(void)
{
    return RUNNING_ON_VALGRIND;
}

ABTI_INLINE unsigned abti_valgrind_stack_register(const void *low, const void *high)
{
    return VALGRIND_STACK_REGISTER(low, high);
}

ABTI_INLINE void abti_valgrind_stack_deregister(unsigned id)
{
    VALGRIND_STACK_DEREGISTER(id);
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

#endif

#endif
