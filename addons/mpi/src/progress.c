/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "blocks.h"
#include "progress.h"
#include "state.h"

enum {
    PROGRESS_POLLS = 64, /* a ULT that is alone on its stream polls so often before it leaves it: some microseconds */
    PROGRESS_ASKED = 4, /* how many of the oldest questions are asked at each poll; all are at each PROGRESS_EVERY-th */
    PROGRESS_EVERY = 4,
    PROGRESS_PAUSE_NS = 1000,   /* the first pause of an idle stream; each is an eighth longer than the one before, */
    PROGRESS_LONGEST_US = 1000, /* up to this unless ABTMPI_IDLE_US says otherwise */
    PROGRESS_SAMPLE = 7, /* of this number of ULTs that were switched to, one is timed until it or another one waits */
    PROGRESS_SHORT_NS = 20000, /* if that takes longer, */
    PROGRESS_PUSHES = 64,      /* this number is pushed next */
};

/* Of a wait: its ULT polls itself; has left its stream, or is about to; may go on. */
enum { WAIT_POLLS, WAIT_SUSPENDED, WAIT_DONE };

typedef struct {
    abtmpi_wait *first, *last;
} progress_list;

/* Touched in the poll of the driver only. */
static ABTX_driver progress_driver;
static abtmpi_blocks progress_completed, progress_watched = {.is_watched = true};
static progress_list progress_waits, progress_questions;
static progress_list progress_late; /* waits that have ended, but whose ULTs had not left their stacks */
static int progress_unfinished;     /* waits with parts that there was no memory for */
static unsigned progress_polls;
static int64_t progress_longest;

/* Shared. */
static _Atomic(abtmpi_wait *) progress_coming; /* newcomers, the youngest first */
static atomic_int progress_in_flight;          /* waits that touch the engine, or that it still has to wake */
static atomic_bool progress_is_ending;         /* MPI_Finalize is called: all waits end */
static _Atomic(int64_t) progress_pause;        /* the last word to ABTX_driver_set_max_sleep */

/*
 * Of a native thread. A ULT that polls and finds what another one has waited for switches to that, if nothing else is
 * ready: a push would wake another stream of the pool each time, for what this one is about to run. But then no stream
 * polls while the ULT runs, so that those that run for long are pushed.
 */
static _Thread_local struct {
    bool polls;      /* a ULT does, */
    ABT_thread next; /* and this one is the first that may go on */
    int switches;    /* how many of them there were, */
    int64_t since;   /* the last of which that is timed was then, 0: it is not */
    int pushes;      /* how many are to be pushed */
} progress_self __attribute__((tls_model("initial-exec")));

static void list_add(progress_list *list, abtmpi_wait *wait)
{
    wait->next = NULL;
    wait->prev = list->last;
    *(list->last ? &list->last->next : &list->first) = wait;
    list->last = wait;
}

static void list_remove(progress_list *list, abtmpi_wait *wait)
{
    *(wait->prev ? &wait->prev->next : &list->first) = wait->next;
    *(wait->next ? &wait->next->prev : &list->last) = wait->prev;
}

/* Whether the ULT of a wait has left its stack, and may be woken. */
static bool wait_is_suspended(const abtmpi_wait *wait)
{
    ABT_thread_state state;

    return ABT_thread_get_state(wait->thread, &state) == ABT_SUCCESS && state == ABT_THREAD_STATE_BLOCKED;
}

static void progress_wake(ABT_thread thread)
{
    if (!progress_self.polls || progress_self.pushes > 0 || progress_self.next != ABT_THREAD_NULL)
        ABT_thread_resume(thread);
    else
        progress_self.next = thread;
    if (progress_self.polls && progress_self.pushes > 0)
        progress_self.pushes--;
}

/* False: MPI_Finalize has been called, and the ULT must not wait. */
static bool progress_count_up(void)
{
    /*
     * seq_cst: before the loads of progress_pause and of progress_is_ending. progress_rest and abtmpi_progress_end
     * write those before they read how many are in flight.
     */
    atomic_fetch_add_explicit(&progress_in_flight, 1, memory_order_seq_cst);
    return !atomic_load_explicit(&progress_is_ending, memory_order_seq_cst);
}

static void progress_count_down(void)
{
    /* release: pairs with the load in abtmpi_progress_end. A stream that looks for work and reads 0 too late polls once
     * more. */
    int before = atomic_fetch_sub_explicit(&progress_in_flight, 1, memory_order_release);

    assert(before > 0);
    (void)before;
}

/* Lets the ULT of a wait that has ended go on, after which the wait may be gone. False: it cannot now. */
static bool wait_go(abtmpi_wait *wait)
{
    if (wait->begin) {
        if (!wait->begin(wait))
            return false;
        progress_count_down();
        return true;
    }
    if (!wait_is_suspended(wait))
        return false;
    progress_count_down();
    progress_wake(wait->thread);
    return true;
}

