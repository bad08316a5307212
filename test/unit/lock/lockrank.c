/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of locks, in builds that check it (--enable-debug=ub_assert). */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "child.h"
#include "lock/bias.h"
#include "wait/sleeper.h"

static struct abti_spin runtime = ABTI_SPIN_INIT(ABTI_RANK_RT), slab = ABTI_SPIN_INIT(ABTI_RANK_SLAB);
static struct abti_spin object, mutex; /* zeroed, as those of users are */
static struct abti_bias pool = {.spin = ABTI_SPIN_INIT(ABTI_RANK_POOL)};
static struct abti_bias_user me;

static void rising(void)
{
    abti_spin_lock(&runtime);
    abti_spin_lock(&object);
    abti_spin_lock(&mutex);
    abti_bias_lock(&pool, &me);
    abti_spin_lock(&slab);
    abti_spin_unlock(&runtime);
    abti_spin_unlock(&slab);
    abti_bias_unlock(&pool, &me);
    abti_spin_unlock(&mutex);
    abti_spin_unlock(&object);
    abti_spin_lock(&runtime);
    abti_spin_unlock(&runtime);
}

static void walking(void)
{
    abti_bias_lock_long(&pool, &me);
    abti_spin_lock(&runtime);
    abti_spin_unlock(&runtime);
    abti_bias_unlock(&pool, &me);
}

static void trying(void)
{
    abti_spin_lock(&slab);
    if (!abti_spin_trylock(&runtime))
        abort();
    abti_spin_unlock(&runtime);
    abti_spin_unlock(&slab);
}

static void falling(void)
{
    abti_spin_lock(&slab);
    abti_spin_lock(&runtime);
}

static void under_a_pool(void)
{
    abti_bias_lock(&pool, &me);
    abti_spin_lock(&object);
}

static void by_the_bias(void)
{
    abti_store_relaxed(&pool.owner, &me);
    abti_spin_lock(&slab);
    abti_bias_lock(&pool, &me);
}

static void twice(void)
{
    abti_spin_lock(&object);
    abti_spin_lock(&object);
}

static void not_held(void)
{
    abti_spin_unlock(&slab);
}

static void *send(void *wakeup)
{
    abti_wakeup_send(wakeup);
    return NULL;
}

/* What happens if a ULT claims a wake, switches, and goes on elsewhere. */
static void sent_elsewhere(void)
{
    struct abti_sleeper sleeper = {.word = ABTI_AWAKE};
    pthread_t thread;
    abti_sleeper_prepare(&sleeper);
    pthread_create(&thread, NULL, send, abti_sleeper_claim(&sleeper));
    pthread_join(thread, NULL);
}

static int call(void *act)
{
    (*(void (**)(void))act)();
    return 0;
}

/* How a child ends that does it; 0: well. */
static int end_of(void (*act)(void))
{
    char words[1024];

    return child_run(call, &act, words, sizeof(words));
}

int main(void)
{
    if (!ABTI_BUILD_ASSERT) {
        skip(1, "the order is not checked in this build");
        return done_testing();
    }
    is_int(end_of(rising), 0, "in rising order");
    is_int(end_of(walking), 0, "anything in a walk over a pool");
    is_int(end_of(trying), 0, "who does not wait keeps to no order");
    is_int(end_of(falling), 128 + SIGABRT, "in falling order");
    is_int(end_of(under_a_pool), 128 + SIGABRT, "an object under a pool");
    is_int(end_of(by_the_bias), 128 + SIGABRT, "a pool by the bias under a slab");
    is_int(end_of(twice), 128 + SIGABRT, "the same lock twice");
    is_int(end_of(not_held), 128 + SIGABRT, "one that is not held");
    is_int(end_of(sent_elsewhere), 128 + SIGABRT, "a wake that another thread has claimed");
    return done_testing();
}
