/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message-passing library in the style of Open MPI 5. Its layer for threads has locks that nobody initialises, some
 * of them recursive, in static memory and in objects that are copied; it initialises libabt only if nobody has. On it
 * stand requests. Of those who wait for one, the first makes progress for all, and the others sleep until theirs is
 * complete or it is their turn to make progress.
 */
#include <sched.h>

#include "client.h"

enum { RANKS = 12, EXTERNALS = 2, ULTS = RANKS - EXTERNALS, ROUNDS = 30 };

/* ---- The layer --------------------------------------------------------------------------------------------------- */

struct layer_mutex {
    ABT_mutex_memory memory;
};

#define LAYER_MUTEX                                                                                                    \
    {                                                                                                                  \
        ABT_MUTEX_INITIALIZER                                                                                          \
    }
#define LAYER_RECURSIVE_MUTEX                                                                                          \
    {                                                                                                                  \
        ABT_RECURSIVE_MUTEX_INITIALIZER                                                                                \
    }

static bool is_ours; /* the layer has initialised libabt */
static ABT_key local_key;
static atomic_int locals_made, locals_freed;

static ABT_mutex handle_of(struct layer_mutex *m)
{
    return ABT_MUTEX_MEMORY_GET_HANDLE(&m->memory);
}

static void lock(struct layer_mutex *m)
{
    must(ABT_mutex_lock(handle_of(m)));
}

static void unlock(struct layer_mutex *m)
{
    must(ABT_mutex_unlock(handle_of(m)));
}

static bool try_lock(struct layer_mutex *m)
{
    int code = ABT_mutex_trylock(handle_of(m));

    if (code != ABT_ERR_MUTEX_LOCKED)
        must(code);
    return code == ABT_SUCCESS;
}

static bool is_same(ABT_thread one, ABT_thread other)
{
    ABT_bool same;

    must(ABT_thread_equal(one, other, &same));
    return same == ABT_TRUE;
}

/* The null handle stands for external threads. */
static ABT_thread own_thread(void)
{
    ABT_thread self = ABT_THREAD_NULL;

    if (ABT_self_get_thread(&self) != ABT_SUCCESS && self != ABT_THREAD_NULL)
        bail_out("a handle without success");
    return self;
}

static void let_others_run(void)
{
    if (is_same(own_thread(), ABT_THREAD_NULL))
        sched_yield();
    else
        must(ABT_self_yield());
}

static void free_local(void *local)
{
    free(local);
    atomic_fetch_add(&locals_freed, 1);
}

static void layer_begin(void)
{
    is_ours = ABT_initialized() != ABT_SUCCESS;
    if (is_ours)
        must(ABT_init(0, NULL));
    must(ABT_key_create(free_local, &local_key));
}

static void layer_end(void)
{
    must(ABT_key_free(&local_key));
    if (is_ours)
        must(ABT_finalize());
}

/* How often a ULT has called. */
static long count_call(void)
{
    long *calls = NULL;

    must(ABT_key_get(local_key, (void **)&calls));
    if (!calls) {
        calls = calloc(1, sizeof(*calls));
        atomic_fetch_add(&locals_made, 1);
        must(ABT_key_set(local_key, calls));
    }
    return ++*calls;
}

/* ---- Those who wait ---------------------------------------------------------------------------------------------- */

/* Copied from a pattern. The lock of `waiters` is taken before that of one of them. */
struct waiter {
    struct layer_mutex mutex;
    ABT_cond cond;
    bool is_served, leads;
    struct waiter *next;
};

static const struct waiter waiter_pattern = {.mutex = LAYER_MUTEX};

static struct {
    struct layer_mutex mutex;
    struct waiter *first; /* who makes progress */
} waiters = {LAYER_MUTEX, NULL};

struct request {
    int to, from, tag;
    long value;
    bool is_complete;      /* below the lock of `waiters`, as what follows */
    struct waiter *waiter; /* NULL: nobody waits yet */
    struct request *next;
};

