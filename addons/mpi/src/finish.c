/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <abt.h>
#include <real.h> /* made by generate.py */

#include "call.h"
#include "fatal.h"
#include "finish.h"
#include "progress.h"
#include "state.h"

enum {
    FINISH_PARTS = 4,         /* requests for which there is room in the frame */
    FINISH_GROUP = 16,        /* requests that MPI_Testsome gets at once there */
    FINISH_YIELDS = 64,       /* a ULT that has to ask itself lets others run so often, before it pauses */
    FINISH_FIRST = 1000,      /* the first pause then, in nanoseconds; each is an eighth longer, */
    FINISH_LONGEST = 1000000, /* up to this */
    /* In MPICH, MPI_Request_get_status calls the handler, as a completion does. */
    FINISH_CAN_WATCH = ABTMPI_IS_OPEN_MPI,
};

static atomic_bool finish_may_be_inactive;

void abtmpi_finish_may_be_inactive(void)
{
    /* relaxed: the waiter for the request has got it from the caller, after this. */
    atomic_store_explicit(&finish_may_be_inactive, true, memory_order_relaxed);
}

/* The arguments of a question. Each question has those that the function of MPI has. */
typedef struct {
    const char *call;
    int (*ask)(void *arg, int *found);
    int num;
    MPI_Request *requests;
    int *result, *indices;
    MPI_Status *status;
    abtmpi_part *parts; /* of ask_all: one for each request, is_done says whether it has been completed; may be NULL */
    int first;          /* of ask_all: nothing before this one is active any more */
    int source, tag;
    MPI_Comm comm;
    MPI_Message *message;
    MPI_Win win;
} question;

static int ask_one(void *arg, int *found)
{
    question *q = arg;
    return abtmpi_fatal_code(abtmpi_real.Test(q->requests, found, q->status));
}

/*
 * MPICH gives an error of a request to the handler of MPI_COMM_WORLD. A call that waits has one that the program does
 * not know: its error belongs to the handler of its communicator.
 */
static int ask_hidden(void *arg, int *found)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    question *q = arg;
    int has_world = 0;

    abtmpi_real.Initialized(&has_world);
    if (!has_world) /* there are sessions only */
        return ask_one(arg, found);
    pthread_mutex_lock(&lock);
    abtmpi_real.Comm_get_errhandler(MPI_COMM_WORLD, &before);
    abtmpi_real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = ask_one(arg, found);
    abtmpi_real.Comm_set_errhandler(MPI_COMM_WORLD, before);
    abtmpi_real.Errhandler_free(&before);
    pthread_mutex_unlock(&lock);
    if (code != MPI_SUCCESS)
        abtmpi_real.Comm_call_errhandler(q->comm, code);
    return code;
}

/* The field of errors belongs to the caller unless there are several. */
static void status_copy(MPI_Status *to, const MPI_Status *from)
{
    if (to != MPI_STATUS_IGNORE) {
        int error = to->MPI_ERROR;
        *to = *from;
        to->MPI_ERROR = error;
    }
}

/*
 * Whether a request that is not known to be done is null or inactive, or done meanwhile. The part gets the code, and
 * the status if that is an error.
 */
static bool all_test(const question *q, int at, abtmpi_part *part)
{
    int found = 0;

    if (q->requests[at] == MPI_REQUEST_NULL)
        return true;
    if (!atomic_load_explicit(&finish_may_be_inactive, memory_order_relaxed)) /* relaxed: as above. */
        return false;
    part->code = abtmpi_fatal_code(abtmpi_real.Test(&q->requests[at], &found, &part->status));
    if (found && part->code == MPI_SUCCESS && q->status != MPI_STATUSES_IGNORE)
        status_copy(&q->status[at], &part->status);
    return found || part->code != MPI_SUCCESS;
}

/* One has failed: what the others are, before those that the same call has found are entered. */
static void all_failed(question *q)
{
    for (int i = 0; i < q->num && q->status != MPI_STATUSES_IGNORE; i++) {
        abtmpi_part part = {.code = MPI_SUCCESS};
        bool is_done = (q->parts && q->parts[i].is_done) || all_test(q, i, &part);
        q->status[i].MPI_ERROR = is_done ? part.code : MPI_ERR_PENDING;
    }
}

/* Enters what MPI_Testsome has completed. */
static void all_take(question *q, int num, const int indices[], const MPI_Status statuses[], bool failed)
{
    for (int i = 0; i < num; i++) {
        int at = q->first + indices[i];
        if (q->parts)
            q->parts[at].is_done = true;
        if (q->status == MPI_STATUSES_IGNORE)
            continue;
        status_copy(&q->status[at], &statuses[i]);
        if (failed)
            q->status[at].MPI_ERROR = statuses[i].MPI_ERROR;
    }
}

