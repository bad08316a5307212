/* SPDX-License-Identifier: BSD-3-Clause */
#include "helpers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "fifo.h"
#include "lookup.h"
#include "native.h"
#include "os/os.h"
#include "run.h"
#include "signals.h"

enum {
    IDLE_SECONDS = 5,    /* a helper without work ends after so long */
    REPEAT_NS = 1000000, /* a signal that interrupts a call is sent again so often, in case that it came too early */
    FIFO_NS = 10000000,  /* how often the open of a FIFO is made again */
};

/*
 * A native thread that makes system calls. Each helper is in the list of all from its begin to its end, under the lock,
 * and so is a thread of the program that makes its system call itself, as long as that lasts.
 */
struct helper {
    struct helper *next, *previous;
    abtio_op *op;  /* that it runs */
    pid_t thread;  /* itself, for signals */
    int signal;    /* that it lets in */
    timer_t timer; /* a helper's: interrupts it, at the operation's deadline, or now when that is cancelled */
    bool armed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

/* All under the lock. */
static struct {
    struct helper *all;
    abtio_op *first, **last; /* queued operations */
    unsigned num, num_idle, num_queued;
    unsigned num_others; /* the program's threads in the list */
    unsigned num_at;     /* that are at an operation, of all */
    unsigned max, limit; /* the latter while none gets on */
    uint64_t num_ended;  /* operations that helpers have ended, ever */
    bool watched;        /* there is a watcher */
    bool is_reported;    /* that none gets on and there may be no more */
    bool ending;
} helpers = {.last = &helpers.first};

static void helper_deliver(abtio_op *op, ssize_t result)
{
    abtioi_fifo_drop(op);
    abtioi_op_deliver(op, result);
}

/* ---- The queue; the lock is held ------------------------------------------------------------------------------- */

static void helpers_push(abtio_op *op)
{
    abtioi_assert(abtioi_is_held(&lock) && !*helpers.last && !op->helper);
    op->next = NULL;
    *helpers.last = op;
    helpers.last = &op->next;
    helpers.num_queued++;
}

/* Takes one out of the queue. False: it is not there any more. */
static bool take_out(abtio_op *op)
{
    abtioi_assert(abtioi_is_held(&lock) && !*helpers.last);
    for (abtio_op **at = &helpers.first; *at; at = &(*at)->next) {
        if (*at != op)
            continue;
        *at = op->next;
        if (helpers.last == &op->next)
            helpers.last = at;
        abtioi_assert(!op->helper && helpers.num_queued > 0);
        helpers.num_queued--;
        return true;
    }
    return false;
}

static abtio_op *take_all_out(void)
{
    abtio_op *all = helpers.first;
    abtioi_assert(abtioi_is_held(&lock) && !all == (helpers.num_queued == 0));
    helpers.first = NULL;
    helpers.last = &helpers.first;
    helpers.num_queued = 0;
    return all;
}

/* ---- The timer of a helper; the lock is held ------------------------------------------------------------------- */

static void helpers_arm(struct helper *helper, int64_t at, long every)
{
    struct itimerspec when = {.it_interval.tv_nsec = every,
                              .it_value = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000}};
    abtioi_assert(abtioi_is_held(&lock) && at > 0 && helper->op);
    helper->armed = true;
    timer_settime(helper->timer, TIMER_ABSTIME, &when, NULL);
}

static void helpers_disarm(struct helper *helper)
{
    const struct itimerspec never = {.it_interval.tv_nsec = 0};
    abtioi_assert(abtioi_is_held(&lock));
    if (helper->armed)
        timer_settime(helper->timer, 0, &never, NULL);
    helper->armed = false;
}

static bool make_timer(struct helper *helper)
{
    abtioi_assert(helper->thread > 0);
    return abtioi_os_timer_create(helper->thread, helper->signal, abtioi_signal_mark(), &helper->timer) == 0;
}

