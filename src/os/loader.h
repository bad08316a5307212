/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the program has loaded libraries while it runs. */
#ifndef ABTI_OS_LOADER_H
#define ABTI_OS_LOADER_H

/*
 * A word that is NULL until the next library is loaded, to be looked at at any time. NULL: there is none. That is so
 * when libraries have been loaded already: the word is the loader's, in the record of the last library, which has to be
 * one that is never unloaded.
 */
void *const *abti_loader_next(void);

#endif
