/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two streams serve a pool. A ULT waits for input on one of them, and then a unit computes there until the ULT has gone
 * on: what it waits for comes meanwhile, and the other stream goes on with it. Or each serves a pool of its own, and
 * what the ULT waits for is cancelled by others. In either case the ring may be older than the second stream, or than
 * the first operation that may be cancelled, and never empty.
 */
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include "io.h"

enum { TURNS = 3 };

static struct {
    const struct kind *kind;
    int fds[2]; /* of what is waited for; or the listening socket, and the one that connects */
    struct sockaddr_in address;
    abtio_op *op;
    abtio_acceptor *acceptor;
    abtio_buffers *buffers;
    abtio_receiver *receiver;
    void *kept; /* the only buffer */
    int64_t patience;
    ssize_t result;
    atomic_int rank, turns; /* where the ULT waits, -1 before; what it has got */
    atomic_bool computing, done;
} now_;

/* The pool is of the stream alone, so that the ULT cannot go on before the unit has computed until the event. */
static bool is_private;

static struct kind {
    const char *name;
    ssize_t (*wait)(void); /* of the ULT */
    void (*event)(void);   /* by a native thread, while the unit computes */
    ssize_t result;
    bool by_cancel;
} kinds[];

/* The ULT is about to wait: on this stream, which it does not leave before. */
static void note_place(void)
{
    int rank;

    must(ABT_self_get_xstream_rank(&rank));
    atomic_store(&now_.rank, rank);
}

/* ---- What is waited for ---------------------------------------------------------------------------------------- */

static void send_byte(void)
{
    if (write(now_.fds[1], "x", 1) != 1)
        fail("write: %s", strerror(errno));
}

static void await_turns(int num)
{
    while (atomic_load(&now_.turns) < num)
        nap_ms(1);
}

static void send_bytes(void)
{
    for (int i = 0; i < TURNS; i++) {
        send_byte();
        await_turns(i + 1);
    }
}

/* The first is taken before the next one comes. */
static void send_halves(void)
{
    int left = 1;

    send_byte();
    while (ioctl(now_.fds[0], FIONREAD, &left) == 0 && left > 0)
        nap_ms(1);
    send_byte();
}

static void connect_to(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)address, sizeof(*address)) < 0)
        fail("connect: %s", strerror(errno));
    close(fd);
}

static void connect_one(void)
{
    connect_to(&now_.address);
}

static void connect_some(void)
{
    for (int i = 0; i < TURNS; i++) {
        connect_one();
        await_turns(i + 1);
    }
}

static void give_back(void)
{
    send_byte();
    is_int(abtio_buffers_give_back(now_.buffers, now_.kept), 0, "give_back");
}

static void cancel(void)
{
    is_int(abtio_cancel(now_.op), 0, "%s: abtio_cancel", backend_name);
}

static void nothing(void)
{
}

/* ---- How -------------------------------------------------------------------------------------------------------- */

static ssize_t wait_read(void)
{
    char byte;

    note_place();
    return abtio_read(now_.fds[0], &byte, 1, ABTIO_FOREVER);
}

/* It is there already, and the operation is not handed over before the unit computes. */
static ssize_t wait_queued(void)
{
    send_byte();
    return wait_read();
}

static ssize_t wait_read_all(void)
{
    char bytes[2];

    note_place();
    return abtio_read_all(now_.fds[0], bytes, 2, ABTIO_FOREVER);
}

static ssize_t wait_op(void)
{
    char byte;

    note_place();
    if (abtio_recv_nb(now_.fds[0], &byte, 1, 0, ABTIO_FOREVER, &now_.op) != 0)
        return -1;
    ssize_t result = abtio_op_wait(now_.op);
    return result;
}

static ssize_t wait_deadline(void)
{
    char byte;

    note_place();
    return abtio_recv(now_.fds[0], &byte, 1, 0, abtio_after(now_.patience));
}

static ssize_t wait_sleep(void)
{
    note_place();
    return abtio_sleep(now_.patience, ABTIO_FOREVER);
}

static ssize_t closed(int fd)
{
    return fd < 0 ? fd : close(fd);
}

static ssize_t wait_accept(void)
{
    note_place();
    return closed(abtio_accept(now_.fds[0], NULL, NULL, SOCK_CLOEXEC, ABTIO_FOREVER));
}

static ssize_t wait_acceptor(void)
{
    ssize_t result = 0;

    note_place();
    for (int i = 0; i < TURNS && result == 0; i++) {
        result = closed(abtio_acceptor_accept(now_.acceptor, ABTIO_FOREVER));
        atomic_fetch_add(&now_.turns, 1);
    }
    return result;
}

static ssize_t receive_one(void **buf)
{
    return abtio_receiver_recv(now_.receiver, buf, ABTIO_FOREVER);
}

