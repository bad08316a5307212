/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and descriptors that are registered: the same data as ever, used where they can be, and release in time. */
#include <stdatomic.h>
#include <sys/mman.h>
#include "io.h"

enum { SIZE = 65536, PIECE = 512, GUARD = 4096 };

static char *memory; /* SIZE bytes, mapped, and a page behind them that nobody may touch */
static int file;     /* SIZE bytes, each as byte_at says */

static char byte_at(unsigned offset)
{
    return (char)(offset * 7 + offset / 256);
}

static bool is_piece(const char *buf, unsigned offset, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        if (buf[i] != byte_at(offset + i))
            return false;
    }
    return true;
}

static int make_file(bool turned)
{
    char bytes[SIZE];
    FILE *made = tmpfile();

    for (unsigned i = 0; i < SIZE; i++)
        bytes[i] = turned ? (char)~byte_at(i) : byte_at(i);
    int fd = dup(fileno(made));
    fclose(made);
    if (pwrite(fd, bytes, SIZE, 0) != SIZE)
        bail_out("a file cannot be written");
    return fd;
}

static char *map(void *where, size_t size, int prot)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0);
    char *mapped = mmap(where, size, prot, flags, -1, 0);
    if (mapped == MAP_FAILED)
        bail_out("mmap");
    return mapped;
}

/* The same addresses are other pages then. */
static void renew_memory(void)
{
    map(memory, SIZE, PROT_READ | PROT_WRITE);
}

static abtio_info info_now(void)
{
    abtio_info info;
    must(abtio_get_info(&info));
    return info;
}

static bool has_rings(void)
{
    return info_now().backend == ABTIO_BACKEND_IO_URING;
}

/* ---- Each call, in what is registered and beside it ------------------------------------------------------------ */

static void reads(void)
{
    char *end = memory + SIZE, other[PIECE];
    abtio_op *op;

    abtio_info before = info_now();
    is_int(abtio_pread(file, memory, PIECE, 100, ABTIO_FOREVER), PIECE, "%s: pread", backend_name);
    ok(is_piece(memory, 100, PIECE), "at the begin of the memory");
    is_int(abtio_pread_all(file, end - PIECE, PIECE, 200, ABTIO_FOREVER), PIECE, "pread_all");
    ok(is_piece(end - PIECE, 200, PIECE), "at its end");
    is_int(lseek(file, 300, SEEK_SET), 300, "lseek");
    is_int(abtio_read(file, memory + 1, PIECE, ABTIO_FOREVER), PIECE, "read");
    is_int(abtio_read_all(file, memory + PIECE + 1, PIECE, ABTIO_FOREVER), PIECE, "read_all");
    ok(is_piece(memory + 1, 300, 2 * PIECE), "one behind the other");
    is_int(abtio_pread_nb(file, memory, SIZE, 0, ABTIO_FOREVER, &op), 0, "pread_nb");
    is_int(abtio_op_wait(op), SIZE, "all of it");
    ok(is_piece(memory, 0, SIZE), "is right");
    abtio_op_free(&op);
    abtio_info now = info_now();
    is_int((int)(now.num_in_memory - before.num_in_memory), has_rings() ? 5 : 0, "reads in the memory");
    is_int((int)(now.num_on_files - before.num_on_files), has_rings() ? 5 : 0, "reads of the descriptor");
    is_int(abtio_pread(file, other, PIECE, 400, ABTIO_FOREVER), PIECE, "pread beside the memory");
    ok(is_piece(other, 400, PIECE), "is right");
    is_int(abtio_pread(file, end - PIECE + 1, PIECE, 0, ABTIO_FOREVER), PIECE - 1, "pread over its end");
    is_int(abtio_pread(file, memory, 0, 0, ABTIO_FOREVER), 0, "pread of nothing");
    is_int((int)(info_now().num_in_memory - now.num_in_memory), 0, "none of them in the memory");
    is_int(abtio_pread(file, memory, PIECE, SIZE, ABTIO_FOREVER), 0, "pread at the end of the file");
}

