#include "os/symbol.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *abti_symbol_of(void *function)
{
    Dl_info info;
    return dladdr(function, &info) && info.dli_saddr == function ? info.dli_sname : NULL;
}

const char *abti_symbol_text(char *text, size_t size, void *function)
{
    Dl_info info;
    const char *name = abti_symbol_of(function);
    if (name) {
        (void)snprintf(text, size, "%s", name);
    } else if (dladdr(function, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        (void)snprintf(text, size, "%s+0x%zx", slash ? slash + 1 : info.dli_fname,
                       (size_t)((uintptr_t)function - (uintptr_t)info.dli_fbase));
    } else {
        (void)snprintf(text, size, "%p", function);
    }
    return text;
}
