/* SPDX-License-Identifier: BSD-3-Clause */
/* The loaded files: the program and its libraries. */
#ifndef ABTI_OS_MODULE_H
#define ABTI_OS_MODULE_H

#include <stdbool.h>
#include <stdint.h>

struct abti_module {
    uintptr_t base;
    char file[120]; /* empty: the program itself */
};

/* The file that this code is in; false when there is none. It is called in handlers of fatal signals, too. */
bool abti_module_of(uintptr_t code, struct abti_module *module);

/*
 * The function of that name which a loaded library exports. `file` is the library's name without its path. NULL: no
 * such library is loaded, or it has none. It does not wait for a thread that is in dlopen.
 */
void *abti_module_function(const char *file, const char *name);

/* Another number after a file has been loaded or unloaded. It takes a lock and some 50 ns. */
uint64_t abti_module_changes(void);

#endif
