#include "os/symbol.h"

#include <dlfcn.h>
#include <stddef.h>

const char *abti_symbol_of(void *function)
{
    Dl_info info;
    return dladdr(function, &info) && info.dli_saddr == function ? info.dli_sname : NULL;
}