/* Those that could not go on when their waits ended. */
static void progress_wake_late(void)
{
    progress_list late = progress_late;

    progress_late = (progress_list){NULL, NULL};
    for (abtmpi_wait *wait = late.first, *next; wait; wait = next) {
        next = wait->next;
        if (!wait_go(wait))
            list_add(&progress_late, wait);
    }
}

/* The ULT goes on. Its memory may be gone when this returns. */
static void wait_end(abtmpi_wait *wait)
{
    for (int i = 0; i < wait->num; i++) {
        if (wait->parts[i].block)
            abtmpi_blocks_drop(&wait->parts[i]);
    }
    if (wait->added < wait->num)
        progress_unfinished--;
    list_remove(wait->ask ? &progress_questions : &progress_waits, wait);
    /* release: pairs with the acquire in progress_poll_here; acquire: with the release in wait_begin. */
    bool polls = atomic_exchange_explicit(&wait->state, WAIT_DONE, memory_order_acq_rel) == WAIT_POLLS;
    if (polls)
        return; /* the ULT counts down when it sees that */
    if (!wait_go(wait))
        list_add(&progress_late, wait);
}

static void part_done(abtmpi_wait *wait, abtmpi_part *part)
{
    assert(wait->left > 0);
    if (--wait->left == 0 || (part->code != MPI_SUCCESS && !wait->begin))
        wait_end(wait);
}

/* Puts the parts of a wait into blocks. Those that there is no memory for are tried again at the next poll. */
static void wait_add(abtmpi_wait *wait)
{
    abtmpi_blocks *blocks = wait->is_watched ? &progress_watched : &progress_completed;

    while (wait->added < wait->num) {
        if (!abtmpi_blocks_add(blocks, &wait->parts[wait->added], wait))
            return;
        wait->added++;
    }
}

static void progress_take(void)
{
    abtmpi_wait *oldest = NULL;

    /* relaxed: a newcomer that is missed is found at the next poll. */
    if (!atomic_load_explicit(&progress_coming, memory_order_relaxed))
        return;
    /* acquire: pairs with the release in progress_hand_in. */
    abtmpi_wait *wait = atomic_exchange_explicit(&progress_coming, NULL, memory_order_acquire);
    for (abtmpi_wait *next; wait; wait = next) {
        next = wait->next;
        wait->next = oldest;
        oldest = wait;
    }
    for (abtmpi_wait *next; oldest; oldest = next) {
        next = oldest->next;
        list_add(oldest->ask ? &progress_questions : &progress_waits, oldest);
        wait_add(oldest);
        if (oldest->added < oldest->num)
            progress_unfinished++;
    }
}

static void progress_retry(void)
{
    for (abtmpi_wait *wait = progress_waits.first; wait && progress_unfinished > 0; wait = wait->next) {
        if (wait->added == wait->num)
            continue;
        wait_add(wait);
        if (wait->added < wait->num)
            return;
        progress_unfinished--;
    }
}

static bool progress_ask(void)
{
    bool found = false;
    int rest = ++progress_polls % PROGRESS_EVERY == 0 ? -1 : PROGRESS_ASKED;

    for (abtmpi_wait *wait = progress_questions.first, *next; wait && rest-- != 0; wait = next) {
        int flag = 0;
        next = wait->next;
        wait->code = wait->ask(wait->arg, &flag);
        if (flag || wait->code != MPI_SUCCESS) {
            found = true;
            wait_end(wait);
        }
    }
    return found;
}

/* The wait ends without a result. */
static void wait_abandon(abtmpi_wait *wait)
{
    ABT_unit_id id = 0;

    wait->code = MPI_ERR_OTHER;
    if (wait->begin) {
        fprintf(stderr, "libabtmpi: MPI_Finalize: %d operations of %s are not done\n", wait->left, wait->call);
        return;
    }
    ABT_thread_get_id(wait->thread, &id);
    fprintf(stderr, "libabtmpi: MPI_Finalize: ULT %" PRIu64 " still waits in %s\n", (uint64_t)id, wait->call);
}

static void progress_abandon(progress_list *list)
{
    while (list->first) {
        abtmpi_wait *wait = list->first;
        wait_abandon(wait);
        wait_end(wait);
    }
}

static bool progress_poll_once(void)
{
    abtmpi_poll_begin();
    progress_take();
    progress_wake_late();
    if (progress_unfinished > 0)
        progress_retry();
    /* relaxed: the caller of MPI_Finalize polls. */
    if (atomic_load_explicit(&progress_is_ending, memory_order_relaxed)) {
        progress_abandon(&progress_waits);
        progress_abandon(&progress_questions);
    }
    bool found = abtmpi_blocks_poll(&progress_completed, part_done);
    found |= abtmpi_blocks_poll(&progress_watched, part_done);
    found |= progress_ask();
    abtmpi_poll_end();
    return found || progress_late.first;
}