/* The calling helper lets in the signal of now. Without a timer for that it goes on with the former. */
static bool renew_timer(struct helper *helper)
{
    timer_t old = helper->timer;
    int before = helper->signal;

    helper->signal = abtioi_signal();
    if (helper->signal == before)
        return true;
    bool made = make_timer(helper);
    if (!made)
        helper->signal = before;
    else if (before)
        timer_delete(old);
    if (made && before)
        abtioi_signal_keep_out(before);
    abtioi_signal_let_in(helper->signal, NULL);
    return made;
}

/* ---- Helpers at work; the lock is held -------------------------------------------------------------------------- */

static void begin_op(struct helper *helper, abtio_op *op)
{
    abtioi_assert(abtioi_is_held(&lock) && !helper->op && !op->helper);
    helper->op = op;
    op->helper = helper;
    helpers.num_at++;
}

/* It has delivered the result, or is about to, or another thread is. */
static void end_op(struct helper *helper)
{
    abtioi_assert(abtioi_is_held(&lock) && helper->op && helper->op->helper == helper && helpers.num_at > 0);
    helper->op->helper = NULL;
    helper->op = NULL;
    helpers.num_at--;
    helpers.num_ended++;
}

static void list_add(struct helper *helper)
{
    abtioi_assert(abtioi_is_held(&lock) && (!helpers.all || !helpers.all->previous));
    helper->thread = (pid_t)syscall(SYS_gettid);
    helper->previous = NULL;
    helper->next = helpers.all;
    if (helpers.all)
        helpers.all->previous = helper;
    helpers.all = helper;
}

static void list_remove(struct helper *helper)
{
    abtioi_assert(!helper->op && (helper->previous ? helper->previous->next : helpers.all) == helper);
    if (helper->next)
        helper->next->previous = helper->previous;
    if (helper->previous)
        helper->previous->next = helper->next;
    else
        helpers.all = helper->next;
}

/* ---- A helper -------------------------------------------------------------------------------------------------- */

/* Waits for an operation. NULL: there is nothing to do any more. The lock is held. */
static abtio_op *next_op(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS;
    int code = 0;
    helpers.num_idle++;
    abtioi_assert(helpers.num_idle <= helpers.num);
    while (!helpers.first && !helpers.ending && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&work, &lock, &until);
    helpers.num_idle--;
    abtio_op *op = helpers.first;
    if (op)
        take_out(op);
    return op;
}

/* The lock is held, and released meanwhile. */
static void serve_lookup(struct helper *helper, abtio_op *op)
{
    struct lookup lookup = {.given = op->args.hints};
    struct addrinfo **result = op->args.result;

    abtioi_assert(op->code == CODE_getaddrinfo);
    if (lookup.given) {
        lookup.hints = *lookup.given;
        lookup.given = &lookup.hints;
    }
    bool copied = lookup_copy(op->args.in, &lookup.node) && lookup_copy(op->args.in2, &lookup.service);
    ssize_t code = abtioi_run_reason(op);
    begin_op(helper, op);
    pthread_mutex_unlock(&lock);
    if (code == 0)
        code = copied ? abtioi_run_lookup(lookup.node, lookup.service, lookup.given, &lookup.list) : -ENOMEM;
    pthread_mutex_lock(&lock);
    bool left = helper->op != op;
    if (!left) {
        end_op(helper);
        *result = lookup.list;
    }
    pthread_mutex_unlock(&lock);
    if (!left)
        helper_deliver(op, code);
    else if (lookup.list)
        freeaddrinfo(lookup.list);
    free(lookup.node);
    free(lookup.service);
    pthread_mutex_lock(&lock);
}

/* Nothing interrupts a user-defined function. The lock is held, and released meanwhile. */
static void serve_function(struct helper *helper, abtio_op *op)
{
    begin_op(helper, op);
    pthread_mutex_unlock(&lock);
    ssize_t result = abtioi_run_reason(op);
    if (result == 0)
        result = abtioi_run_function(op);
    pthread_mutex_lock(&lock);
    end_op(helper);
    pthread_mutex_unlock(&lock);
    helper_deliver(op, result);
    pthread_mutex_lock(&lock);
}