static void writes(void)
{
    char back[PIECE];
    struct iovec iov = {memory, PIECE};
    abtio_info before = info_now();

    memset(memory, 'w', PIECE);
    is_int(abtio_pwrite(file, memory, PIECE, PIECE, ABTIO_FOREVER), PIECE, "%s: pwrite", backend_name);
    is_int(abtio_pwrite_all(file, memory, PIECE, 2 * PIECE, ABTIO_FOREVER), PIECE, "pwrite_all");
    is_int(lseek(file, 3 * PIECE, SEEK_SET), 3 * PIECE, "lseek");
    is_int(abtio_write(file, memory, PIECE, ABTIO_FOREVER), PIECE, "write");
    is_int(abtio_write_all(file, memory, PIECE, ABTIO_FOREVER), PIECE, "write_all");
    is_int((int)(info_now().num_in_memory - before.num_in_memory), has_rings() ? 4 : 0, "writes in the memory");
    is_int(abtio_pwritev(file, &iov, 1, 5 * PIECE, 0, ABTIO_FOREVER), PIECE, "pwritev");
    is_int(abtio_fdatasync(file, ABTIO_FOREVER), 0, "fdatasync");
    is_int((int)(info_now().num_on_files - before.num_on_files), has_rings() ? 6 : 0, "and on the descriptor");
    for (int i = 1; i <= 5; i++) {
        if (pread(file, back, PIECE, i * PIECE) != PIECE || memcmp(back, memory, PIECE) != 0)
            fail("what was written at %d is wrong", i * PIECE);
    }
    struct statx st;
    is_int(abtio_statx(file, "", AT_EMPTY_PATH, STATX_SIZE, &st, ABTIO_FOREVER), 0, "statx of the descriptor");
    is_int(abtio_fallocate(file, 0, 0, SIZE, ABTIO_FOREVER), 0, "fallocate");
}

static void sockets(void)
{
    int fds[2];
    char byte = 0;

    make_pair(fds);
    is_int(abtio_register_file(fds[0]), 0, "%s: register a socket", backend_name);
    is_int(abtio_register_file(fds[1]), 0, "and its peer");
    let_stream_look();
    abtio_info before = info_now();
    is_int(abtio_recv(fds[0], &byte, 1, MSG_DONTWAIT, ABTIO_FOREVER), -EAGAIN, "nothing to receive yet");
    is_int(abtio_recv(fds[0], &byte, 1, 0, abtio_after(MS)), -ETIMEDOUT, "nor until a deadline");
    is_int(abtio_send(fds[1], "s", 1, 0, ABTIO_FOREVER), 1, "send");
    is_int(abtio_poll(fds[0], POLLIN, ABTIO_FOREVER), POLLIN, "poll");
    is_int(abtio_recv(fds[0], &byte, 1, 0, ABTIO_FOREVER), 1, "recv");
    is_int(byte, 's', "what was sent");
    memory[0] = 'm';
    is_int(abtio_write(fds[0], memory, 1, ABTIO_FOREVER), 1, "write");
    is_int(abtio_read_all(fds[1], memory + 1, 1, ABTIO_FOREVER), 1, "read_all");
    is_int(memory[1], 'm', "what was written");
    int grown = (int)(info_now().num_on_files - before.num_on_files);
    ok(has_rings() ? grown >= 7 : grown == 0, "all on the descriptors: %d", grown);
    for (int i = 0; i < 2; i++) {
        is_int(abtio_unregister_file(fds[i]), 0, "unregister");
        close(fds[i]);
    }
}

static void calls(void *arg)
{
    is_int(abtio_register_memory(memory, SIZE), 0, "%s: register memory", backend_name);
    is_int(abtio_register_file(file), 0, "register a file");
    let_stream_look();
    reads();
    writes();
    sockets();
    is_int(abtio_unregister_memory(memory), 0, "unregister the memory");
    is_int(abtio_unregister_file(file), 0, "and the file");
}

/* ---- What the calls refuse ------------------------------------------------------------------------------------- */

