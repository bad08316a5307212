/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Crowds of native threads, with a ULT in each, that are woken all at once by barriers and eventuals. There are more
 * crowds than words for them to sleep on, and each frees its objects as soon as its own wait has returned. Nobody
 * waits for ever (the watchdog says), nobody leaves before all have come.
 */
#include "stress.h"

enum { CROWDS = 80, NATIVES = 2, SIZE = NATIVES + 1, ROUNDS_AT_LEAST = 50 };

struct crowd {
    ABT_barrier come, leave;
    ABT_eventual go;
    atomic_int here; /* of this round */
    int round, early;
    bool last;
};

static struct crowd crowds[CROWDS];
static double end;

static void meet(ABT_barrier barrier)
{
    int code = ABT_barrier_wait(barrier);

    if (code != ABT_SUCCESS)
        bail_out("barrier: %d", code);
}

/* One of a crowd. The first one makes new objects when nobody waits for the old ones any more. */
static void take_part(struct crowd *crowd, bool first, struct rng *rng)
{
    for (bool last = false; !last;) {
        jitter(rng);
        atomic_fetch_add(&crowd->here, 1);
        meet(crowd->come);
        if (first) {
            crowd->early += atomic_load(&crowd->here) != SIZE * (crowd->round + 1);
            crowd->round++;
            crowd->last = crowd->round >= ROUNDS_AT_LEAST && ABT_get_wtime() > end;
            jitter(rng);
            must(ABT_eventual_set(crowd->go, NULL, 0));
        } else {
            must(ABT_eventual_wait(crowd->go, NULL));
        }
        last = crowd->last;
        ABT_barrier leave = crowd->leave;
        if (first) {
            /* Nobody uses `come` any more, and `go` has been set. Who still reads `go` has not come to `leave`. */
            must(ABT_barrier_free(&crowd->come));
            must(ABT_barrier_create(SIZE, &crowd->come));
        }
        meet(leave);
        if (first) {
            /* The others may be at `come` of the next round already, not farther. */
            must(ABT_barrier_free(&crowd->leave));
            must(ABT_barrier_create(SIZE, &crowd->leave));
            must(ABT_eventual_free(&crowd->go));
            must(ABT_eventual_create(0, &crowd->go));
        }
    }
}

static void *native(void *arg)
{
    struct crowd *crowd = arg;
    struct rng rng = rng_fresh();

    take_part(crowd, false, &rng);
    return NULL;
}

static void ult(void *arg)
{
    struct crowd *crowd = arg;
    struct rng rng = rng_fresh();

    take_part(crowd, true, &rng);
}

int main(void)
{
    static pthread_t threads[CROWDS][NATIVES];
    static ABT_thread ults[CROWDS];
    struct team team;
    int early = 0;
    long rounds = 0;

    stress_begin();
    team_begin(&team, 4, SHARED, ABT_SCHED_BASIC, ABT_POOL_FIFO);
    end = ABT_get_wtime() + tap_seconds(2);
    for (int i = 0; i < CROWDS; i++) {
        must(ABT_barrier_create(SIZE, &crowds[i].come));
        must(ABT_barrier_create(SIZE, &crowds[i].leave));
        must(ABT_eventual_create(0, &crowds[i].go));
        must(ABT_thread_create(team.pools[1], ult, &crowds[i], ABT_THREAD_ATTR_NULL, &ults[i]));
        for (int j = 0; j < NATIVES; j++)
            if (pthread_create(&threads[i][j], NULL, native, &crowds[i]))
                bail_out("pthread_create");
    }
    for (int i = 0; i < CROWDS; i++) {
        for (int j = 0; j < NATIVES; j++)
            pthread_join(threads[i][j], NULL);
        must(ABT_thread_free(&ults[i]));
        early += crowds[i].early;
        rounds += crowds[i].round;
        must(ABT_barrier_free(&crowds[i].come));
        must(ABT_barrier_free(&crowds[i].leave));
        must(ABT_eventual_free(&crowds[i].go));
    }
    diag("%ld rounds", rounds);
    is_int(early, 0, "nobody leaves before all have come");
    ok(rounds >= (long)CROWDS * ROUNDS_AT_LEAST, "every crowd meets again and again");
    team_end(&team);
    return done_testing();
}
