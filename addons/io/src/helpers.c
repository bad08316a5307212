#include "helpers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "run.h"
#include "signals.h"

enum {
    IDLE_SECONDS = 5,    /* a helper without work ends after so long */
    REPEAT_NS = 1000000, /* a signal that interrupts a call is sent again so often, in case that it came too early */
};

/* Each is in the list of all from its begin to its end, under the lock. */
struct helper {
    struct helper *next, *previous;
    abtio_op *op;  /* that it runs */
    timer_t timer; /* interrupts it: at the operation's deadline, or now when it is to end */
    bool armed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

/* All under the lock. */
static struct {
    struct helper *all;
    abtio_op *first, **last; /* queued operations */
    unsigned num, num_idle, num_queued, max;
    bool ending;
} helpers = {.last = &helpers.first};

/* ---- The queue; the lock is held ------------------------------------------------------------------------------- */

static void push(abtio_op *op)
{
    op->next = NULL;
    *helpers.last = op;
    helpers.last = &op->next;
    helpers.num_queued++;
}

/* Takes one out of the queue. False: it is not there any more. */
static bool take_out(abtio_op *op)
{
    for (abtio_op **at = &helpers.first; *at; at = &(*at)->next) {
        if (*at != op)
            continue;
        *at = op->next;
        if (helpers.last == &op->next)
            helpers.last = at;
        helpers.num_queued--;
        return true;
    }
    return false;
}

/* ---- The timer of a helper; the lock is held, but for the deadline's ------------------------------------------- */

static void arm(struct helper *helper, int64_t at)
{
    struct itimerspec when = {.it_interval.tv_nsec = REPEAT_NS,
                              .it_value = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000}};
    helper->armed = true;
    timer_settime(helper->timer, TIMER_ABSTIME, &when, NULL);
}

static void disarm(struct helper *helper)
{
    const struct itimerspec never = {.it_interval.tv_nsec = 0};
    if (helper->armed)
        timer_settime(helper->timer, 0, &never, NULL);
    helper->armed = false;
}

static bool make_timer(struct helper *helper)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = abtioi_signal()};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    return timer_create(CLOCK_MONOTONIC, &event, &helper->timer) == 0;
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
    while (!helpers.first && !helpers.ending && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&work, &lock, &until);
    helpers.num_idle--;
    abtio_op *op = helpers.first;
    if (op)
        take_out(op);
    return op;
}

/* A look-up of names cannot be interrupted. So it has copies of all, which whoever ends the operation leaves to it. */
struct lookup {
    char *node, *service;
    struct addrinfo hints, *list;
    const struct addrinfo *given;
};

static bool copy(const char *from, char **to)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

/* The lock is held, and released meanwhile. */
static void serve_lookup(struct helper *helper, abtio_op *op)
{
    struct lookup lookup = {.given = op->args.hints};
    struct addrinfo **result = op->args.result;

    if (lookup.given) {
        lookup.hints = *lookup.given;
        lookup.given = &lookup.hints;
    }
    bool copied = copy(op->args.in, &lookup.node) && copy(op->args.in2, &lookup.service);
    ssize_t code = abtioi_run_reason(op);
    helper->op = op;
    op->helper = helper;
    pthread_mutex_unlock(&lock);
    if (code == 0)
        code = copied ? abtioi_run_lookup(lookup.node, lookup.service, lookup.given, &lookup.list) : -ENOMEM;
    pthread_mutex_lock(&lock);
    bool left = helper->op != op;
    if (!left) {
        op->helper = NULL;
        *result = lookup.list;
    }
    helper->op = NULL;
    pthread_mutex_unlock(&lock);
    if (!left)
        abtioi_op_deliver(op, code);
    else if (lookup.list)
        freeaddrinfo(lookup.list);
    free(lookup.node);
    free(lookup.service);
    pthread_mutex_lock(&lock);
}

/* The lock is held, and released meanwhile. */
static void serve(struct helper *helper, abtio_op *op)
{
    helper->op = op;
    op->helper = helper;
    if (op->deadline != ABTIO_FOREVER)
        arm(helper, op->deadline > 0 ? op->deadline : 1);
    pthread_mutex_unlock(&lock);
    ssize_t result = abtioi_run(op);
    pthread_mutex_lock(&lock);
    op->helper = NULL;
    helper->op = NULL;
    disarm(helper);
    pthread_mutex_unlock(&lock);
    abtioi_op_deliver(op, result);
    pthread_mutex_lock(&lock);
}

static void list_add(struct helper *helper)
{
    helper->previous = NULL;
    helper->next = helpers.all;
    if (helpers.all)
        helpers.all->previous = helper;
    helpers.all = helper;
}

