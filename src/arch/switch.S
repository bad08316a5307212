/* SPDX-License-Identifier: BSD-3-Clause */
/* The context switch of the machine that the library is built for: configure says in which folder it is looked for. */
#include "ctx.S"
