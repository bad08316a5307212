/* SPDX-License-Identifier: BSD-3-Clause */
/* ABTX_word_*: waits for a user's words. */
#include <abt.h>
#include <stdbool.h>
#include <stdint.h>
#include "api/check.h"
#include "os/annotate.h"
#include "stream/park.h"
#include "sync/wordq.h"

/* Whether the address cannot be that of a word of 4 bytes. */
static bool word_is_bad(const volatile void *word)
{
    return ABTI_REFUSE(!word || (uintptr_t)word % sizeof(uint32_t) != 0);
}

/* The words are atomic words for the library, whatever the user's type is. */
static const _Atomic(uint32_t) *atomic_word(const volatile void *word)
{
    return (const _Atomic(uint32_t) *)(uintptr_t)word;
}

int ABTX_word_wait(const volatile void *word, uint32_t value, uint32_t num, ABT_bool block_native, ABTX_look_fn poll,
                   void *arg)
{
    ABTI_FAIL_IF(word_is_bad(word), ABT_ERR_INV_ARG);
    struct abti_meanwhile meanwhile = {poll, arg};
    abti_wordq_wait(atomic_word(word), value, num, block_native != ABT_FALSE, &meanwhile, &abti_es_dock);
    abti_annotate_acquire((const void *)(uintptr_t)word); /* pairs, for TSan, with the user's own release */
    return ABT_SUCCESS;
}

int ABTX_word_wake(const volatile void *word, uint32_t num)
{
    ABTI_FAIL_IF(word_is_bad(word), ABT_ERR_INV_ARG);
    abti_wordq_wake(atomic_word(word), num);
    return ABT_SUCCESS;
}
