/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutual exclusion: critical, and atomic where the processor has no instruction for it. */
#include "omp.h"

#include <abt.h>
#include "gomp.h"

static _Atomic(uint32_t) unnamed, fallback;

void abtomp_mutex_lock_slow(_Atomic(uint32_t) *mutex)
{
    /* acquire: pairs with the release in abtomp_mutex_unlock */
    while (atomic_exchange_explicit(mutex, 2, memory_order_acquire) != 0)
        (void)ABTX_word_wait((const volatile void *)mutex, 2, 0, ABT_TRUE, NULL, NULL);
}

void abtomp_mutex_wake(_Atomic(uint32_t) *mutex)
{
    (void)ABTX_word_wake((const volatile void *)mutex, 1);
}

void GOMP_critical_start(void)
{
    abtomp_mutex_lock(&unnamed);
}

void GOMP_critical_end(void)
{
    abtomp_mutex_unlock(&unnamed);
}

/* The compiler makes a word of the size of a pointer for each name: its first half is the mutex. */
void GOMP_critical_name_start(void **name)
{
    abtomp_mutex_lock((_Atomic(uint32_t) *)(void *)name);
}

void GOMP_critical_name_end(void **name)
{
    abtomp_mutex_unlock((_Atomic(uint32_t) *)(void *)name);
}

void GOMP_atomic_start(void)
{
    abtomp_mutex_lock(&fallback);
}

void GOMP_atomic_end(void)
{
    abtomp_mutex_unlock(&fallback);
}