static void list_remove(struct helper *helper)
{
    if (helper->next)
        helper->next->previous = helper->previous;
    if (helper->previous)
        helper->previous->next = helper->next;
    else
        helpers.all = helper->next;
}

/* The lock is held. There is one helper fewer; the list of operations that nobody is left for. */
static abtio_op *count_down(void)
{
    if (--helpers.num > 0)
        return NULL;
    abtio_op *left = helpers.first;
    helpers.first = NULL;
    helpers.last = &helpers.first;
    helpers.num_queued = 0;
    return left;
}

/* Tells those that they cannot be done, but for the caller's, which is told otherwise. Whether that was there. */
static bool refuse_all(abtio_op *list, abtio_op *own)
{
    bool found = false;
    while (list) {
        abtio_op *op = list;
        list = op->next;
        if (op == own)
            found = true;
        else
            abtioi_op_deliver(op, -EAGAIN);
    }
    return found;
}

/* Counted in helpers.num already. One that gets no timer leaves its work to the others. */
static void *helper_main(void *unused)
{
    struct helper self = {.op = NULL};
    abtio_op *op;

    (void)unused;
    abtioi_signal_let_in();
    bool able = make_timer(&self);
    pthread_mutex_lock(&lock);
    list_add(&self);
    while (able && (op = next_op())) {
        if (op->code == CODE_getaddrinfo)
            serve_lookup(&self, op);
        else
            serve(&self, op);
    }
    list_remove(&self);
    if (able)
        timer_delete(self.timer);
    op = count_down();
    pthread_mutex_unlock(&lock);
    refuse_all(op, NULL);
    return NULL;
}

/* Signals of the program are for its own threads. */
static int make_helper(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;

    int code = pthread_attr_init(&attr);
    if (code != 0)
        return code;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, &attr, helper_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return code;
}

/* ---- From outside ---------------------------------------------------------------------------------------------- */

int abtioi_helpers_start(abtio_op *op)
{
    bool more;

    pthread_mutex_lock(&lock);
    push(op);
    more = helpers.num_queued > helpers.num_idle && helpers.num < helpers.max;
    if (more)
        helpers.num++;
    else
        pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
    if (!more || make_helper() == 0)
        return 0;
    /* As long as there are others it waits for one of them. */
    pthread_mutex_lock(&lock);
    abtio_op *left = count_down();
    pthread_mutex_unlock(&lock);
    return refuse_all(left, op) ? -EAGAIN : 0;
}

void abtioi_helpers_leave(abtio_op *op, int why)
{
    pthread_mutex_lock(&lock);
    bool ends = op->helper || take_out(op);
    if (op->helper)
        op->helper->op = NULL;
    op->helper = NULL;
    pthread_mutex_unlock(&lock);
    if (ends)
        abtioi_op_deliver(op, why);
}

void abtioi_helpers_cancel(abtio_op *op)
{
    if (op->code == CODE_getaddrinfo) {
        abtioi_helpers_leave(op, -ECANCELED);
        return;
    }
    pthread_mutex_lock(&lock);
    bool queued = !op->helper && take_out(op);
    if (op->helper)
        arm(op->helper, 1);
    pthread_mutex_unlock(&lock);
    if (queued)
        abtioi_op_deliver(op, -ECANCELED);
}

int abtioi_helpers_begin(unsigned max_threads)
{
    helpers.max = max_threads;
    helpers.ending = false;
    return abtioi_signal_begin();
}

/* Cancels the first queued operation, or else tells all helpers to hurry. How many there are. */
static unsigned hurry(void)
{
    pthread_mutex_lock(&lock);
    helpers.ending = true;
    abtio_op *op = helpers.first;
    if (op)
        take_out(op);
    for (struct helper *helper = helpers.all; helper && !op; helper = helper->next) {
        if (!helper->op || helper->op->code == CODE_getaddrinfo)
            continue;
        atomic_store_explicit(&helper->op->ended, -ECANCELED, memory_order_relaxed); /* relaxed: see cancel */
        arm(helper, 1);
    }
    pthread_cond_broadcast(&work);
    unsigned left = helpers.num + (op != NULL);
    pthread_mutex_unlock(&lock);
    if (op)
        abtioi_op_deliver(op, -ECANCELED);
    return left;
}

void abtioi_helpers_end(void)
{
    while (hurry() > 0)
        ABTX_thread_sleep(1e-4);
    abtioi_signal_end();
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
    helpers.all = NULL;
    helpers.first = NULL;
    helpers.last = &helpers.first;
    helpers.num = helpers.num_idle = helpers.num_queued = 0;
    helpers.ending = false;
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&work, NULL);
}
