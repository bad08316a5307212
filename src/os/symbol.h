/* Names of functions. */
#ifndef ABTI_OS_SYMBOL_H
#define ABTI_OS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stddef.h>

/* The name of the function at this address, if the loader knows one (static functions have none); else NULL. */
const char *abti_symbol_of(void *function);

/*
 * Text on an address of code: "function+0x12 (file+0x3456)", without what is not known; the offset in the file is what
 * addr2line needs. Static functions are known as long as the file has not been stripped. `is_return`: the address is
 * that behind a call, which may be the last instruction of its function.
 *
 * A file's symbols are read anew for an address that has not been asked for lately, which takes long. Nothing is
 * allocated; the loader's lock is taken, so not in a signal handler.
 */
void abti_symbol_describe(uintptr_t code, bool is_return, char *text, size_t size);

/* The same as text; of a function without a name where it lies in its file, as addr2line takes it: "program+0x1234". */
void abti_symbol_spell(void *function, char *text, size_t size);

#endif
