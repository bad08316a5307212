/* Names of functions. */
#ifndef ABTI_OS_SYMBOL_H
#define ABTI_OS_SYMBOL_H

/* The name of the function at this address, if the loader knows one (static functions have none); else NULL. */
const char *abti_symbol_of(void *function);

#endif
