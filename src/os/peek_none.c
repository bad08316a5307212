/* SPDX-License-Identifier: BSD-3-Clause */
/* Without such a call in the kernel: a look at the pages first. */
#include "os/peek.h"

#include <stdint.h>
#include "os/vm.h"

static ABTI_NOINLINE ABTI_NO_SANITIZE void copy_bytes(char *to, const volatile char *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
}

bool abti_peek(void *to, const void *from, size_t size)
{
    const char *last = (const char *)from + size - 1;
    if (!abti_vm_is_mapped((void *)(uintptr_t)from) || !abti_vm_is_mapped((void *)(uintptr_t)last))
        return false;
    copy_bytes(to, from, size);
    return true;
}
