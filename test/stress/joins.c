/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining at random: ULTs, tasklets and external threads create units in all kinds of pools and join, free, join_many
 * or free_many them. Every unit runs once, and what it wrote is there for who has joined it.
 */
#include "stress.h"

static struct team team;
static atomic_long created, run;
static atomic_bool tasklet_joins; /* a tasklet sleeps in a join: one at a time, or all ESs might */

struct unit {
    int depth;
    int yields;
    long written; /* by the unit, plain: the join must order it */
};

static void work(struct rng *rng, int depth);

static void unit_body(void *arg)
{
    struct unit *unit = arg;
    struct rng rng = rng_fresh();

    jitter(&rng);
    for (int i = 0; i < unit->yields; i++)
        yield_if_ult();
    if (unit->depth > 0)
        work(&rng, unit->depth - 1);
    unit->written = (long)(uintptr_t)unit;
    atomic_fetch_add(&run, 1);
    if (one_in(&rng, 4) && is_by_ult())
        ABT_self_exit();
}

static void unnamed_body(void *arg)
{
    (void)arg;
    atomic_fetch_add(&run, 1);
}

static void create_one(struct rng *rng, struct unit *unit, ABT_thread *thread)
{
    ABT_pool pool = team_pool(&team, rng);
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;

    atomic_fetch_add(&created, 1);
    if (unit->depth == 0 && one_in(rng, 3)) {
        must(ABT_task_create(pool, unit_body, unit, thread));
        return;
    }
    if (one_in(rng, 16)) {
        must(ABT_thread_attr_create(&attr));
        must(ABT_thread_attr_set_stacksize(attr, 65536));
    }
    must(ABT_thread_create(pool, unit_body, unit, attr, thread));
    if (attr != ABT_THREAD_ATTR_NULL)
        must(ABT_thread_attr_free(&attr));
}

static void join_all(struct rng *rng, ABT_thread *threads, int num)
{
    switch (below(rng, 5)) {
    case 0: /* in any order, then free */
        for (int i = 0; i < num; i++)
            must(ABT_thread_join(threads[(i * 7 + 3) % num]));
        must(ABT_thread_free_many(num, threads));
        break;
    case 1:
        must(ABT_thread_join_many(num, threads));
        for (int i = 0; i < num; i++)
            must(ABT_thread_free(&threads[i]));
        break;
    case 2: must(ABT_thread_free_many(num, threads)); break;
    case 3: /* last first: the next in the queue is then another one */
        for (int i = num; i-- > 0;)
            must(ABT_thread_free(&threads[i]));
        break;
    default:
        for (int i = 0; i < num; i++) {
            if (one_in(rng, 2))
                must(ABT_thread_join(threads[i]));
            must(ABT_thread_free(&threads[i]));
        }
    }
}

/* Makes some units and joins them all. */
static void work(struct rng *rng, int depth)
{
    enum { MOST = 12 };
    struct unit units[MOST];
    ABT_thread threads[MOST];
    int num = 1 + (int)below(rng, depth > 0 ? 4 : MOST);

    for (int i = 0; i < num; i++) {
        units[i] = (struct unit){.depth = one_in(rng, 2) ? depth : 0, .yields = (int)below(rng, 4)};
        create_one(rng, &units[i], &threads[i]);
        if (one_in(rng, 5)) {
            atomic_fetch_add(&created, 1);
            must(ABT_thread_create(team_pool(&team, rng), unnamed_body, NULL, ABT_THREAD_ATTR_NULL, NULL));
        }
        jitter(rng);
    }
    join_all(rng, threads, num);
    for (int i = 0; i < num; i++) {
        if (units[i].written != (long)(uintptr_t)&units[i])
            bail_out("a joined unit has not run, or its store was not seen");
        if (threads[i] != ABT_THREAD_NULL)
            bail_out("the handle of a freed unit is left");
    }
}

/* --- Several joiners of one unit --- */

struct target {
    ABT_thread thread;
    struct unit unit;
    atomic_bool external_done;
};

static void join_target(void *arg)
{
    struct target *target = arg;

    must(ABT_thread_join(target->thread));
    if (target->unit.written != (long)(uintptr_t)&target->unit)
        bail_out("one of several joiners came back too early");
}

