/* SPDX-License-Identifier: BSD-3-Clause */
/* Native threads on the mutex, cond and barrier of libabt. */
#include "abt_team.h"
#include "suite_native.h"

static ABT_mutex mutex;
static ABT_cond cond;
static ABT_barrier barrier;

static void lock(void)
{
    ABT_mutex_lock(mutex);
}

static void unlock(void)
{
    ABT_mutex_unlock(mutex);
}

static void wait(void)
{
    ABT_cond_wait(cond, mutex);
}

static void wake_one(void)
{
    ABT_cond_signal(cond);
}

static void wake_all(void)
{
    ABT_cond_broadcast(cond);
}

static void meet(void)
{
    ABT_barrier_wait(barrier);
}

static void run(const struct suite_work *work)
{
    static const struct native_kind kind = {lock, unlock, wait, wake_one, wake_all, meet};
    CHECK(ABT_init(0, NULL));
    CHECK(ABT_mutex_create(&mutex));
    CHECK(ABT_cond_create(&cond));
    CHECK(ABT_barrier_create((uint32_t)work->n, &barrier));
    suite_native(work, &kind);
    CHECK(ABT_barrier_free(&barrier));
    CHECK(ABT_cond_free(&cond));
    CHECK(ABT_mutex_free(&mutex));
    CHECK(ABT_finalize());
}

const struct suite_work abt_native_works[] = {SUITE_NATIVE_WORKS(run)};
const int abt_native_num = sizeof(abt_native_works) / sizeof(abt_native_works[0]);
