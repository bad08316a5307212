/* Where the loader does not say which files there are. */
#include <dlfcn.h>
#include <stdio.h>
#include "os/symbol.h"

void abti_symbol_describe(uintptr_t code, bool is_return, char *text, size_t size)
{
    Dl_info info;
    text[0] = '\0';
    if (!dladdr((void *)(code - is_return), &info))
        return;
    if (info.dli_sname)
        snprintf(text, size, "%s+0x%zx (%s+0x%zx)", info.dli_sname, (size_t)(code - (uintptr_t)info.dli_saddr),
                 info.dli_fname, (size_t)(code - (uintptr_t)info.dli_fbase));
    else
        snprintf(text, size, "(%s+0x%zx)", info.dli_fname, (size_t)(code - (uintptr_t)info.dli_fbase));
}