static void errors(void *arg)
{
    int wrong = 0;

    is_int(abtio_register_memory(memory, 0), -EINVAL, "%s: no memory", backend_name);
    is_int(abtio_register_memory(NULL, 1), -EINVAL, "a null pointer");
    is_int(abtio_register_memory(memory, SIZE_MAX), -EINVAL, "more than there is");
    is_int(abtio_register_memory(memory, ((size_t)1 << 30) + 1), -EFBIG, "too much");
    for (int i = 0; i < 64; i++)
        wrong += abtio_register_memory(memory + i * 64, 64) != 0;
    is_int(wrong, 0, "64 ranges");
    is_int(abtio_register_memory(memory + 64, 128), -EEXIST, "one of them again");
    is_int(abtio_register_memory(memory + 64 * 64, 64), -ENOSPC, "one more");
    is_int(abtio_unregister_memory(memory + 1), -ENOENT, "unregister in the midst of one");
    for (int i = 0; i < 64; i++)
        wrong += abtio_unregister_memory(memory + i * 64) != 0;
    is_int(wrong, 0, "all are unregistered");
    is_int(abtio_register_file(-1), -EBADF, "no descriptor");
    is_int(abtio_register_file(4096), -ENOSPC, "too large a descriptor");
    is_int(abtio_register_file(file), 0, "a file");
    is_int(abtio_register_file(file), -EEXIST, "the same again");
    is_int(abtio_unregister_file(file), 0, "unregister it");
    is_int(abtio_unregister_file(file), -ENOENT, "once more");
    is_int(abtio_unregister_file(-1), -ENOENT, "no descriptor");
    is_int(abtio_unregister_file(1 << 20), -ENOENT, "too large a descriptor");
    is_int(abtio_register_file(4095), 0, "a descriptor that is not open");
    let_stream_look();
    is_int(abtio_pread(4095, memory, 1, 0, ABTIO_FOREVER), -EBADF, "stays so");
    ok(info_now().num_refused == has_rings(), "a ring could not get it");
    is_int(abtio_unregister_file(4095), 0, "unregister it");
}

/* ---- Taken out and used anew ----------------------------------------------------------------------------------- */

/* The same address and the same number are other pages and another file at the next operation. */
static void used_anew(void *arg)
{
    int other = make_file(true), fd = dup(file), wrong = 0;

    for (int round = 0; round < 50; round++) {
        must(abtio_register_memory(memory, SIZE));
        must(abtio_register_file(fd));
        if (round % 2)
            let_stream_look();
        wrong += abtio_pread(fd, memory, PIECE, 4096, ABTIO_FOREVER) != PIECE || !is_piece(memory, 4096, PIECE);
        must(abtio_unregister_memory(memory));
        must(abtio_unregister_file(fd));
        renew_memory();
        if (dup2(round % 2 ? file : other, fd) != fd)
            bail_out("dup2");
        if (round % 3) { /* the ring learns of both at once */
            must(abtio_register_memory(memory, SIZE));
            must(abtio_register_file(fd));
        }
        if (round % 3 == 2)
            let_stream_look();
        wrong += abtio_pread(fd, memory, PIECE, 8192, ABTIO_FOREVER) != PIECE;
        for (int i = 0; i < PIECE; i++)
            memory[i] = round % 2 ? memory[i] : (char)~memory[i];
        wrong += !is_piece(memory, 8192, PIECE);
        if (round % 3) {
            must(abtio_unregister_memory(memory));
            must(abtio_unregister_file(fd));
        }
        renew_memory();
        dup2(file, fd);
    }
    is_int(wrong, 0, "%s: what is unregistered is used anew", backend_name);
    close(other);
    close(fd);
}

/* ---- More changes and fewer between two polls ------------------------------------------------------------------ */

enum { KNOWN = 100 };

/* How many of the descriptors do not read what their file has. */
static int read_each(const int *fds, const bool *turned)
{
    int wrong = 0;
    char buf[PIECE];

    for (int i = 0; i < KNOWN; i++) {
        wrong += abtio_pread(fds[i], buf, PIECE, i * 16, ABTIO_FOREVER) != PIECE;
        for (int at = 0; at < PIECE; at++)
            buf[at] = turned[i] ? (char)~buf[at] : buf[at];
        wrong += !is_piece(buf, (unsigned)i * 16, PIECE);
    }
    return wrong;
}

