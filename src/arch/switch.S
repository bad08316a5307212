/* The context switch of the machine that the library is built for: configure says in which folder it is looked for. */
#include "ctx.S"