static ssize_t wait_receiver(void)
{
    ssize_t result = 1;
    void *buf;

    note_place();
    for (int i = 0; i < TURNS && result == 1; i++) {
        result = receive_one(&buf);
        if (result == 1)
            abtio_buffers_give_back(now_.buffers, buf);
        atomic_fetch_add(&now_.turns, 1);
    }
    return result;
}

/* There is one buffer, which is out. */
static ssize_t wait_buffer(void)
{
    void *buf;

    send_byte();
    if (receive_one(&now_.kept) != 1)
        return -1;
    note_place();
    ssize_t result = receive_one(&buf);
    if (result == 1)
        abtio_buffers_give_back(now_.buffers, buf);
    return result;
}

static struct kind kinds[] = {
    {"a read", wait_read, send_byte, 1, false},
    {"a read that is not begun yet", wait_queued, nothing, 1, false},
    {"the rest of a read", wait_read_all, send_halves, 2, false},
    {"an operation", wait_op, send_byte, 1, false},
    {"a cancel", wait_op, cancel, -ECANCELED, true},
    {"a deadline", wait_deadline, nothing, -ETIMEDOUT, false},
    {"a sleep", wait_sleep, nothing, 0, false},
    {"an accept", wait_accept, connect_one, 0, false},
    {"an acceptor", wait_acceptor, connect_some, 0, false},
    {"a receiver", wait_receiver, send_bytes, 1, false},
    {"a buffer", wait_buffer, give_back, 1, false},
};

/* ---- One attempt ------------------------------------------------------------------------------------------------ */

static void waiter(void *unused)
{
    now_.result = now_.kind->wait();
    atomic_store(&now_.done, true);
}

/*
 * Computes where the ULT waits. There is one for each stream of the pool; those elsewhere end when one does. They are
 * there before the ULT, so that one of them is next when it waits, also where its stream runs before who makes them.
 */
static void compute(void *unused)
{
    int rank;

    for (;;) {
        must(ABT_self_get_xstream_rank(&rank));
        if (atomic_load(&now_.done) || atomic_load(&now_.computing))
            return;
        if (rank == atomic_load(&now_.rank) && !atomic_exchange(&now_.computing, true))
            break;
        must(ABT_thread_yield());
    }
    while (!atomic_load(&now_.done))
        ;
}

static void *make_event(void *unused)
{
    while (!atomic_load(&now_.computing) && !atomic_load(&now_.done))
        nap_ms(1);
    now_.kind->event();
    if (is_private)
        atomic_store(&now_.done, true);
    return unused;
}

static void open_all(void)
{
    bool listens = now_.kind->event == connect_one || now_.kind->event == connect_some;

    if (listens) {
        now_.fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        now_.fds[1] = -1;
        listen_on_loopback(now_.fds[0], 8, &now_.address);
    } else {
        make_pair(now_.fds);
    }
    is_int(abtio_acceptor_create(now_.fds[0], SOCK_CLOEXEC, &now_.acceptor), 0, "%s: %s", backend_name,
           now_.kind->name);
    must(abtio_buffers_create(16, now_.kind->wait == wait_buffer ? 1 : 8, &now_.buffers));
    must(abtio_receiver_create(now_.fds[0], 0, now_.buffers, &now_.receiver));
}

static void close_all(void)
{
    if (now_.op)
        abtio_op_free(&now_.op);
    is_int(abtio_acceptor_free(&now_.acceptor), 0, "the acceptor is free");
    must(abtio_receiver_free(&now_.receiver));
    must(abtio_buffers_free(&now_.buffers));
    close(now_.fds[0]);
    if (now_.fds[1] >= 0)
        close(now_.fds[1]);
}

static void begin_attempt(const struct kind *kind, int64_t patience)
{
    memset(&now_, 0, sizeof(now_));
    now_.kind = kind;
    now_.patience = patience;
    atomic_store(&now_.rank, -1);
    open_all();
}