/* A ring that is behind by few changes goes by these, and by all that there is when it has missed some. */
static void changes(void *arg)
{
    static const int nums[] = {1, 31, 32, 33, KNOWN, 2, 5 * KNOWN}; /* each is two changes */
    int other = make_file(true), fds[KNOWN], at = 0;
    bool turned[KNOWN] = {false};

    for (int i = 0; i < KNOWN; i++) {
        fds[i] = dup(file);
        must(abtio_register_file(fds[i]));
    }
    let_stream_look();
    is_int(read_each(fds, turned), 0, "%s: as many are known at once", backend_name);
    for (unsigned n = 0; n < sizeof(nums) / sizeof(nums[0]); n++) {
        for (int i = 0; i < nums[n]; i++, at = (at + 1) % KNOWN) {
            must(abtio_unregister_file(fds[at]));
            turned[at] = !turned[at];
            dup2(turned[at] ? other : file, fds[at]);
            must(abtio_register_file(fds[at]));
        }
        let_stream_look();
        abtio_info before = info_now();
        is_int(read_each(fds, turned), 0, "%d others at a time", nums[n]);
        is_int((int)(info_now().num_on_files - before.num_on_files), has_rings() ? KNOWN : 0, "all are known");
    }
    for (int i = 0; i < KNOWN; i++) {
        must(abtio_unregister_file(fds[i]));
        close(fds[i]);
    }
    close(other);
}

/* ---- Taken out while operations are under way ------------------------------------------------------------------ */

static void in_flight(void *arg)
{
    enum { MANY = 20 };
    static abtio_op *ops[MANY];
    int fds[MANY][2], wrong = 0;

    for (int i = 0; i < MANY; i++) {
        make_pair(fds[i]);
        must(abtio_register_file(fds[i][0]));
    }
    must(abtio_register_memory(memory, SIZE));
    let_stream_look();
    abtio_info before = info_now();
    for (int i = 0; i < MANY; i++)
        must(abtio_read_nb(fds[i][0], memory + i * PIECE, PIECE, ABTIO_FOREVER, &ops[i]));
    ok(info_now().num_in_memory - before.num_in_memory == (has_rings() ? MANY : 0), "%s: reads begin", backend_name);
    for (int i = 0; i < MANY; i++) { /* some that the kernel has been informed of, and some that it has not */
        if (i == MANY / 2)
            let_stream_look();
        must(abtio_unregister_file(fds[i][0]));
    }
    must(abtio_unregister_memory(memory));
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0) {
            wrong += abtio_cancel(ops[i]) != 0;
        } else {
            wrong += write(fds[i][1], "flight", 6) != 6;
            wrong += abtio_op_wait(ops[i]) != 6 || memcmp(memory + i * PIECE, "flight", 6) != 0;
        }
        abtio_op_free(&ops[i]);
        close(fds[i][0]);
        close(fds[i][1]);
    }
    is_int(wrong, 0, "they are done, or cancelled, when that is taken out");
}

/* ---- Several streams ------------------------------------------------------------------------------------------- */

enum { STREAMS = 3, UNITS = 24, TIMES = 100 };

static atomic_int stream_wrong, num_at_work;
static int word_fd;

static void at_work(void *arg)
{
    int me = *(int *)arg;
    char *place = memory + me * PIECE;

    for (int i = 0; i < TIMES; i++) {
        unsigned offset = (unsigned)(me * 1000 + i * 37) % (SIZE - PIECE);
        if (abtio_pread(file, place, PIECE, offset, ABTIO_FOREVER) != PIECE || !is_piece(place, offset, PIECE))
            atomic_fetch_add(&stream_wrong, 1);
    }
    atomic_fetch_sub(&num_at_work, 1);
}

static void reads_word(void *arg)
{
    char *place = memory + *(int *)arg * PIECE;

    if (abtio_read(word_fd, place, 4, ABTIO_FOREVER) != 4 || memcmp(place, "word", 4) != 0)
        atomic_fetch_add(&stream_wrong, 1);
    let_stream_look();
}

