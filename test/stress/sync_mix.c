/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All synchronisation objects and all kinds of callers at once, on 1 to 16 streams, at random. Teams of two ULTs and an
 * external thread do one thing after another and meet at a barrier now and then; servants set the eventuals and futures
 * that they wait for and free at once. What must hold: nobody beside who is alone in a mutex or a write lock, no lost
 * wake-up (the test would hang), values arrive, and all counts agree in the end. ABT_TEST_STREAMS asks for one run with
 * that many streams.
 */
#include <limits.h>

#include "api/common.h"

enum { MAX_ES = 16, MAX_TEAMS = 2 * MAX_ES, TEAM = 3, SERVANTS = 3, MEETING = 16, MUTEXES = 4, CELLS = 8 };

/* --- What they share --- */

struct guarded {
    ABT_mutex mutex;
    int inside; /* mutex */
    long count; /* mutex */
};

struct request {
    struct request *next;
    ABT_eventual eventual; /* or */
    ABT_future future;
    int value;
    int size; /* how much of it fits into the eventual */
};

static struct {
    struct guarded quick[MUTEXES]; /* nobody yields inside: tasklets and spinlock may take them */
    struct guarded slow[MUTEXES];
    struct guarded recursive;
    ABT_rwlock rwlock;
    long cells[CELLS]; /* rwlock: all the same */
    /* A generation that comes and is waited for. */
    ABT_mutex turn_mutex;
    ABT_cond turn_cond;
    long turn;
    /* Requests to the servants. */
    ABT_mutex desk_mutex;
    ABT_cond desk_cond;
    struct request *head, **tail;
    bool closed;
    long placed, served;
    ABT_xstream es[MAX_ES];
    int num_es;
    double end;
} w;

struct team {
    ABT_barrier barrier;
    atomic_int stop_at; /* the meeting after which they go */
    atomic_int met;
};

struct actor {
    struct team *team;
    int number;
    uint32_t random;
    long quick[MUTEXES], slow[MUTEXES], recursive, written, placed; /* what it did */
    ABT_thread ult;
    pthread_t native;
    atomic_bool done;
};

static uint32_t pick(struct actor *a, uint32_t below)
{
    a->random ^= a->random << 13;
    a->random ^= a->random >> 17;
    a->random ^= a->random << 5;
    return (uint32_t)((uint64_t)a->random * below >> 32);
}

static struct timespec in_us(long us)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_nsec += us * 1000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    return ts;
}

/* --- Mutexes --- */

static void be_alone(struct guarded *g, bool yields)
{
    if (g->inside++)
        fail("two inside");
    g->count++;
    if (yields)
        ABT_thread_yield();
    g->inside--;
}

static void use_quick(struct actor *a)
{
    uint32_t i = pick(a, MUTEXES), how = pick(a, 4);
    struct guarded *g = &w.quick[i];

    if (how == 0)
        ABT_mutex_spinlock(g->mutex);
    else
        while (how == 1 ? ABT_mutex_trylock(g->mutex) : ABT_mutex_lock(g->mutex))
            let_others_run();
    be_alone(g, false);
    ABT_mutex_unlock(g->mutex);
    a->quick[i]++;
}

static void use_slow(struct actor *a)
{
    uint32_t i = pick(a, MUTEXES);
    struct guarded *g = &w.slow[i];

    while (pick(a, 4) ? ABT_mutex_lock(g->mutex) : ABT_mutex_trylock(g->mutex))
        let_others_run();
    be_alone(g, pick(a, 2));
    ABT_mutex_unlock(g->mutex);
    a->slow[i]++;
}

static void use_recursive(struct actor *a)
{
    int depth = 1 + (int)pick(a, 3);

    for (int i = 0; i < depth; i++)
        ABT_mutex_lock(w.recursive.mutex);
    be_alone(&w.recursive, pick(a, 2));
    for (int i = 0; i < depth; i++)
        ABT_mutex_unlock(w.recursive.mutex);
    a->recursive++;
}

static void quick_tasklet(void *arg)
{
    struct guarded *g = arg;

    ABT_mutex_lock(g->mutex);
    be_alone(g, false);
    ABT_mutex_unlock(g->mutex);
}

