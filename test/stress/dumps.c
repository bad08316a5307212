/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that prints, called again and again by a native thread while streams run, units come and go, wait and run
 * in place. Most of the work is a sanitizer's; the text is only seen to be whole.
 */
#include <pthread.h>
#include "stress.h"

enum { STREAMS = 3, KEEPERS = 6, SHORT = 8, LAYOUTS = 3 };

static struct team team;
static double end; /* of a round */
static atomic_bool stop, asking;
static atomic_int dumps, units;
static ABT_thread keepers[KEEPERS];
static ABT_key key;

static void count_dump(ABT_bool timed_out, void *arg)
{
    (void)timed_out, (void)arg;
    atomic_fetch_add(&dumps, 1);
}

static void short_one(void *arg)
{
    if (atomic_fetch_add(&units, 1) % 3 == 0)
        must(ABT_self_yield());
}

/* Lives until the end: makes others, joins them, which run in place or not, sleeps. */
static void keep(void *arg)
{
    struct rng rng = rng_make((uint64_t)(uintptr_t)arg);
    while (!atomic_load(&stop)) {
        ABT_thread shorts[SHORT];
        ABT_pool pool;
        must(ABT_self_get_last_pool(&pool));
        for (int i = 0; i < SHORT; i++)
            must(ABT_thread_create(pool, short_one, NULL, ABT_THREAD_ATTR_NULL, &shorts[i]));
        must(ABT_self_set_specific(key, arg));
        if (one_in(&rng, 2))
            must(ABT_self_yield());
        must(ABT_thread_free_many(SHORT, shorts));
        /* The primary ULT is behind them on its stream: where their pool is never empty they make room for it. */
        if (now() > end)
            must(ABTX_self_sleep(20000000));
        else if (one_in(&rng, 4))
            must(ABTX_self_sleep(100000));
    }
}

/* Lines end where they are to. */
static bool is_whole(const char *text, size_t size)
{
    return size > 0 && text[size - 1] == '\n' && strlen(text) == size;
}

static void *print_all(void *arg)
{
    int *wrong = arg;
    for (int round = 0; !atomic_load(&stop); round++) {
        char *text = NULL;
        size_t size = 0;
        FILE *fp = open_memstream(&text, &size);
        must(ABT_info_print_config(fp));
        must(ABT_info_print_all_xstreams(fp));
        for (int i = 0; i < STREAMS; i++) {
            ABT_sched sched;
            must(ABT_info_print_xstream(fp, team.xstreams[i]));
            must(ABT_xstream_get_main_sched(team.xstreams[i], &sched));
            must(ABT_info_print_sched(fp, sched));
            must(ABT_info_print_pool(fp, team.pools[i]));
            if (team.layout != PRIV)
                must(ABT_info_print_thread_stacks_in_pool(fp, team.pools[i]));
        }
        for (int i = 0; i < KEEPERS; i++)
            must(ABT_info_print_thread(fp, keepers[i]));
        fclose(fp);
        *wrong += !is_whole(text, size);
        free(text);
        nap_us(round % 8 * 50);
    }
    return NULL;
}

/* The next one as soon as the callback has been called, while the streams still stand: it is not dropped. */
static void *ask(void *arg)
{
    FILE *nowhere = arg;
    struct rng rng = rng_make(0);

    for (int asked = 0; !atomic_load(&stop); asked++) {
        must(ABT_info_trigger_print_all_thread_stacks(nowhere, one_in(&rng, 2) ? -1.0 : 0.0001, count_dump, NULL));
        while (atomic_load(&dumps) == asked)
            sched_yield();
    }
    atomic_store(&asking, false);
    return NULL;
}

static void play(enum layout layout, double seconds)
{
    FILE *nowhere = fopen("/dev/null", "w");
    pthread_t natives[2];
    int wrong = 0;

    if (!nowhere)
        skip_all("no /dev/null");
    team_begin(&team, STREAMS, layout, ABT_SCHED_BASIC, ABT_POOL_FIFO);
    end = now() + seconds;
    must(ABT_key_create(NULL, &key));
    atomic_store(&stop, false);
    atomic_store(&asking, true);
    atomic_store(&dumps, 0);
    atomic_store(&units, 0);
    for (int i = 0; i < KEEPERS; i++)
        must(ABT_thread_create(team.pools[layout == PRIV ? 0 : i % STREAMS], keep, (void *)(uintptr_t)(i + 1),
                               ABT_THREAD_ATTR_NULL, &keepers[i]));
    must(pthread_create(&natives[0], NULL, print_all, &wrong));
    must(pthread_create(&natives[1], NULL, ask, nowhere));
    while (now() < end || atomic_load(&dumps) < 2)
        must(ABT_self_yield());
    atomic_store(&stop, true);
    while (atomic_load(&asking)) /* the last dump needs all streams */
        must(ABT_self_yield());
    for (int i = 0; i < 2; i++)
        must(pthread_join(natives[i], NULL));
    must(ABT_thread_free_many(KEEPERS, keepers));
    must(ABT_key_free(&key));
    team_end(&team);
    fclose(nowhere);
    is_int(wrong, 0, "%s: all that is printed is whole, %d units and %d dumps meanwhile", layout_names[layout],
           atomic_load(&units), atomic_load(&dumps));
}

int main(void)
{
    static const enum layout layouts[LAYOUTS] = {SHARED, OWN, PRIV};
    stress_begin();
    for (int i = 0; i < LAYOUTS; i++)
        play(layouts[i], tap_seconds(1.5) / LAYOUTS);
    return done_testing();
}