static void progress_set_pause(int64_t pause)
{
    /* seq_cst: before the load of progress_in_flight in progress_rest; the other side is progress_hand_in. */
    atomic_store_explicit(&progress_pause, pause, memory_order_seq_cst);
    ABTX_driver_set_max_sleep(progress_driver, pause);
}

/* The stream is about to sleep: for longer each time, and for as long as it likes if nothing is in flight. */
static void progress_rest(bool found)
{
    /* relaxed: all writers mean well, and a wrong word lasts until the next pause. */
    int64_t pause = atomic_load_explicit(&progress_pause, memory_order_relaxed);

    /* seq_cst: as below, whose other side is progress_hand_in. */
    if (atomic_load_explicit(&progress_in_flight, memory_order_seq_cst) == 0) {
        if (pause == ABTX_FOREVER)
            return;
        progress_set_pause(ABTX_FOREVER);
        /* seq_cst: after the store in progress_set_pause. A ULT that has come since may have set its pause before. */
        if (atomic_load_explicit(&progress_in_flight, memory_order_seq_cst) != 0)
            progress_set_pause(PROGRESS_PAUSE_NS);
        return;
    }
    int64_t longer = found || pause == ABTX_FOREVER ? PROGRESS_PAUSE_NS : pause + pause / 8;
    if (longer > progress_longest)
        longer = progress_longest;
    if (longer != pause)
        progress_set_pause(longer);
}

/* Linux rounds pauses up to 50 microseconds more for a thread that has not asked for better ones. */
static void progress_make_pauses_exact(void)
{
    static _Thread_local bool is_exact __attribute__((tls_model("initial-exec")));

    if (!is_exact)
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    is_exact = true;
}

static int progress_start(void *arg, void **data)
{
    (void)arg;
    (void)data;
    progress_make_pauses_exact();
    return ABT_SUCCESS;
}

static ABT_bool progress_poll(void *data, ABT_bool about_to_sleep)
{
    (void)data;
    /* relaxed: before a sleep progress_rest polls anew. */
    bool found = atomic_load_explicit(&progress_in_flight, memory_order_relaxed) > 0 && progress_poll_once();
    if (about_to_sleep) {
        progress_make_pauses_exact();
        progress_rest(found);
    }
    return found ? ABT_TRUE : ABT_FALSE;
}

bool abtmpi_progress_begin(void)
{
    const ABTX_driver_ops ops = {
        .start = progress_start, .poll = progress_poll, .one_leader = ABT_TRUE, .any_thread = ABT_TRUE};
    const char *idle = getenv("ABTMPI_IDLE_US");

    long longest = idle ? strtol(idle, NULL, 10) : PROGRESS_LONGEST_US;
    if (longest < 1 || longest > 1000000) {
        fprintf(stderr, "libabtmpi: ABTMPI_IDLE_US: %s is not between 1 and 1000000\n", idle);
        longest = PROGRESS_LONGEST_US;
    }
    progress_longest = longest * 1000;
    atomic_init(&progress_pause, ABTX_FOREVER);
    if (ABTX_driver_create(&ops, NULL, &progress_driver) != ABT_SUCCESS) {
        fprintf(stderr, "libabtmpi: there can be no driver: calls of MPI block streams\n");
        return false;
    }
    if (ABTX_driver_attach_all(progress_driver) != ABT_SUCCESS) {
        fprintf(stderr, "libabtmpi: the driver cannot be attached: calls of MPI block streams\n");
        ABTX_driver_free(&progress_driver);
        return false;
    }
    return true;
}

/* Those that have handed in nothing yet when this begins see progress_is_ending, and wait for nothing. */
void abtmpi_progress_end(void)
{
    ABT_bool found;

    /*
     * seq_cst: before the load of progress_in_flight; the other side is progress_count_up. The load is also an acquire
     * that pairs with the release in progress_count_down: nobody touches the driver any more.
     */
    atomic_store_explicit(&progress_is_ending, true, memory_order_seq_cst);
    while (atomic_load_explicit(&progress_in_flight, memory_order_seq_cst) > 0 && ABT_initialized() == ABT_SUCCESS) {
        ABTX_driver_look(progress_driver, &found); /* an external thread may not: the streams poll */
        ABTX_self_sleep(PROGRESS_PAUSE_NS);
    }
    ABTX_driver_free(&progress_driver);
}

int64_t abtmpi_progress_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
}

/* How long has the ULT run that was switched to? */
static void progress_time(void)
{
    if (progress_self.since != 0 && abtmpi_progress_now() - progress_self.since > PROGRESS_SHORT_NS)
        progress_self.pushes = PROGRESS_PUSHES;
    progress_self.since = 0;
}