static void serve(struct waiter *w, bool leads)
{
    lock(&w->mutex);
    if (leads)
        w->leads = true;
    else
        w->is_served = true;
    must(ABT_cond_signal(w->cond));
    unlock(&w->mutex);
}

static void complete(struct request *r)
{
    lock(&waiters.mutex);
    r->is_complete = true;
    if (r->waiter)
        serve(r->waiter, false);
    unlock(&waiters.mutex);
}

/* Whether there is anything to wait for. */
static bool begin_wait(struct request *r, struct waiter *w)
{
    struct waiter **last = &waiters.first;

    lock(&waiters.mutex);
    bool waits = !r->is_complete;
    if (waits) {
        while (*last)
            last = &(*last)->next;
        *last = w;
        w->leads = waiters.first == w;
        r->waiter = w;
    }
    unlock(&waiters.mutex);
    return waits;
}

static void end_wait(struct waiter *w)
{
    struct waiter **link = &waiters.first;

    lock(&waiters.mutex);
    bool led = *link == w;
    while (*link != w)
        link = &(*link)->next;
    *link = w->next;
    if (led && waiters.first)
        serve(waiters.first, true);
    unlock(&waiters.mutex);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static struct layer_mutex wire_mutex = LAYER_MUTEX, progress_mutex = LAYER_MUTEX, match_mutex = LAYER_RECURSIVE_MUTEX;
static struct request *on_wire, *arrived, *posted; /* messages are requests, too */

static void append(struct request **list, struct request *r)
{
    while (*list)
        list = &(*list)->next;
    r->next = NULL;
    *list = r;
}

/* Takes the first one that fits out of a list. */
static struct request *match(struct request **list, const struct request *r)
{
    lock(&match_mutex); /* the caller has it, too */
    while (*list && ((*list)->to != r->to || (*list)->from != r->from || (*list)->tag != r->tag))
        list = &(*list)->next;
    struct request *found = *list;
    if (found)
        *list = found->next;
    unlock(&match_mutex);
    return found;
}

static void deliver(struct request *message, struct request *receive)
{
    receive->value = message->value;
    free(message);
    complete(receive);
}

static void send(int from, int to, int tag, long value)
{
    struct request *message = calloc(1, sizeof(*message));

    *message = (struct request){.to = to, .from = from, .tag = tag, .value = value};
    must(ABT_mutex_lock_low(handle_of(&wire_mutex)));
    append(&on_wire, message);
    must(ABT_mutex_unlock_se(handle_of(&wire_mutex)));
}

static void post(struct request *receive)
{
    lock(&match_mutex);
    struct request *message = match(&arrived, receive);
    if (!message)
        append(&posted, receive);
    unlock(&match_mutex);
    if (message)
        deliver(message, receive);
}

static void make_progress(void)
{
    struct request *message, *receive;

    if (!try_lock(&progress_mutex))
        return;
    must(ABT_mutex_lock_high(handle_of(&wire_mutex)));
    struct request *all = on_wire;
    on_wire = NULL;
    unlock(&wire_mutex);
    while ((message = all) != NULL) {
        all = message->next;
        lock(&match_mutex);
        receive = match(&posted, message);
        if (!receive)
            append(&arrived, message);
        unlock(&match_mutex);
        if (receive)
            deliver(message, receive);
    }
    unlock(&progress_mutex);
}

static long receive(int to, int from, int tag)
{
    struct request r = {.to = to, .from = from, .tag = tag};
    struct waiter w = waiter_pattern;

    must(ABT_cond_create(&w.cond));
    post(&r);
    if (begin_wait(&r, &w)) {
        lock(&w.mutex);
        while (!w.is_served && !w.leads)
            must(ABT_cond_wait(w.cond, handle_of(&w.mutex)));
        while (!w.is_served) {
            unlock(&w.mutex);
            make_progress();
            let_others_run();
            lock(&w.mutex);
        }
        unlock(&w.mutex);
        end_wait(&w);
    }
    must(ABT_cond_free(&w.cond));
    return r.value;
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static atomic_int wrong;
static ABT_thread own_handles[RANKS];

static void run_rank(void *arg)
{
    int me = (int)(intptr_t)arg, right = (me + 1) % RANKS, left = (me + RANKS - 1) % RANKS;
    long token = me;

    own_handles[me] = own_thread();
    for (int i = 0; i < ROUNDS; i++) {
        send(me, right, i % 3, token);
        token = receive(me, left, i % 3);
        atomic_fetch_add(&wrong, token != (me + (long)RANKS * ROUNDS - 1 - i) % RANKS);
        if (me < ULTS)
            atomic_fetch_add(&wrong, count_call() != i + 1);
    }
    atomic_fetch_add(&wrong, !is_same(own_handles[me], own_thread()));
}

static void *run_native_rank(void *arg)
{
    run_rank(arg);
    return NULL;
}

static void run_ranks(void)
{
    ABT_xstream xstreams[MAX_STREAMS];
    ABT_pool pool;
    ABT_thread ults[ULTS];
    pthread_t natives[EXTERNALS];
    int num = client_streams(), same = 0;

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    for (int i = 0; i < num; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstreams[i]));
    for (int i = 0; i < RANKS; i++) {
        void *arg = (void *)(intptr_t)i;
        if (i < ULTS)
            must(ABT_thread_create(pool, run_rank, arg, ABT_THREAD_ATTR_NULL, &ults[i]));
        else
            must(pthread_create(&natives[i - ULTS], NULL, run_native_rank, arg));
    }
    for (int i = 0; i < EXTERNALS; i++)
        pthread_join(natives[i], NULL);
    for (int i = 0; i < ULTS; i++)
        must(ABT_thread_join(ults[i]));
    for (int i = 0; i < RANKS; i++) {
        for (int k = 0; k < ULTS; k++)
            same += is_same(own_handles[i], ults[k]);
    }
    for (int i = 0; i < ULTS; i++)
        must(ABT_thread_free(&ults[i]));
    for (int i = 0; i < num; i++)
        must(ABT_xstream_free(&xstreams[i]));
    must(ABT_pool_free(&pool));
    is_int(atomic_load(&wrong), 0, "every message arrives, and thread-locals stay with their threads");
    is_int(same, ULTS, "each ULT has a handle of its own, and external threads have none");
    is_int(atomic_load(&locals_freed), atomic_load(&locals_made),
           "the thread-locals have been freed with their threads");
    ok(!waiters.first && !on_wire && !arrived && !posted, "nothing is left");
}

/* Also before libabt is initialised, and when it is no more. */
static void use_locks(const char *when)
{
    static struct layer_mutex plain = LAYER_MUTEX, recursive = LAYER_RECURSIVE_MUTEX;
    struct layer_mutex copy = plain;

    lock(&plain);
    lock(&recursive);
    lock(&recursive);
    bool all = !try_lock(&plain) && try_lock(&recursive) && try_lock(&copy);
    for (int i = 0; i < 3; i++)
        unlock(&recursive);
    unlock(&copy);
    unlock(&plain);
    ok(all, "locks without initialisation %s", when);
}

int main(void)
{
    client_begin();
    need_checks(); /* external threads ask who they are */
    use_locks("before libabt is initialised");
    is_int(ABT_initialized(), ABT_ERR_UNINITIALIZED, "it is not");
    for (int app_is_first = 0; app_is_first < 2; app_is_first++) {
        if (app_is_first)
            must(ABT_init(0, NULL));
        layer_begin();
        ok(is_ours == !app_is_first, "the layer initialises libabt if nobody has");
        use_locks("while it is");
        run_ranks();
        layer_end();
        is_int(ABT_initialized(), app_is_first ? ABT_SUCCESS : ABT_ERR_UNINITIALIZED, "it ends what it has begun");
        if (app_is_first)
            must(ABT_finalize());
    }
    use_locks("when it has been finalized");
    return done_testing();
}