/* Units of several streams read, while the primary one takes things out and puts them in again. */
static void together(ABT_pool pool)
{
    ABT_thread units[UNITS];
    int ids[UNITS];

    atomic_store(&num_at_work, UNITS);
    for (int i = 0; i < UNITS; i++) {
        ids[i] = i;
        must(ABT_thread_create(pool, at_work, &ids[i], ABT_THREAD_ATTR_NULL, &units[i]));
    }
    while (atomic_load(&num_at_work) > 0) {
        abtio_sleep(MS / 5, ABTIO_FOREVER);
        must(abtio_unregister_memory(memory));
        must(abtio_unregister_file(file));
        must(abtio_register_file(file));
        must(abtio_register_memory(memory, SIZE));
    }
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_free(&units[i]));
    is_int(stream_wrong, 0, "%s: streams read the right bytes", backend_name);
}

/* Streams that hold a descriptor, and sleep, release it: only then does the other end see that. */
static void let_go(ABT_pool pool)
{
    ABT_thread units[UNITS];
    int ids[UNITS], ends[2];
    char byte;

    if (pipe(ends) < 0)
        bail_out("pipe");
    must(abtio_register_file(ends[0]));
    must(abtio_register_file(ends[1]));
    word_fd = ends[0];
    for (int i = 0; i < UNITS; i++) {
        ids[i] = i;
        must(ABT_thread_create(pool, reads_word, &ids[i], ABT_THREAD_ATTR_NULL, &units[i]));
    }
    for (int i = 0; i < UNITS; i++)
        is_int(abtio_write(ends[1], "word", 4, ABTIO_FOREVER), 4, "write to a unit");
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_free(&units[i]));
    is_int(stream_wrong, 0, "%s: it has got it", backend_name);
    abtio_sleep(5 * MS, ABTIO_FOREVER); /* the other streams sleep in their rings */
    must(abtio_unregister_file(ends[1]));
    close(ends[1]);
    is_int(abtio_read(ends[0], &byte, 1, abtio_after(20000 * MS)), 0, "the end of a pipe is seen");
    must(abtio_unregister_file(ends[0]));
    close(ends[0]);
}

static void streams(void)
{
    ABT_pool pool;
    ABT_xstream others[STREAMS];

    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_FALSE, &pool));
    must(abtio_register_memory(memory, SIZE));
    must(abtio_register_file(file));
    abtio_info before = info_now();
    for (int i = 0; i < STREAMS; i++) /* made after the registration */
        must(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &others[i]));
    together(pool);
    let_go(pool);
    abtio_info now = info_now();
    ok(!has_rings() || (now.num_in_memory > before.num_in_memory && now.num_on_files > before.num_on_files),
       "%s: streams that are made later use both", backend_name);
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_xstream_join(others[i]));
        must(ABT_xstream_free(&others[i]));
    }
    must(ABT_pool_free(&pool));
    abtio_info end = info_now();
    ok(end.num_in_memory >= now.num_in_memory && end.num_on_files >= now.num_on_files, "counts outlive their streams");
    /* This and the memory are for abtio_finalize. */
}

static void tests(void)
{
    file = make_file(false);
    memory = map(NULL, SIZE + GUARD, PROT_NONE);
    renew_memory();
    in_ult(errors, NULL);
    in_ult(calls, NULL);
    close(file);
    file = make_file(false);
    in_ult(used_anew, NULL);
    in_ult(changes, NULL);
    in_ult(in_flight, NULL);
    streams();
    close(file);
}

int main(void)
{
    watchdog_begin(0);
    is_int(abtio_register_memory(&memory, 1), -ENOTCONN, "not begun");
    is_int(abtio_unregister_memory(&memory), -ENOTCONN, "not begun");
    is_int(abtio_register_file(0), -ENOTCONN, "not begun");
    is_int(abtio_unregister_file(0), -ENOTCONN, "not begun");
    with_each_backend(tests);
    return done_testing();
}