static void *join_target_external(void *arg)
{
    struct target *target = arg;

    join_target(target);
    atomic_store(&target->external_done, true);
    return NULL;
}

static void many_joiners(struct rng *rng)
{
    enum { MOST = 6 };
    struct target target = {.unit = {.yields = 1 + (int)below(rng, 20)}};
    ABT_thread joiners[MOST];
    pthread_t native;
    int num = 2 + (int)below(rng, MOST - 1);
    bool external = one_in(rng, 4);

    create_one(rng, &target.unit, &target.thread);
    for (int i = 0; i < num; i++)
        must(ABT_thread_create(team_pool(&team, rng), join_target, &target, ABT_THREAD_ATTR_NULL, &joiners[i]));
    if (external)
        must(pthread_create(&native, NULL, join_target_external, &target));
    if (one_in(rng, 2))
        must(ABT_thread_join(target.thread));
    must(ABT_thread_free_many(num, joiners));
    while (external && !atomic_load(&target.external_done))
        ABT_self_yield();
    if (external)
        pthread_join(native, NULL);
    must(ABT_thread_free(&target.thread));
}

/* --- A tasklet that joins sleeps with its ES --- */

static void tasklet_body(void *arg)
{
    join_target(arg);
    atomic_store(&tasklet_joins, false);
}

static void tasklet_joiner(struct rng *rng)
{
    struct target target = {.unit = {.yields = (int)below(rng, 5)}};
    ABT_thread tasklet;

    if (team.layout != SHARED || team.size < 3 || atomic_exchange(&tasklet_joins, true))
        return;
    create_one(rng, &target.unit, &target.thread);
    must(ABT_task_create(team.pools[0], tasklet_body, &target, &tasklet));
    must(ABT_thread_free(&tasklet));
    must(ABT_thread_free(&target.thread));
}

/* --- Rounds --- */

static double round_end;
static atomic_int natives_left;

static void actor(void *arg)
{
    struct rng rng = rng_fresh();

    (void)arg;
    while (now() < round_end) {
        work(&rng, (int)below(&rng, 3));
        if (one_in(&rng, 4))
            many_joiners(&rng);
        if (one_in(&rng, 8))
            tasklet_joiner(&rng);
    }
}

static void *external_actor(void *arg)
{
    struct rng rng = rng_fresh();

    while (now() < round_end)
        work(&rng, (int)below(&rng, 2));
    atomic_fetch_sub(&natives_left, 1);
    return arg;
}

static void play(struct rng *rng, double seconds)
{
    static const int sizes[] = {1, 2, 3, 4, 8, 16};
    int size = sizes[below(rng, 6)];
    enum layout layout = (enum layout)below(rng, NUM_LAYOUTS);
    ABT_sched_predef predef = all_scheds[below(rng, 4)];
    ABT_pool_kind kind = all_kinds[below(rng, 3)];
    ABT_thread actors[MAX_TEAM];
    pthread_t natives[3];
    int num_natives = layout == PRIV ? 0 : (int)below(rng, 4);

    diag("%d ESs, %s, %s over %s, %d external threads", size, layout_names[layout], sched_name(predef), kind_name(kind),
         num_natives);
    atomic_store(&created, 0);
    atomic_store(&run, 0);
    team_begin(&team, size, layout, predef, kind);
    round_end = now() + seconds;
    atomic_store(&natives_left, num_natives);
    for (int i = 0; i < num_natives; i++)
        must(pthread_create(&natives[i], NULL, external_actor, NULL));
    if (layout == PRIV) {
        actor(NULL);
    } else {
        for (int i = 0; i < size; i++)
            must(ABT_thread_create(team.pools[i], actor, NULL, ABT_THREAD_ATTR_NULL, &actors[i]));
        must(ABT_thread_free_many(size, actors));
    }
    while (atomic_load(&natives_left) > 0) /* they need this ES */
        must(ABT_self_yield());
    for (int i = 0; i < num_natives; i++)
        pthread_join(natives[i], NULL);
    team_end(&team);
    is_int(atomic_load(&run), atomic_load(&created), "every unit has run once");
}

int main(void)
{
    stress_begin();
    struct rng rng = rng_make(1);
    double seconds = tap_seconds(3.0), end = now() + seconds;

    while (now() < end)
        play(&rng, seconds / 16);
    return done_testing();
}
