/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions. */
#ifndef ABTI_RT_SYMBOL_H
#define ABTI_RT_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * libunwind knows static functions, too, as long as the file has not been stripped; without it only those that the
 * loader knows have names. `is_return`: the address is that behind a call, which may be the last instruction of its
 * function.
 *
 * A file's symbols are read anew for an address that has not been asked for lately, which takes long. These functions
 * may load libunwind, see abti_libunwind, so that only the one that says so is for signal handlers.
 */

/* "function+0x12 (file+0x3456)", without what is not known; the offset in the file is what addr2line needs. */
void abti_symbol_describe(uintptr_t code, bool is_return, char *text, size_t size);

/* The function at this address for people: its name, or the module and the offset in it, or the address. Returns the
 * text. */
const char *abti_symbol_text(char *text, size_t size, void *function);

/*
 * The same with the place, so that addr2line finds the line: "work at program+0x11d9", or the place alone. All messages
 * that name a unit's function have this form.
 */
const char *abti_symbol_place(char *text, size_t size, void *function);

/*
 * The same in a handler of a fatal signal: it knows only the names that the loader knows, loads nothing, and takes no
 * lock of the library.
 */
const char *abti_symbol_place_in_handler(char *text, size_t size, void *function);

/* In the child of a fork: nothing has been looked up. */
void abti_symbol_forget(void);

#endif