static void use_tasklet(struct actor *a)
{
    uint32_t i = pick(a, MUTEXES);
    ABT_task task;

    must(ABT_task_create_on_xstream(w.es[pick(a, (uint32_t)w.num_es)], quick_tasklet, &w.quick[i], &task));
    must(ABT_task_free(&task));
    a->quick[i]++;
}

/* --- Locks of readers and writers --- */

static void use_rwlock(struct actor *a)
{
    bool write = pick(a, 4) == 0, yields = pick(a, 2);

    if (write) {
        ABT_rwlock_wrlock(w.rwlock);
        for (int i = 0; i < CELLS; i++) {
            w.cells[i]++;
            if (yields && i == CELLS / 2)
                ABT_thread_yield();
        }
        a->written++;
    } else {
        ABT_rwlock_rdlock(w.rwlock);
        long first = w.cells[0];
        if (yields)
            ABT_thread_yield();
        for (int i = 0; i < CELLS; i++) {
            if (w.cells[i] != first)
                fail("a writer beside a reader");
        }
    }
    ABT_rwlock_unlock(w.rwlock);
}

/* --- Condition variables --- */

static void use_cond(struct actor *a)
{
    ABT_mutex_lock(w.turn_mutex);
    if (pick(a, 2)) {
        w.turn++;
        if (pick(a, 2))
            ABT_cond_broadcast(w.turn_cond);
        else
            ABT_cond_signal(w.turn_cond);
    } else {
        struct timespec ts = in_us(pick(a, 1000));
        long turn = w.turn;
        int code = ABT_SUCCESS;
        while (w.turn == turn && code == ABT_SUCCESS)
            code = ABT_cond_timedwait(w.turn_cond, w.turn_mutex, &ts);
        if (code == ABT_SUCCESS ? w.turn == turn : code != ABT_ERR_COND_TIMEDOUT)
            fail("timed wait: %d", code);
    }
    ABT_mutex_unlock(w.turn_mutex);
}

/* --- Requests --- */

static void place(struct actor *a, struct request *r)
{
    r->next = NULL;
    ABT_mutex_lock(w.desk_mutex);
    *w.tail = r;
    w.tail = &r->next;
    w.placed++;
    ABT_mutex_unlock(w.desk_mutex);
    ABT_cond_signal(w.desk_cond);
    a->placed++;
}

static void wait_for_eventual(struct actor *a, ABT_eventual eventual, void **value)
{
    ABT_bool ready = ABT_FALSE;

    switch (pick(a, 3)) {
    case 0: ABT_eventual_wait(eventual, value); break;
    case 1:
        for (struct timespec ts = in_us(200); ABT_eventual_timedwait(eventual, value, &ts); ts = in_us(200))
            ;
        break;
    default:
        for (ABT_eventual_test(eventual, value, &ready); !ready; ABT_eventual_test(eventual, value, &ready))
            let_others_run();
    }
}

static void use_eventual(struct actor *a)
{
    ABT_eventual_memory memory = ABT_EVENTUAL_INITIALIZER;
    struct request r = {.value = (int)pick(a, INT_MAX)};
    bool on_stack = pick(a, 2);
    void *value = NULL;

    if (on_stack) {
        r.eventual = ABT_EVENTUAL_MEMORY_GET_HANDLE(&memory);
    } else {
        r.size = sizeof(int);
        must(ABT_eventual_create(r.size, &r.eventual));
    }
    place(a, &r);
    wait_for_eventual(a, r.eventual, &value);
    if (on_stack) {
        memset(&memory, 0xff, sizeof(memory));
        return;
    }
    if (*(int *)value != r.value)
        fail("wrong value");
    ABT_eventual_free(&r.eventual);
}

/* Negates the value that was set first. */
static void negate_first(void **values)
{
    int *first = values[0];

    *first = -*first;
}

static void use_future(struct actor *a)
{
    struct request r[TEAM];
    ABT_future future;
    int num = 1 + (int)pick(a, TEAM), negative = 0;
    ABT_bool ready = ABT_FALSE;

    must(ABT_future_create((uint32_t)num, negate_first, &future));
    for (int i = 0; i < num; i++) {
        r[i] = (struct request){.future = future, .value = i + 1};
        place(a, &r[i]);
    }
    if (pick(a, 2))
        ABT_future_wait(future);
    else
        for (ABT_future_test(future, &ready); !ready; ABT_future_test(future, &ready))
            let_others_run();
    ABT_future_free(&future);
    for (int i = 0; i < num; i++)
        negative += r[i].value < 0;
    if (negative != 1)
        fail("the callback ran %d times", negative);
}

