/* SPDX-License-Identifier: BSD-3-Clause */
/* Environment variables of the library: ABT_<name>, or where that is not set, ABT_ENV_<name>. */
#ifndef ABTI_OS_ENV_H
#define ABTI_OS_ENV_H

/* Longer names than fit are not ours: with the zero at the end. */
enum { ABTI_ENV_NAME_ROOM = 41 };

/*
 * The text of a variable; NULL when it is set under neither name. An empty text counts as set. The text belongs to the
 * environment: use it before anybody can change that.
 */
const char *abti_env_get(const char *name);

/* The prefix under which a variable is set. */
const char *abti_env_prefix(const char *name);

/* Visits every variable whose name begins as ours do, and is not too long. */
void abti_env_visit(void (*visit)(const char *prefix, const char *name));

#endif