/* Whether the caller may switch to the ULT: nothing else is ready, and both are of one pool. */
static bool progress_may_switch(ABT_thread thread)
{
    ABT_thread self;
    ABT_pool pool, own;
    ABT_bool alone = ABT_FALSE;

    ABTX_self_is_alone(&alone);
    ABT_thread_get_last_pool(thread, &pool);
    ABT_self_get_thread(&self);
    ABT_thread_get_last_pool(self, &own);
    return alone && pool == own;
}

/* Whether the caller is to be suspended: nothing has ended its wait yet. */
static bool wait_begin(abtmpi_wait *wait)
{
    int state = WAIT_POLLS;

    /* acquire: pairs with the release in wait_end; release: with the acquire there. */
    wait->has_left = atomic_compare_exchange_strong_explicit(&wait->state, &state, WAIT_SUSPENDED, memory_order_acq_rel,
                                                             memory_order_acquire);
    return wait->has_left;
}

/* Goes on with what the caller's poll has found, and returns when its own wait has ended. */
static void progress_switch(abtmpi_wait *wait, ABT_thread next)
{
    if (!progress_may_switch(next) || !wait_begin(wait)) {
        ABT_thread_resume(next);
        return;
    }
    if (progress_self.switches++ % PROGRESS_SAMPLE == 0)
        progress_self.since = abtmpi_progress_now();
    if (ABT_self_resume_suspend_to(next) != ABT_SUCCESS) {
        ABT_thread_resume(next);
        ABT_self_suspend();
    }
}

/* One poll in the place of the scheduler. Whether the caller's wait has ended. */
static bool progress_poll_here(abtmpi_wait *wait)
{
    ABT_bool found;

    progress_self.polls = true;
    ABTX_driver_look(progress_driver, &found);
    ABT_thread next = progress_self.next;
    progress_self.polls = false;
    progress_self.next = ABT_THREAD_NULL;
    if (next != ABT_THREAD_NULL)
        progress_switch(wait, next);
    /* acquire: pairs with the release in wait_end. */
    return atomic_load_explicit(&wait->state, memory_order_acquire) == WAIT_DONE;
}

/*
 * A ULT that is alone need not leave its stream; for others one poll has to do, since a stream that is busy polls only
 * now and then. Whether the wait has ended.
 */
static bool progress_poll_alone(abtmpi_wait *wait)
{
    ABT_bool alone = ABT_TRUE;

    for (int i = 0; i < PROGRESS_POLLS && alone; i++) {
        if (progress_poll_here(wait))
            return true;
        ABTX_self_is_alone(&alone);
    }
    return false;
}

/* Whether the caller is the scheduler of its stream, which has no pool, and for which nobody there could poll. */
static bool progress_is_scheduler(const abtmpi_wait *wait)
{
    ABT_pool pool = ABT_POOL_NULL;

    ABT_thread_get_last_pool(wait->thread, &pool);
    return pool == ABT_POOL_NULL;
}

/* Gives the wait to the engine. False: MPI_Finalize has been called. */
static bool progress_hand_in(abtmpi_wait *wait)
{
    assert(wait->ask ? wait->num == 0 : wait->left > 0 && wait->left <= wait->num);
    if (!progress_count_up()) {
        progress_count_down();
        return false;
    }
    /* relaxed: the exchange checks it. */
    abtmpi_wait *head = atomic_load_explicit(&progress_coming, memory_order_relaxed);
    do {
        wait->next = head;
        /* release: pairs with the acquire in progress_take; relaxed: nothing is read through what is found instead. */
    } while (!atomic_compare_exchange_weak_explicit(&progress_coming, &head, wait, memory_order_release,
                                                    memory_order_relaxed));
    /* seq_cst: after the addition in progress_count_up. */
    if (atomic_load_explicit(&progress_pause, memory_order_seq_cst) > PROGRESS_PAUSE_NS)
        progress_set_pause(PROGRESS_PAUSE_NS);
    return true;
}

bool abtmpi_progress_hand_in(abtmpi_wait *wait)
{
    atomic_init(&wait->state, WAIT_SUSPENDED);
    return progress_hand_in(wait);
}

void abtmpi_progress_wait(abtmpi_wait *wait)
{
    progress_time();
    ABT_self_get_thread(&wait->thread);
    if (!progress_hand_in(wait)) {
        wait_abandon(wait);
        return;
    }
    bool is_done = progress_poll_alone(wait);
    while (!is_done && progress_is_scheduler(wait)) {
        ABTX_self_sleep(PROGRESS_PAUSE_NS);
        is_done = progress_poll_here(wait);
    }
    /* A thread that ends the wait after that wakes the ULT. */
    if (!is_done && wait_begin(wait))
        ABT_self_suspend();
    if (!wait->has_left)
        progress_count_down();
}
