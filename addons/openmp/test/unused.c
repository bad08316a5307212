/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is linked with OpenMP, and OpenACC, and uses neither pays nothing for it. */
#include <abt.h>
#include <dlfcn.h>

#include "native_threads.h"
#include "sanitizers.h"
#include "tap.h"
#include "watchdog.h"

/* The linker finds them in libgomp, with versions of OpenMP and OpenACC. They are never called. */
int omp_get_max_threads(void);
int acc_get_num_devices(int kind);

int main(int argc, char **argv)
{
    watchdog_begin(0);
    if (argc > 100)
        return omp_get_max_threads() + acc_get_num_devices(0);
    pass("a program that names functions of OpenACC is loaded");
    int (*initialized)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "ABT_initialized");
    ok(initialized != NULL, "the library that is in place of libgomp brings libabt");
    is_int(initialized ? initialized() : 0, ABT_ERR_UNINITIALIZED, "libabt is not up");
    if (UNDER_TSAN)
        skip(1, "TSan has a thread of its own");
    else
        is_int(count_native_threads(), 1, "the library has made no thread");
    return done_testing();
}