/* The lock is held, and released meanwhile. */
static void helpers_serve(struct helper *helper, abtio_op *op)
{
    (void)renew_timer(helper);
    begin_op(helper, op);
    if (op->deadline != ABTIO_FOREVER)
        helpers_arm(helper, op->deadline, REPEAT_NS);
    else if (fifo_is_kept(op))
        helpers_arm(helper, abtio_after(FIFO_NS), FIFO_NS);
    pthread_mutex_unlock(&lock);
    ssize_t result = abtioi_run(op);
    /* Of many that are asked to end at a time each would be woken again and again while it waits for the lock. */
    bool interrupted = abtioi_run_reason(op) < 0;
    if (interrupted)
        abtioi_signal_keep_out(helper->signal);
    pthread_mutex_lock(&lock);
    abtioi_assert(helper->op == op);
    end_op(helper);
    helpers_disarm(helper);
    pthread_mutex_unlock(&lock);
    if (interrupted)
        abtioi_signal_let_in(helper->signal, NULL);
    helper_deliver(op, result);
    pthread_mutex_lock(&lock);
}

/* The lock is held. There is one helper fewer; the list of operations that nobody is left for. */
static abtio_op *count_down(void)
{
    abtioi_assert(abtioi_is_held(&lock) && helpers.num > 0);
    return --helpers.num > 0 ? NULL : take_all_out();
}

/* Ends all operations of the list with -EAGAIN but `own`, the caller's. Returns whether that was in the list. */
static bool refuse_all(abtio_op *list, abtio_op *own)
{
    bool found = false;
    while (list) {
        abtio_op *op = list;
        list = op->next;
        if (op == own)
            found = true;
        else
            helper_deliver(op, -EAGAIN);
    }
    return found;
}

/* Counted in helpers.num already. One that gets no timer leaves its work to the others. */
static void *helper_main(void *unused)
{
    struct helper self = {.op = NULL};
    abtio_op *op;

    (void)unused;
    pthread_mutex_lock(&lock);
    list_add(&self);
    bool able = renew_timer(&self);
    while (able && (op = next_op())) {
        if (op->code == CODE_getaddrinfo)
            serve_lookup(&self, op);
        else if (op->code == CODE_blocking)
            serve_function(&self, op);
        else
            helpers_serve(&self, op);
    }
    list_remove(&self);
    if (able)
        timer_delete(self.timer);
    op = count_down();
    pthread_mutex_unlock(&lock);
    refuse_all(op, NULL);
    return NULL;
}

/* ---- When none gets on ----------------------------------------------------------------------------------------- */

/*
 * Operations wait, and all helpers are at others, of which there may be no more. That may be a deadlock: what waits may
 * be what would release the others. So a thread, the watcher, polls now and then, as long as operations wait, whether
 * some have ended since; where none has it makes more helpers, up to the limit, and then reports it, once.
 */
enum {
    POLL_NS = 10000000,   /* how often it polls: what ends within that time is progress */
    GROWTH = 8,           /* one helper more for each GROWTH that there are */
    POLLS_TO_REPORT = 200 /* without progress, before it is reported: 2 seconds */
};

static pthread_cond_t watching = PTHREAD_COND_INITIALIZER; /* signalled when libabtio ends */

/* How many operations no idle helper is about to take. The lock is held, here and below. */
static unsigned num_waiting(void)
{
    abtioi_assert(abtioi_is_held(&lock));
    return helpers.num_queued > helpers.num_idle ? helpers.num_queued - helpers.num_idle : 0;
}

static void poll_later(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += POLL_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&watching, &lock, &until);
}

