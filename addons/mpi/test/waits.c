/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that wait, one after the other: a ULT of rank 0 calls one, and rank 1 does its part only when another ULT
 * of the same stream of rank 0 has sent a message. If the first one did not leave the stream, that would never come.
 */
#include "job.h"

enum { TAG = 1, TAG_GO = 2, NUM = 4, NULLS = 30 };

static MPI_Comm reversed; /* rank 1 is its rank 0 */
static int in[64], out[64], ones[2] = {1, 1}, places[2] = {0, 1}, bytes[2] = {0, sizeof(int)};
static MPI_Datatype ints[2];
static MPI_Win made; /* a window, before all */
static const void *own;
static char *name;

/* The message of rank 1. */
static void send_one(void)
{
    out[0] = 77;
    MPI_Send(out, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void check_one(int value, MPI_Status *status)
{
    is_int(value, 77, "%s: the message is there", name);
    ok(status->MPI_SOURCE == 1 && status->MPI_TAG == TAG, "%s: its status", name);
}

static void recv(void)
{
    MPI_Status status;

    if (job_rank == 1) {
        send_one();
        return;
    }
    MPI_Recv(in, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &status);
    check_one(in[0], &status);
}

static void ssend(void)
{
    if (job_rank == 0)
        MPI_Ssend(out, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sendrecv(void)
{
    MPI_Status status;

    out[0] = 100 + job_rank;
    MPI_Sendrecv(out, 1, MPI_INT, 1 - job_rank, TAG, in, 1, MPI_INT, 1 - job_rank, TAG, MPI_COMM_WORLD, &status);
    is_int(in[0], 101 - job_rank, "what the other has sent");
    is_int(status.MPI_SOURCE, 1 - job_rank, "it is from there");
}

static void sendrecv_replace(void)
{
    MPI_Status status;
    int count;

    in[0] = in[1] = 100 + job_rank;
    MPI_Sendrecv_replace(in, 2, MPI_INT, 1 - job_rank, TAG, 1 - job_rank, TAG, MPI_COMM_WORLD, &status);
    is_int(in[1], 101 - job_rank, "what the other has sent is in its place");
    MPI_Get_count(&status, MPI_INT, &count);
    is_int(count, 2, "all of it");
}

static void check_nobody(const MPI_Status *status)
{
    ok(status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG, "%s: a status of nobody", name);
}

static void nobody(void)
{
    MPI_Status status;

    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    check_nobody(&status);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, TAG, in, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    check_nobody(&status);
    MPI_Sendrecv_replace(in, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    check_nobody(&status);
}

/* The address is in the type. */
static void bottom(void)
{
    MPI_Aint address;
    MPI_Datatype type;
    int one = 1;

    in[0] = 100 + job_rank;
    MPI_Get_address(in, &address);
    MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, 1 - job_rank, TAG, 1 - job_rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    is_int(in[0], 101 - job_rank, "%s: what the other has sent", name);
}

static void probe(void)
{
    MPI_Status status;

    if (job_rank == 1) {
        send_one();
        return;
    }
    MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(in, 1, MPI_INT, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status);
    check_one(in[0], &status);
}

static void mprobe(void)
{
    MPI_Status status;
    MPI_Message message;

    if (job_rank == 1) {
        send_one();
        return;
    }
    MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in, 1, MPI_INT, &message, &status);
    check_one(in[0], &status);
}

/* Receives are begun by rank 0, and fulfilled by rank 1 from the last to the first. */
static void begin(MPI_Request *requests)
{
    for (int i = 0; i < NUM; i++) {
        out[i] = 10 * i;
        if (job_rank == 0)
            MPI_Irecv(&in[i], 1, MPI_INT, 1, TAG + i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = NUM - 1; i >= 0 && job_rank == 1; i--)
        MPI_Send(&out[i], 1, MPI_INT, 0, TAG + i, MPI_COMM_WORLD);
}

static void check_all(const int *seen)
{
    for (int i = 0; i < NUM && job_rank == 0; i++)
        ok(in[i] == 10 * i && seen[i] == 1, "%s: message %d", name, i);
}

static void wait_one_by_one(void)
{
    MPI_Request requests[NUM];
    int seen[NUM] = {0};

    begin(requests);
    for (int i = 0; i < NUM && job_rank == 0; i++)
        seen[i] += MPI_Wait(&requests[i], MPI_STATUS_IGNORE) == MPI_SUCCESS && requests[i] == MPI_REQUEST_NULL;
    check_all(seen);
}

/* MPICH writes MPI_ERROR also where no request has failed. Open MPI does so at times. */
static bool error_is_written(const MPI_Status *status)
{
#ifdef OPEN_MPI
    return true;
#else
    return status->MPI_ERROR == MPI_SUCCESS;
#endif
}

/* Requests that are null, then those that are fulfilled, a null one and an inactive one. */
static void waitall(void)
{
    MPI_Request requests[NULLS + NUM + 2];
    MPI_Status statuses[NULLS + NUM + 2];
    int seen[NUM], empty = 0;

    for (int i = 0; i < NULLS + NUM + 2; i++) {
        requests[i] = MPI_REQUEST_NULL;
        statuses[i] = (MPI_Status){.MPI_TAG = TAG, .MPI_ERROR = MPI_ERR_OTHER};
    }
    begin(requests + NULLS);
    if (job_rank == 0) {
        MPI_Recv_init(in + NUM, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &requests[NULLS + NUM + 1]);
        is_int(MPI_Waitall(NULLS + NUM + 2, requests, statuses), MPI_SUCCESS, "MPI_Waitall");
        MPI_Request_free(&requests[NULLS + NUM + 1]);
    }
    for (int i = 0; i < NUM; i++) {
        const MPI_Status *status = &statuses[NULLS + i];
        seen[i] = job_rank == 0 && status->MPI_TAG == TAG + i && error_is_written(status);
    }
    check_all(seen);
    for (int i = 0; i < NULLS + NUM + 2; i++)
        empty += statuses[i].MPI_TAG == MPI_ANY_TAG;
    is_int(empty, job_rank == 0 ? NULLS + 2 : 0, "the statuses of the others are empty");
}

static void waitany(void)
{
    MPI_Request requests[NUM];
    MPI_Status status;
    int seen[NUM] = {0}, index;

    begin(requests);
    if (job_rank == 1)
        return;
    for (int i = 0; i < NUM; i++) {
        MPI_Waitany(NUM, requests, &index, &status);
        seen[index] += status.MPI_TAG == TAG + index;
    }
    MPI_Waitany(NUM, requests, &index, &status);
    is_int(index, MPI_UNDEFINED, "nothing is left to wait for");
    check_all(seen);
}

static void waitsome(void)
{
    MPI_Request requests[NUM];
    MPI_Status statuses[NUM];
    int seen[NUM] = {0}, indices[NUM], count;

    begin(requests);
    for (int left = NUM; left > 0 && job_rank == 0; left -= count) {
        MPI_Waitsome(NUM, requests, &count, indices, statuses);
        for (int i = 0; i < count; i++)
            seen[indices[i]] += statuses[i].MPI_TAG == TAG + indices[i];
    }
    check_all(seen);
}

static void persistent(void)
{
    MPI_Request request;
    MPI_Status status;

    if (job_rank == 1) {
        send_one();
        return;
    }
    MPI_Recv_init(in, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    check_one(in[0], &status);
    ok(request != MPI_REQUEST_NULL, "a persistent request stays");
    MPI_Request_free(&request);
}

/* A loop of tests lets others run, too. */
static void test(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag = 0;

    if (job_rank == 1) {
        send_one();
        return;
    }
    MPI_Irecv(in, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, &status);
    check_one(in[0], &status);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
    in[0] = job_rank == 1 ? 5 : 0;
    MPI_Bcast(in, 1, MPI_INT, 1, MPI_COMM_WORLD);
    is_int(in[0], 5, "MPI_Bcast");
}

static void gather(void)
{
    MPI_Gather(own, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gatherv(own, 1, MPI_INT, in + 2, ones, places, MPI_INT, 0, MPI_COMM_WORLD);
    ok(job_rank == 1 || (in[1] == 1 && in[3] == 1), "MPI_Gather, MPI_Gatherv");
}

static void scatter(void)
{
    out[0] = 3, out[1] = 4;
    MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Scatterv(out, ones, places, MPI_INT, in + 1, 1, MPI_INT, 1, MPI_COMM_WORLD);
    ok(in[0] == 3 + job_rank && in[1] == 3 + job_rank, "MPI_Scatter, MPI_Scatterv");
}

static void allgather(void)
{
    MPI_Allgather(own, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(own, 1, MPI_INT, in + 2, ones, places, MPI_INT, MPI_COMM_WORLD);
    ok(in[0] == 0 && in[1] == 1 && in[2] == 0 && in[3] == 1, "MPI_Allgather, MPI_Allgatherv");
}

static void alltoall(void)
{
    out[0] = 10 * job_rank, out[1] = 10 * job_rank + 1;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(out, ones, places, MPI_INT, in + 2, ones, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(out, ones, bytes, ints, in + 4, ones, bytes, ints, MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++)
        is_int(in[i], 10 * (i % 2) + job_rank, "MPI_Alltoall and its like, %d", i);
}

static void reduce(void)
{
    int sum = 0, all, block, part;

    MPI_Reduce(own, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    out[0] = 1, out[1] = 2;
    MPI_Reduce_scatter_block(out, &block, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter(out, &part, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ok((job_rank == 1 || sum == 1) && all == 1 && block == 2 * (1 + job_rank) && part == block, "reductions");
}

static void scan(void)
{
    int before = 0, with;

    MPI_Exscan(own, &before, 1, MPI_INT, MPI_SUM, reversed);
    MPI_Scan(own, &with, 1, MPI_INT, MPI_SUM, reversed);
    ok(with == 1 && (job_rank == 1 || before == 1), "MPI_Scan, MPI_Exscan");
}

static void communicators(void)
{
    MPI_Comm copy, half;
    int size;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(copy, job_rank, 0, &half);
    MPI_Comm_size(half, &size);
    is_int(size, 1, "MPI_Comm_dup, MPI_Comm_split");
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

static void window(void)
{
    int *shared;
    MPI_Win win;

    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
    MPI_Win_fence(0, win);
    MPI_Put(own, 1, MPI_INT, 1 - job_rank, job_rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    is_int(shared[1 - job_rank], 1 - job_rank, "MPI_Win_allocate, MPI_Put, MPI_Win_fence");
    MPI_Win_free(&win);
}

/* That of MPICH waits for the other process. */
static void win_set_info(void)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    is_int(MPI_Win_set_info(made, info), MPI_SUCCESS, "MPI_Win_set_info");
    MPI_Info_free(&info);
}

static const struct {
    const char *name;
    void (*func)(void);
} functions[] = {
    {"MPI_Recv", recv},
    {"MPI_Ssend", ssend},
    {"MPI_Sendrecv", sendrecv},
    {"MPI_Sendrecv_replace", sendrecv_replace},
    {"MPI_PROC_NULL", nobody},
    {"MPI_BOTTOM", bottom},
    {"MPI_Probe", probe},
    {"MPI_Mprobe", mprobe},
    {"MPI_Wait", wait_one_by_one},
    {"MPI_Waitall", waitall},
    {"MPI_Waitany", waitany},
    {"MPI_Waitsome", waitsome},
    {"persistent", persistent},
    {"MPI_Test", test},
    {"MPI_Barrier", barrier},
    {"MPI_Bcast", bcast},
    {"MPI_Gather", gather},
    {"MPI_Scatter", scatter},
    {"MPI_Allgather", allgather},
    {"MPI_Alltoall", alltoall},
    {"MPI_Reduce", reduce},
    {"MPI_Scan", scan},
    {"communicators", communicators},
    {"a window", window},
    {"MPI_Win_set_info", win_set_info},
};

static void (*current)(void);

static void wait_in_current(void)
{
    int go;

    if (job_rank == 1)
        MPI_Recv(&go, 1, MPI_INT, 0, TAG_GO + NUM, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    current();
}

static void let_the_other_go(void)
{
    int go = 0;

    if (job_rank == 0)
        MPI_Send(&go, 1, MPI_INT, 1, TAG_GO + NUM, MPI_COMM_WORLD);
}

/* All again when the program has an error handler of its own, which has ULTs complete their requests. */
static void all_functions(const char *how)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        current = functions[i].func;
        name = (char *)functions[i].name;
        memset(in, 0, sizeof(in));
        job_run_pair(wait_in_current, let_the_other_go);
        pass("%s, %s", name, how);
    }
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    fail("error %d", *code);
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler;
    void *memory;

    job_begin("2");
    MPI_Init(&argc, &argv);
    job_know();
    own = &job_rank;
    ints[0] = ints[1] = MPI_INT;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &made);
    ABT_init(argc, argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -job_rank, &reversed);
    all_functions("completed by the driver");
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    all_functions("completed by its ULT");
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&reversed);
    MPI_Win_free(&made);
    MPI_Finalize();
    ABT_finalize();
    return job_end();
}
