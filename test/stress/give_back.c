/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory is given back: 20,000 ULTs that touched 6 KiB of stack each, all at once, have ended, and some time later the
 * process has no more than a tenth over what it had before, whatever its streams do meanwhile. (Each further stream
 * keeps what its magazines hold.) How long it takes is said here.
 */
#include "memory.h"
#include "stress.h"

enum { MANY = SCALED(20000, 2000, 500), TOUCHED = 6 * 1024 };

/* KiB that one stream's magazines may keep: a few stacks, and descriptors of which each may keep a page from going. */
enum { MAGAZINES = 256 };

static ABT_thread *threads;
static atomic_int suspended;

static void touch(void *arg)
{
    char room[TOUCHED];
    memset(room, 1, sizeof(room));
    __asm__ volatile("" : : "r"(room) : "memory");
}

static void touch_and_suspend(void *arg)
{
    touch(arg);
    atomic_fetch_add(&suspended, 1);
    must(ABT_self_suspend());
}

static void run_all(ABT_pool pool, ABT_thread_attr attr)
{
    atomic_store(&suspended, 0);
    for (int i = 0; i < MANY; i++)
        must(ABT_thread_create(pool, touch_and_suspend, NULL, attr, &threads[i]));
    for (int i = 0; i < MANY; i++) {
        ABT_thread_state state = ABT_THREAD_STATE_READY;
        while (must(ABT_thread_get_state(threads[i], &state)), state != ABT_THREAD_STATE_BLOCKED)
            must(ABT_self_yield());
    }
    is_int(atomic_load(&suspended), MANY, "all have touched their stacks");
    long most = resident_kib();
    for (int i = 0; i < MANY; i++)
        must(ABT_thread_resume(threads[i]));
    must(ABT_thread_free_many(MANY, threads));
    diag("%ld KiB with all of them", most);
}

static void *nothing(void *arg)
{
    return arg;
}

/* The code that is used has been read in: it is no matter of this test. */
static void warm_up(ABT_pool pool, ABT_thread_attr attr)
{
    pthread_t thread;
    must(ABT_thread_create(pool, touch, NULL, attr, &threads[0]));
    must(ABT_thread_free(&threads[0]));
    must(pthread_create(&thread, NULL, nothing, NULL));
    must(pthread_join(thread, NULL));
    (void)resident_kib();
}

enum way { SLEEPS, YIELDS, WAITS, NUM_WAYS };
static const char *const ways[] = {"its thread sleeps in the system", "its ULT yields all the time", "its ULT waits"};

static void spend(enum way way, double seconds)
{
    double end = now() + seconds;
    if (way == SLEEPS)
        nap_us((long)(seconds * 1e6));
    else if (way == WAITS)
        must(ABTX_self_sleep((int64_t)(seconds * 1e9)));
    while (now() < end)
        must(ABT_self_yield());
}

static void play(enum way way, int streams, bool custom)
{
    ABT_xstream es[4];
    ABT_pool pool;
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;
    must(ABT_init(0, NULL));
    for (int i = 1; i < streams; i++)
        must(ABT_xstream_create(ABT_SCHED_NULL, &es[i]));
    must(ABT_self_get_xstream(&es[0]));
    must(ABT_xstream_get_main_pools(es[streams - 1], 1, &pool));
    if (custom) {
        must(ABT_thread_attr_create(&attr));
        must(ABT_thread_attr_set_stacksize(attr, 200000));
    }
    warm_up(pool, attr);
    long before = resident_kib();
    run_all(pool, attr);
    long most = before + before / 10 + (streams - 1) * MAGAZINES;
    do
        spend(way, 0.1);
    while (resident_kib() > most && !UNDER_ASAN && !UNDER_TSAN);
    pass("%s, %d streams%s: %ld KiB before, %ld later", ways[way], streams, custom ? ", large stacks" : "", before,
         resident_kib());
    if (custom)
        must(ABT_thread_attr_free(&attr));
    for (int i = 1; i < streams; i++)
        must(ABT_xstream_free(&es[i]));
    must(ABT_finalize());
}

int main(void)
{
    need_own_memory();
    need_madvise();
    stress_begin();
    threads = malloc(MANY * sizeof(*threads));
    memset(threads, 1, MANY * sizeof(*threads));
    for (int way = 0; way < NUM_WAYS; way++)
        play(way, 1, false);
    play(SLEEPS, 2, false);
    play(SLEEPS, 1, true);
    free(threads);
    return done_testing();
}