/* The lock is released meanwhile. There are other helpers, so that none made is no harm. False: none could be made. */
static bool helpers_grow(void)
{
    unsigned wanted = num_waiting(), more = helpers.num / GROWTH + 1, room = helpers.limit - helpers.num;
    bool made = true;

    abtioi_assert(helpers.num > 0 && helpers.num <= helpers.limit);
    more = wanted < more ? wanted : more;
    more = room < more ? room : more;
    if (more == 0)
        return false;
    helpers.num += more;
    pthread_mutex_unlock(&lock);
    unsigned missing = more;
    while (missing > 0 && (made = abtioi_native_make_thread(helper_main) == 0))
        missing--;
    pthread_mutex_lock(&lock);
    abtioi_assert(missing <= helpers.num);
    helpers.num -= missing;
    return made;
}

static void report_deadlock(void)
{
    fprintf(stderr,
            "libabtio: %u operations wait for a native thread, and none of the %u that there are has ended one for 2 "
            "seconds; there cannot be more: see max_threads in abtio.h\n",
            num_waiting(), helpers.num);
    helpers.is_reported = true;
}

static void *watcher_main(void *unused)
{
    unsigned polls = 0;

    (void)unused;
    pthread_mutex_lock(&lock);
    abtioi_assert(helpers.watched);
    uint64_t seen = helpers.num_ended;
    while (poll_later(), num_waiting() > 0 && !helpers.ending) {
        bool gets_on = helpers.num_ended != seen || helpers_grow();
        seen = helpers.num_ended;
        polls = gets_on ? 0 : polls + 1;
        if (polls >= POLLS_TO_REPORT && !helpers.is_reported)
            report_deadlock();
    }
    helpers.watched = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- From outside ---------------------------------------------------------------------------------------------- */

/* Without a watcher the operation waits all the same, and the next one asks for one again. */
static void helpers_watch(void)
{
    if (abtioi_native_make_thread(watcher_main) == 0)
        return;
    pthread_mutex_lock(&lock);
    helpers.watched = false;
    pthread_mutex_unlock(&lock);
}

int abtioi_helpers_start(abtio_op *op)
{
    if (op->code == CODE_blocking)
        abtioi_run_keep_mask(op);
    pthread_mutex_lock(&lock);
    helpers_push(op);
    bool waits = num_waiting() > 0, more = waits && helpers.num < helpers.max;
    bool watches = waits && !more && !helpers.watched;
    helpers.watched |= watches;
    if (more)
        helpers.num++;
    else
        pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
    if (watches)
        helpers_watch();
    if (!more || abtioi_native_make_thread(helper_main) == 0)
        return 0;
    /* As long as there are others it waits for one of them. */
    pthread_mutex_lock(&lock);
    abtio_op *left = count_down();
    pthread_mutex_unlock(&lock);
    if (!refuse_all(left, op))
        return 0;
    abtioi_fifo_drop(op);
    return -EAGAIN;
}

ssize_t abtioi_helpers_run(abtio_op *op)
{
    struct helper self = {.op = NULL};
    sigset_t before;
    ssize_t result = -ECANCELED;

    abtioi_assert(op->deadline == ABTIO_FOREVER && !op->shared && !op->channel);
    pthread_mutex_lock(&lock);
    bool begins = !helpers.ending;
    if (begins) {
        helpers.num_others++;
        list_add(&self);
        self.signal = abtioi_signal();
        begin_op(&self, op);
    }
    pthread_mutex_unlock(&lock);
    if (!begins)
        return result;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    if (op->code != CODE_blocking)
        abtioi_signal_let_in(self.signal, NULL);
    result = abtioi_run(op);
    pthread_mutex_lock(&lock);
    end_op(&self);
    list_remove(&self);
    helpers.num_others--;
    pthread_mutex_unlock(&lock);
    if (op->code != CODE_blocking)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

void abtioi_helpers_leave(abtio_op *op, int why)
{
    abtioi_assert(op->code == CODE_getaddrinfo && why < 0);
    pthread_mutex_lock(&lock);
    bool ends = op->helper || take_out(op);
    if (op->helper)
        end_op(op->helper);
    pthread_mutex_unlock(&lock);
    if (ends)
        helper_deliver(op, why);
}

void abtioi_helpers_cancel(abtio_op *op)
{
    if (op->code == CODE_getaddrinfo) {
        abtioi_helpers_leave(op, -ECANCELED);
        return;
    }
    pthread_mutex_lock(&lock);
    bool queued = !op->helper && take_out(op);
    if (op->helper && op->code != CODE_blocking)
        helpers_arm(op->helper, 1, REPEAT_NS);
    pthread_mutex_unlock(&lock);
    if (queued)
        helper_deliver(op, -ECANCELED);
}

int abtioi_helpers_begin(unsigned max_threads, int signal)
{
    enum { MAX = 1024, LIMIT = 16384 }; /* unless the program says how many */
    abtioi_assert(helpers.num == 0 && helpers.num_at == 0 && !helpers.first && !helpers.all);
    helpers.max = max_threads ? max_threads : MAX;
    helpers.limit = max_threads ? max_threads : LIMIT;
    helpers.ending = helpers.is_reported = false;
    return abtioi_signal_begin(signal);
}

/* Tells a thread that its operation is to end, and interrupts its system call. The lock is held. */
static void helpers_hurry(const struct helper *helper)
{
    abtioi_assert(abtioi_is_held(&lock));
    if (!helper->op || helper->op->code == CODE_getaddrinfo || helper->op->code == CODE_blocking)
        return;                                                                  /* those run to their end */
    atomic_store_explicit(&helper->op->ended, -ECANCELED, memory_order_relaxed); /* relaxed: see cancel */
    abtioi_signal_send(helper->signal, helper->thread);
}

/* Cancels all operations. Whether there is still somebody to wait for. */
static bool cancel_all(void)
{
    pthread_mutex_lock(&lock);
    helpers.ending = true;
    abtio_op *list = take_all_out();
    for (struct helper *helper = helpers.all; helper; helper = helper->next)
        helpers_hurry(helper);
    pthread_cond_broadcast(&work);
    pthread_cond_signal(&watching);
    bool left = list || helpers.num > 0 || helpers.num_others > 0 || helpers.watched;
    pthread_mutex_unlock(&lock);
    while (list) {
        abtio_op *op = list;
        list = op->next;
        helper_deliver(op, -ECANCELED);
    }
    return left;
}

/*
 * A signal that has come before the system call that it is to interrupt has come too early, so that there are more
 * rounds. They get rarer: with many threads each needs time to end.
 */
void abtioi_helpers_end(void)
{
    for (int64_t pause_ns = 100000; cancel_all(); pause_ns = pause_ns < 10000000 ? pause_ns * 2 : pause_ns)
        ABTX_self_sleep(pause_ns);
    abtioi_signal_end();
}

uint64_t abtioi_helpers_in_flight(void)
{
    pthread_mutex_lock(&lock);
    uint64_t num = (uint64_t)helpers.num_queued + helpers.num_at;
    pthread_mutex_unlock(&lock);
    return num;
}

unsigned abtioi_helpers_count(void)
{
    pthread_mutex_lock(&lock);
    unsigned num = helpers.num;
    pthread_mutex_unlock(&lock);
    return num;
}

void abtioi_helpers_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

void abtioi_helpers_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

void abtioi_helpers_forget(void)
{
    abtioi_signal_end();
    helpers.all = NULL;
    helpers.first = NULL;
    helpers.last = &helpers.first;
    helpers.num = helpers.num_idle = helpers.num_queued = helpers.num_others = helpers.num_at = 0;
    helpers.watched = helpers.ending = false;
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&work, NULL);
    pthread_cond_init(&watching, NULL);
}
