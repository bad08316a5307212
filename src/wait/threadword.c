/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/threadword.h"

#include <errno.h>
#include <pthread.h>
#include "base/atomic.h"
#include "base/hash.h"

static pthread_key_t keys[ABTI_THREAD_WORDS];
static _Atomic(bool) are_made;

static void make_keys(void)
{
    for (int i = 0; i < ABTI_THREAD_WORDS; i++) {
        if (pthread_key_create(&keys[i], NULL) != 0)
            return; /* the process has used them up, and will */
    }
    abti_store_release(&are_made, true); /* release: pairs with the acquire in has_keys */
}

static bool has_keys(void)
{
    return abti_load_acquire(&are_made); /* acquire: pairs with the release in make_keys */
}

void *abti_thread_word(enum abti_thread_word which)
{
    return has_keys() ? pthread_getspecific(keys[which]) : NULL;
}

bool abti_thread_set_word(enum abti_thread_word which, void *value)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_keys);
    return has_keys() && pthread_setspecific(keys[which], value) == 0;
}

ABTI_UNKNOWN uint64_t abti_thread_hash(void)
{
    return abti_hash((uintptr_t)&errno);
}