/* NULL when the desk has closed. */
static struct request *take_request(uint32_t *turn)
{
    struct request *r = NULL;

    ABT_mutex_lock(w.desk_mutex);
    while (!w.head && !w.closed) {
        struct timespec ts = in_us(500);
        if (++*turn % 3)
            ABT_cond_wait(w.desk_cond, w.desk_mutex);
        else
            ABT_cond_timedwait(w.desk_cond, w.desk_mutex, &ts);
    }
    if (w.head) {
        r = w.head;
        w.head = r->next;
        if (!w.head)
            w.tail = &w.head;
        w.served++;
    }
    ABT_mutex_unlock(w.desk_mutex);
    return r;
}

static void serve(void *arg)
{
    uint32_t turn = 0;

    (void)arg;
    for (struct request *r; (r = take_request(&turn));) {
        /* The request is gone once its object is set. */
        if (r->future)
            must(ABT_future_set(r->future, &r->value));
        else
            must(ABT_eventual_set(r->eventual, &r->value, r->size));
    }
}

static void *serve_native(void *arg)
{
    serve(arg);
    return NULL;
}

/* --- Teams --- */

static void act(void *arg)
{
    static void (*const use[])(struct actor *) = {use_quick,  use_slow, use_recursive, use_tasklet,
                                                  use_rwlock, use_cond, use_eventual,  use_future};
    struct actor *a = arg;
    struct team *team = a->team;

    for (int meeting = 0;; meeting++) {
        for (int i = 0; i < MEETING; i++)
            use[pick(a, 8)](a);
        if (a->number == 0 && now() > w.end)
            atomic_store(&team->stop_at, meeting);
        atomic_fetch_add(&team->met, 1);
        ABT_barrier_wait(team->barrier);
        if (atomic_load(&team->met) < TEAM * (meeting + 1))
            fail("too few met");
        if (meeting >= atomic_load(&team->stop_at))
            break;
    }
    atomic_store(&a->done, true);
}

static void *act_native(void *arg)
{
    act(arg);
    return NULL;
}

static void start_team(struct team *team, struct actor *actors, int number)
{
    must(ABT_barrier_create(TEAM, &team->barrier));
    atomic_store(&team->stop_at, INT_MAX);
    atomic_store(&team->met, 0);
    for (int i = 0; i < TEAM; i++) {
        struct actor *a = &actors[i];
        memset(a, 0, sizeof(*a));
        a->team = team;
        a->number = i;
        a->random = (uint32_t)(number * TEAM + i + 1) * 2654435761u;
        if (i == TEAM - 1)
            must(pthread_create(&a->native, NULL, act_native, a));
        else
            must(ABT_thread_create_on_xstream(w.es[(number + i) % w.num_es], act, a, ABT_THREAD_ATTR_NULL, &a->ult));
    }
}

static void finish_team(struct team *team, struct actor *actors)
{
    for (int i = 0; i < TEAM; i++) {
        while (!atomic_load(&actors[i].done))
            let_others_run();
        if (i == TEAM - 1)
            must(pthread_join(actors[i].native, NULL));
        else
            must(ABT_thread_free(&actors[i].ult));
    }
    must(ABT_barrier_free(&team->barrier));
}

/* --- The whole --- */

static void guarded_init(struct guarded *g, ABT_mutex_attr attr)
{
    *g = (struct guarded){.inside = 0};
    must(ABT_mutex_create_with_attr(attr, &g->mutex));
}

