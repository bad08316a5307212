/* Environment variables of the library. */
#ifndef ABTI_OS_ENV_H
#define ABTI_OS_ENV_H

/*
 * The text of variable ABT_<name>, or where that is not set, of ABT_ENV_<name>; NULL when neither is set. An empty
 * text counts as set. name is short (at most 40 characters). The text belongs to the environment: use it before
 * anybody can change that.
 */
const char *abti_env_get(const char *name);

#endif
