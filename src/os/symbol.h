/* Names of functions. */
#ifndef ABTI_OS_SYMBOL_H
#define ABTI_OS_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the name of the function at this address, if the loader knows one (static functions have none); else NULL. */
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

/* The function at this address for people: its name, or the module and the offset in it, or the address. Returns the
 * text. */
const char *abti_symbol_text(char *text, size_t size, void *function);

#endif