/* Whether the unit has computed while the ULT waited. */
static bool attempt(const struct kind *kind, ABT_pool pool, int64_t patience)
{
    enum { UNITS = 2 };
    ABT_thread units[UNITS], ult;
    pthread_t thread;

    begin_attempt(kind, patience);
    if (pthread_create(&thread, NULL, make_event, NULL) != 0)
        bail_out("no thread");
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(pool, compute, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
    must(ABT_thread_create(pool, waiter, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_free(&units[i]));
    pthread_join(thread, NULL);
    close_all();
    return now_.computing;
}

/* Where the ULT is done before anything computes, it waits for longer. */
static void try_kind(const struct kind *kind, ABT_pool pool)
{
    enum { MOST = 100 };
    int64_t patience = 20 * MS, most = 2000 * MS;

    for (int i = 0; i < MOST && !attempt(kind, pool, patience); i++)
        patience = patience < most ? patience * 2 : most;
    ok(now_.computing, "a unit computes");
    is_int(now_.result, kind->result, "%s: %s", backend_name, kind->name);
}

static void test_shared(void)
{
    ABT_pool pool;
    ABT_xstream streams[2];

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    for (int i = 0; i < 2; i++)
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        try_kind(&kinds[i], pool);
    for (int i = 0; i < 2; i++) {
        must(ABT_xstream_join(streams[i]));
        must(ABT_xstream_free(&streams[i]));
    }
}

/* ---- Private pools ---------------------------------------------------------------------------------------------- */

static void read_zero(void *unused)
{
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    char byte;

    is_int(abtio_read(fd, &byte, 1, ABTIO_FOREVER), 1, "%s: a read by the stream", backend_name);
    close(fd);
}

/* It takes a connection once somebody connects. */
static void accept_late(void *acceptor)
{
    is_int(closed(abtio_acceptor_accept(acceptor, ABTIO_FOREVER)), 0, "%s: a late connection", backend_name);
}

/*
 * One of the two streams has a ring when its first operation that can be cancelled begins, with an acceptor's operation
 * under way.
 */
static void test_private(void)
{
    ABT_pool pools[2];
    ABT_xstream streams[2];
    ABT_thread ult, late;
    abtio_acceptor *acceptor;
    struct sockaddr_in address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    listen_on_loopback(fd, 8, &address);
    must(abtio_acceptor_create(fd, SOCK_CLOEXEC, &acceptor));

    for (int i = 0; i < 2; i++) {
        must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pools[i]));
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pools[i], ABT_SCHED_CONFIG_NULL, &streams[i]));
    }
    must(ABT_thread_create(pools[1], accept_late, acceptor, ABT_THREAD_ATTR_NULL, &late));
    must(ABT_thread_create(pools[1], read_zero, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
    is_private = true;
    for (int i = 0; i < 2; i++) {
        for (size_t j = 0; j < sizeof(kinds) / sizeof(kinds[0]); j++) {
            if (kinds[j].by_cancel)
                try_kind(&kinds[j], pools[i]);
        }
    }
    is_private = false;
    connect_to(&address);
    must(ABT_thread_free(&late));
    must(abtio_acceptor_free(&acceptor));
    close(fd);
    for (int i = 0; i < 2; i++) {
        must(ABT_xstream_join(streams[i]));
        must(ABT_xstream_free(&streams[i]));
    }
}

/* The caller, whose pool both streams serve, goes back to the primary one first. */
static void end_second(ABT_xstream second)
{
    int rank = -1;

    for (must(ABT_self_get_xstream_rank(&rank)); rank != 0; must(ABT_self_get_xstream_rank(&rank)))
        must(ABT_thread_yield());
    must(ABT_xstream_join(second));
    must(ABT_xstream_free(&second));
}

/* ---- A stream that comes later --------------------------------------------------------------------------------- */

/* The primary stream has a ring when it is still alone. */
static void test_later(void)
{
    ABT_pool pool;
    ABT_xstream self, second;
    bool met = false;

    in_ult(read_zero, NULL);
    must(ABT_self_get_xstream(&self));
    must(ABT_xstream_get_main_pools(self, 1, &pool));
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &second));
    for (int i = 0; i < 100 && !met; i++) {
        let_stream_look();
        met = attempt(&kinds[0], pool, 0) && atomic_load(&now_.rank) == 0;
    }
    ok(met, "a unit computes on the primary stream");
    is_int(now_.result, kinds[0].result, "%s: %s", backend_name, kinds[0].name);
    end_second(second);
}

/* ---- What was begun before the second stream came --------------------------------------------------------------- */

static const struct kind *early_kind;

/* The primary stream is alone when the ULT begins to wait, and checks events when it is not alone any more. */
static void test_early(void)
{
    ABT_pool pool;
    ABT_xstream self, second;
    ABT_thread units[2], ult;
    pthread_t thread;

    must(ABT_self_get_xstream(&self));
    must(ABT_xstream_get_main_pools(self, 1, &pool));
    begin_attempt(early_kind, 500 * MS);
    must(ABT_thread_create(pool, waiter, NULL, ABT_THREAD_ATTR_NULL, &ult));
    while (atomic_load(&now_.rank) < 0 || !is_blocked(ult))
        must(ABT_thread_yield());
    must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &second));
    let_stream_look();
    if (pthread_create(&thread, NULL, make_event, NULL) != 0)
        bail_out("no thread");
    for (int i = 0; i < 2; i++)
        must(ABT_thread_create(pool, compute, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
    must(ABT_thread_free(&ult));
    for (int i = 0; i < 2; i++)
        must(ABT_thread_free(&units[i]));
    pthread_join(thread, NULL);
    close_all();
    is_int(now_.result, early_kind->result, "%s: %s, begun early", backend_name, early_kind->name);
    end_second(second);
}

int main(void)
{
    watchdog_begin(0);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        early_kind = &kinds[i];
        if (kinds[i].wait != wait_queued)
            with_each_backend(test_early);
    }
    with_each_backend(test_shared);
    with_each_backend(test_private);
    with_each_backend(test_later);
    return done_testing();
}
