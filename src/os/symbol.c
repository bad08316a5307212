#include "os/symbol.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *abti_symbol_of(void *function)
{
    Dl_info info;
    return dladdr(function, &info) && info.dli_saddr == function ? info.dli_sname : NULL;
}

void abti_symbol_spell(void *function, char *text, size_t size)
{
    Dl_info info = {0};
    bool found = dladdr(function, &info) != 0;
    const char *slash = found && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    if (found && info.dli_saddr == function && info.dli_sname)
        snprintf(text, size, "%s", info.dli_sname);
    else if (found && info.dli_fname)
        snprintf(text, size, "%s+0x%zx", slash ? slash + 1 : info.dli_fname,
                 (size_t)((char *)function - (char *)info.dli_fbase));
    else
        snprintf(text, size, "%p", function);
}