/* As MPI_Testsome. That of MPICH 5 returns MPI_SUCCESS where a handler of the program has got the error. */
static int all_testsome(int num, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[])
{
    bool is_handled = abtmpi_handler_is_own();

    for (int i = 0; is_handled && i < num; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS; /* without an error it is not written */
    int code = abtmpi_fatal_code(abtmpi_real.Testsome(num, requests, count, indices, statuses));
    for (int i = 0; is_handled && code == MPI_SUCCESS && i < *count; i++)
        code = statuses[i].MPI_ERROR == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS;
    return code;
}

/*
 * Completes what is done. The answer is yes when no request is active any more. MPI_Testall is not used, since that of
 * MPICH 4.0 fails whenever a collective operation is persistent, or a request is partitioned.
 */
static int ask_all(void *arg, int *found)
{
    question *q = arg;
    int code, indices[FINISH_GROUP];
    MPI_Status statuses[FINISH_GROUP];

    do {
        int num = q->num - q->first < FINISH_GROUP ? q->num - q->first : FINISH_GROUP, count = 0;
        code = all_testsome(num, q->requests + q->first, &count, indices, statuses);
        if (code != MPI_SUCCESS)
            all_failed(q);
        if (count != MPI_UNDEFINED)
            all_take(q, count, indices, statuses, code != MPI_SUCCESS);
        if (count == num || count == MPI_UNDEFINED)
            q->first += num;
        else if (count == 0)
            return code;
    } while (q->first < q->num && code == MPI_SUCCESS);
    *found = q->first == q->num;
    return code;
}

static int ask_any(void *arg, int *found)
{
    question *q = arg;
    return abtmpi_fatal_code(abtmpi_real.Testany(q->num, q->requests, q->result, found, q->status));
}

static int ask_some(void *arg, int *found)
{
    question *q = arg;
    int code = abtmpi_fatal_code(abtmpi_real.Testsome(q->num, q->requests, q->result, q->indices, q->status));
    *found = code == MPI_SUCCESS && *q->result != 0; /* MPI_UNDEFINED: there is nothing to wait for */
    return code;
}

static int ask_probe(void *arg, int *found)
{
    question *q = arg;
    return abtmpi_fatal_code(abtmpi_real.Iprobe(q->source, q->tag, q->comm, found, q->status));
}

static int ask_mprobe(void *arg, int *found)
{
    question *q = arg;
    return abtmpi_fatal_code(abtmpi_real.Improbe(q->source, q->tag, q->comm, found, q->message, q->status));
}

static int ask_win(void *arg, int *found)
{
    question *q = arg;
    return abtmpi_fatal_code(abtmpi_real.Win_test(q->win, found));
}

/* Room for the parts of num requests; NULL: out of memory. */
static abtmpi_part *parts_create(abtmpi_part *frame, int num)
{
    return num <= FINISH_PARTS ? frame : malloc((size_t)num * sizeof(*frame));
}

static void parts_destroy(abtmpi_part *frame, abtmpi_part *parts)
{
    if (parts != frame)
        free(parts);
}

/* Asks in the call, and then has the engine ask until the answer is yes. */
static int question_wait(question *q)
{
    int found = 0;
    int code = abtmpi_leave(q->ask(q, &found));

    if (found || code != MPI_SUCCESS)
        return code;
    abtmpi_wait wait = {.call = q->call, .ask = q->ask, .arg = q};
    abtmpi_progress_wait(&wait);
    return wait.code;
}

/*
 * Waits until the question, which is about requests, may be answered by yes, after the engine has seen that one of them
 * is done, or that all are. The code of what has gone wrong.
 */
static int question_watch(question *q, bool all, int *found)
{
    abtmpi_part frame[FINISH_PARTS], *parts = parts_create(frame, q->num);
    int num = 0, flag, code = MPI_SUCCESS;

    for (int i = 0; parts && i < q->num && code == MPI_SUCCESS; i++) {
        if (q->requests[i] == MPI_REQUEST_NULL)
            continue;
        flag = 0;
        code = abtmpi_fatal_code(abtmpi_real.Request_get_status(q->requests[i], &flag, MPI_STATUS_IGNORE));
        if (!flag)
            parts[num++] = (abtmpi_part){.request = &q->requests[i]};
    }
    /* Those that are no parts are inactive, or done since the question was asked. */
    if (code == MPI_SUCCESS)
        code = q->ask(q, found);
    if (code == MPI_SUCCESS && !*found) {
        abtmpi_wait wait = {.call = q->call, .parts = parts, .num = num, .left = all ? num : 1, .is_watched = true};
        if (num > 0)
            abtmpi_progress_wait(&wait);
        else
            ABT_thread_yield();
        code = wait.code;
    }
    parts_destroy(frame, parts);
    return code;
}

/* A ULT that has to ask itself lets others run, and then sleeps for longer each time. */
static int question_pause(const question *q, unsigned times, int64_t *pause)
{
    if (times > FINISH_YIELDS && *pause < FINISH_LONGEST)
        *pause += *pause / 8 + FINISH_FIRST;
    ABTX_self_sleep(*pause);
    if (!abtmpi_state_is_off())
        return MPI_SUCCESS;
    fprintf(stderr, "libabtmpi: MPI_Finalize: a ULT still waits in %s\n", q->call);
    return MPI_ERR_OTHER;
}

/* Where handlers of the program run, which may wait: on the stack of the ULT. */
static int question_wait_watching(question *q, bool all)
{
    int found = 0;
    int64_t pause = 0; /* the first times, others run without one */
    int code = abtmpi_leave(q->ask(q, &found));
    bool before = abtmpi_cancel_put_off();

    for (unsigned times = 0; code == MPI_SUCCESS && !found; times++) {
        code = FINISH_CAN_WATCH ? question_watch(q, all, &found) : question_pause(q, times, &pause);
        if (code == MPI_SUCCESS && !found)
            code = q->ask(q, &found);
    }
    abtmpi_cancel_allow(before);
    return code;
}

/*
 * Completes a request if it is done. MPI_Test of MPICH looks for messages first, also where the request is done, which
 * takes longer than a second call. Not for requests of the program: the two calls would ask a generalized request
 * twice.
 */
static int request_test(MPI_Request *request, bool is_hidden, int *found, MPI_Status *status)
{
    if (ABTMPI_IS_OPEN_MPI || !is_hidden)
        return abtmpi_fatal_code(abtmpi_real.Test(request, found, status));
    int code = abtmpi_fatal_code(abtmpi_real.Request_get_status(*request, found, MPI_STATUS_IGNORE));
    return *found ? abtmpi_fatal_code(abtmpi_real.Wait(request, status)) : code;
}

/* A request is hidden if the program does not know of it. Then comm is its communicator, or null: it is not known. */
static int request_wait(const char *call, MPI_Request *request, bool is_hidden, MPI_Comm comm, MPI_Status *status)
{
    int found = 0;

    if (abtmpi_handler_is_own()) {
        bool is_given_to_world = ABTMPI_IS_OPEN_MPI || comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD;
        question q = {.call = call, .num = 1, .requests = request, .comm = comm, .status = status};
        q.ask = is_given_to_world ? ask_one : ask_hidden;
        return question_wait_watching(&q, true);
    }
    int code = abtmpi_leave(request_test(request, is_hidden, &found, status));
    if (found || code != MPI_SUCCESS)
        return code;
    abtmpi_part part = {.request = request};
    abtmpi_wait wait = {.call = call, .parts = &part, .num = 1, .left = 1};
    abtmpi_progress_wait(&wait);
    if (wait.code != MPI_SUCCESS)
        return wait.code;
    status_copy(status, &part.status);
    return part.code;
}

int abtmpi_finish(const char *call, int code, MPI_Request *request, MPI_Comm comm, MPI_Status *status)
{
    code = abtmpi_fatal_code(code);
    return code == MPI_SUCCESS ? request_wait(call, request, true, comm, status) : abtmpi_leave(code);
}

int abtmpi_finish_pair(const char *call, int code, MPI_Request requests[2], MPI_Comm comm, MPI_Status *status)
{
    bool before = abtmpi_cancel_put_off();

    code = abtmpi_fatal_code(code);
    if (code == MPI_SUCCESS) {
        code = request_wait(call, &requests[1], true, comm, MPI_STATUS_IGNORE);
        abtmpi_enter();
    } else {
        (void)abtmpi_fatal_code(abtmpi_real.Cancel(&requests[0]));
    }
    int received = request_wait(call, &requests[0], true, comm, status);
    abtmpi_cancel_allow(before);
    return code != MPI_SUCCESS ? code : received;
}

int abtmpi_finish_wait(MPI_Request *request, MPI_Status *status)
{
    return request_wait("MPI_Wait", request, false, MPI_COMM_NULL, status);
}

/*
 * What MPI_Waitall gives. With an error, each status has a code: of those that were not waited for any more,
 * MPI_ERR_PENDING.
 */
static int waitall_end(int num, const MPI_Request requests[], MPI_Status statuses[], const abtmpi_part *parts,
                       int num_parts)
{
    bool failed = false;

    for (int i = 0; i < num_parts; i++)
        failed = failed || parts[i].code != MPI_SUCCESS;
    if (statuses == MPI_STATUSES_IGNORE)
        return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
    for (int i = 0; i < num && failed; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    for (int i = 0; i < num_parts; i++) {
        MPI_Status *status = &statuses[parts[i].request - requests];
        if (parts[i].is_done)
            status_copy(status, &parts[i].status);
        if (failed)
            status->MPI_ERROR = parts[i].is_done ? parts[i].code : MPI_ERR_PENDING;
    }
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

/*
 * The requests that the question has left active become parts, as those that fail do. Returns how many; they take the
 * places of those that say what is done.
 */
static int waitall_begin(const question *q, bool *failed)
{
    int num_parts = 0;

    for (int i = 0; i < q->num; i++) {
        abtmpi_part part = {.request = &q->requests[i], .code = MPI_SUCCESS};
        if (q->parts[i].is_done)
            continue;
        part.is_done = all_test(q, i, &part);
        *failed = *failed || part.code != MPI_SUCCESS;
        if (!part.is_done || part.code != MPI_SUCCESS)
            q->parts[num_parts++] = part;
    }
    return num_parts;
}

/*
 * What the statuses of inactive requests are. MPICH's MPI_Waitall writes MPI_SUCCESS into them also where no request
 * has failed.
 */
static void waitall_clear(int num, MPI_Status statuses[])
{
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status empty;
    int found;

    if (statuses == MPI_STATUSES_IGNORE)
        return;
    abtmpi_real.Test(&none, &found, &empty);
    for (int i = 0; i < num; i++) {
        status_copy(&statuses[i], &empty);
        if (!ABTMPI_IS_OPEN_MPI)
            statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
}

/* Waits for those that the question has left active. */
static int waitall_wait(question *q)
{
    bool failed = false;
    int num_parts = waitall_begin(q, &failed);

    abtmpi_leave(MPI_SUCCESS);
    abtmpi_wait wait = {.call = q->call, .parts = q->parts, .num = num_parts, .left = num_parts};
    if (num_parts > 0 && !failed)
        abtmpi_progress_wait(&wait);
    return wait.code != MPI_SUCCESS ? wait.code : waitall_end(q->num, q->requests, q->status, q->parts, num_parts);
}

int abtmpi_finish_waitall(int num, MPI_Request requests[], MPI_Status statuses[])
{
    int found = 0, code;
    abtmpi_part frame[FINISH_PARTS], *parts = parts_create(frame, num);
    question q = {"MPI_Waitall", ask_all, .num = num, .requests = requests, .status = statuses, .parts = parts};
    bool before = parts == frame || abtmpi_cancel_put_off();

    waitall_clear(num, statuses);
    for (int i = 0; parts && i < num; i++)
        parts[i].is_done = false;
    if (abtmpi_handler_is_own()) {
        code = question_wait_watching(&q, true);
    } else if (!parts) {
        code = question_wait(&q);
    } else {
        code = ask_all(&q, &found);
        code = found || code != MPI_SUCCESS ? abtmpi_leave(code) : waitall_wait(&q);
    }
    parts_destroy(frame, parts);
    abtmpi_cancel_allow(before);
    return code;
}

int abtmpi_finish_waitany(int num, MPI_Request requests[], int *index, MPI_Status *status)
{
    question q = {"MPI_Waitany", ask_any, .num = num, .requests = requests, .result = index, .status = status};
    return abtmpi_handler_is_own() ? question_wait_watching(&q, false) : question_wait(&q);
}

int abtmpi_finish_waitsome(int num, MPI_Request requests[], int *found, int indices[], MPI_Status statuses[])
{
    question q = {"MPI_Waitsome", ask_some, .num = num, .requests = requests, .result = found, .indices = indices};
    q.status = statuses;
    return abtmpi_handler_is_own() ? question_wait_watching(&q, false) : question_wait(&q);
}

int abtmpi_finish_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    question q = {"MPI_Probe", ask_probe, .source = source, .tag = tag, .comm = comm, .status = status};
    return question_wait(&q);
}

int abtmpi_finish_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    question q = {"MPI_Mprobe", ask_mprobe,         .source = source, .tag = tag,
                  .comm = comm, .message = message, .status = status};
    return question_wait(&q);
}

int abtmpi_finish_win_wait(MPI_Win win)
{
    question q = {"MPI_Win_wait", ask_win, .win = win};
    return question_wait(&q);
}