static void open_world(int num_es, double seconds)
{
    ABT_mutex_attr attr;

    memset(&w, 0, sizeof(w));
    w.num_es = num_es;
    w.end = now() + seconds;
    w.tail = &w.head;
    for (int i = 0; i < MUTEXES; i++) {
        guarded_init(&w.quick[i], ABT_MUTEX_ATTR_NULL);
        guarded_init(&w.slow[i], ABT_MUTEX_ATTR_NULL);
    }
    must(ABT_mutex_attr_create(&attr));
    must(ABT_mutex_attr_set_recursive(attr, ABT_TRUE));
    guarded_init(&w.recursive, attr);
    must(ABT_mutex_attr_free(&attr));
    must(ABT_rwlock_create(&w.rwlock));
    must(ABT_mutex_create(&w.turn_mutex));
    must(ABT_cond_create(&w.turn_cond));
    must(ABT_mutex_create(&w.desk_mutex));
    must(ABT_cond_create(&w.desk_cond));
    must(ABT_self_get_xstream(&w.es[0]));
    for (int i = 1; i < num_es; i++)
        w.es[i] = new_xstream();
}

static void close_world(void)
{
    for (int i = 1; i < w.num_es; i++)
        must(ABT_xstream_free(&w.es[i]));
    for (int i = 0; i < MUTEXES; i++) {
        must(ABT_mutex_free(&w.quick[i].mutex));
        must(ABT_mutex_free(&w.slow[i].mutex));
    }
    must(ABT_mutex_free(&w.recursive.mutex));
    must(ABT_rwlock_free(&w.rwlock));
    must(ABT_cond_free(&w.turn_cond));
    must(ABT_mutex_free(&w.turn_mutex));
    must(ABT_cond_free(&w.desk_cond));
    must(ABT_mutex_free(&w.desk_mutex));
}

static void check_counts(struct actor *actors, int num)
{
    long quick = 0, slow = 0, recursive = 0, written = 0, placed = 0, all_quick = 0, all_slow = 0;

    for (int i = 0; i < num; i++) {
        for (int j = 0; j < MUTEXES; j++) {
            quick += actors[i].quick[j];
            slow += actors[i].slow[j];
        }
        recursive += actors[i].recursive;
        written += actors[i].written;
        placed += actors[i].placed;
    }
    for (int j = 0; j < MUTEXES; j++) {
        all_quick += w.quick[j].count;
        all_slow += w.slow[j].count;
    }
    is_int(all_quick, quick, "quick mutexes");
    is_int(all_slow, slow, "mutexes with yields inside");
    is_int(w.recursive.count, recursive, "recursive mutex");
    is_int(w.cells[0], written, "writers");
    is_int(w.placed, placed, "requests placed");
    is_int(w.served, placed, "requests served");
}

static void run(int num_es, double seconds)
{
    static struct actor actors[MAX_TEAMS * TEAM];
    static struct team teams[MAX_TEAMS];
    ABT_thread servants[SERVANTS];
    pthread_t native_servant;
    int num_teams = num_es < 4 ? 4 : num_es;

    open_world(num_es, seconds);
    for (int i = 0; i < SERVANTS; i++)
        must(ABT_thread_create_on_xstream(w.es[i % num_es], serve, NULL, ABT_THREAD_ATTR_NULL, &servants[i]));
    must(pthread_create(&native_servant, NULL, serve_native, NULL));
    for (int i = 0; i < num_teams; i++)
        start_team(&teams[i], &actors[i * TEAM], i);
    for (int i = 0; i < num_teams; i++)
        finish_team(&teams[i], &actors[i * TEAM]);
    ABT_mutex_lock(w.desk_mutex);
    w.closed = true;
    ABT_cond_broadcast(w.desk_cond);
    ABT_mutex_unlock(w.desk_mutex);
    for (int i = 0; i < SERVANTS; i++)
        must(ABT_thread_free(&servants[i]));
    must(pthread_join(native_servant, NULL));
    check_counts(actors, num_teams * TEAM);
    pass("%d streams, %d teams, %d meetings of the first", num_es, num_teams, atomic_load(&teams[0].met) / TEAM);
    close_world();
}

int main(void)
{
    const char *text = getenv("ABT_TEST_STREAMS");
    int given = text && *text ? atoi(text) : 0;
    double seconds = tap_seconds(5.0);

    must(ABT_init(0, NULL));
    if (given > 0)
        run(given < MAX_ES ? given : MAX_ES, seconds);
    for (int num_es = 1; num_es <= MAX_ES && given <= 0; num_es *= 2)
        run(num_es, seconds / 5);
    must(ABT_finalize());
    return done_testing();
}
