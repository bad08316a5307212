/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes many files of random bytes past the page cache, as the program of figure 13 in the Argobots paper does: open,
 * write, close. While one writer's bytes go to the disk, another makes the next ones.
 *
 *     write_files WAY [FILES [KIB [STREAMS [WRITERS [DIRECTORY]]]]]
 *
 * WAY is io_uring or threads, ULTs that call libabtio with that backend; or pthreads, a native thread per writer that
 * makes the system calls itself. Prints a line of JSON; the files are removed afterwards, which is not counted.
 */
#include <abt.h>
#include <abtio.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MAX_STREAMS = 64, MAX_WRITERS = 4096, STACK = 64 << 10 };

static const char *directory = ".";
static int num_files = 64, num_streams = 1, num_writers = 64;
static size_t size = 1 << 20;
static int open_flags = O_CREAT | O_TRUNC | O_WRONLY | O_DIRECT;
static int is_native;        /* pthreads */
static atomic_int next_file; /* relaxed: only who takes which file hangs on it */

static void expect(long result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %s (%ld)\n", what, result < 0 ? strerror((int)-result) : "failed", result);
        exit(1);
    }
}

static void name_file(char name[256], int file)
{
    snprintf(name, 256, "%s/write_files-%d-%d", directory, (int)getpid(), file);
}

/* The three calls, in the POSIX form and in that of libabtio. */
static int open_file(const char *name)
{
    if (!is_native)
        return abtio_openat(AT_FDCWD, name, open_flags, 0600, ABTIO_FOREVER);
    int fd = open(name, open_flags, 0600);
    return fd >= 0 ? fd : -errno;
}

static ssize_t write_file(int fd, const void *bytes)
{
    if (!is_native)
        return abtio_pwrite_all(fd, bytes, size, 0, ABTIO_FOREVER);
    ssize_t written = pwrite(fd, bytes, size, 0);
    return written >= 0 ? written : -errno;
}

static int close_file(int fd)
{
    if (!is_native)
        return abtio_close(fd, ABTIO_FOREVER);
    return close(fd) == 0 ? 0 : -errno;
}

static void write_until_done(void *arg)
{
    (void)arg;
    void *bytes;
    expect(posix_memalign(&bytes, PAGE, size), "posix_memalign");
    for (int file; (file = atomic_fetch_add_explicit(&next_file, 1, memory_order_relaxed)) < num_files;) {
        char name[256];
        name_file(name, file);
        int fd = open_file(name);
        expect(fd < 0 ? fd : 0, "open");
        expect(RAND_bytes(bytes, (int)size) != 1, "RAND_bytes");
        ssize_t written = write_file(fd, bytes);
        expect(written < 0 ? written : written != (ssize_t)size, "write");
        expect(close_file(fd), "close");
    }
    free(bytes);
}

/* ---- Native threads ---------------------------------------------------------------------------------------------- */

static void *native_writer(void *arg)
{
    write_until_done(arg);
    return NULL;
}

static void run_native(void)
{
    static pthread_t threads[MAX_WRITERS];
    for (int i = 0; i < num_writers; i++)
        expect(-pthread_create(&threads[i], NULL, native_writer, NULL), "pthread_create");
    for (int i = 0; i < num_writers; i++)
        expect(-pthread_join(threads[i], NULL), "pthread_join");
}

/* ---- ULTs: all streams take them from one pool ------------------------------------------------------------------- */

static void run_ults(ABT_pool pool)
{
    static ABT_thread writers[MAX_WRITERS];
    ABT_thread_attr attr;
    expect(ABT_thread_attr_create(&attr), "ABT_thread_attr_create");
    expect(ABT_thread_attr_set_stacksize(attr, STACK), "ABT_thread_attr_set_stacksize"); /* OpenSSL wants some */
    for (int i = 0; i < num_writers; i++)
        expect(ABT_thread_create(pool, write_until_done, NULL, attr, &writers[i]), "ABT_thread_create");
    for (int i = 0; i < num_writers; i++)
        expect(ABT_thread_free(&writers[i]), "ABT_thread_free");
    ABT_thread_attr_free(&attr);
}

static void start_streams(ABT_pool pool, ABT_xstream streams[])
{
    expect(ABT_xstream_self(&streams[0]), "ABT_xstream_self");
    expect(ABT_xstream_set_main_sched_basic(streams[0], ABT_SCHED_DEFAULT, 1, &pool), "ABT_xstream_set_main_sched");
    for (int i = 1; i < num_streams; i++)
        expect(ABT_xstream_create_basic(ABT_SCHED_DEFAULT, 1, &pool, ABT_SCHED_CONFIG_NULL, &streams[i]),
               "ABT_xstream_create_basic");
}

static void end_streams(ABT_xstream streams[])
{
    expect(abtio_finalize(), "abtio_finalize");
    for (int i = 1; i < num_streams; i++) {
        expect(ABT_xstream_join(streams[i]), "ABT_xstream_join");
        expect(ABT_xstream_free(&streams[i]), "ABT_xstream_free");
    }
    expect(ABT_finalize(), "ABT_finalize");
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void report(const char *way, double wall, const struct rusage *before)
{
    struct rusage after;
    getrusage(RUSAGE_SELF, &after);
    double user = seconds_of(after.ru_utime) - seconds_of(before->ru_utime);
    double sys = seconds_of(after.ru_stime) - seconds_of(before->ru_stime);
    printf("{\"way\": \"%s\", \"streams\": %d, \"wall\": %.4f, \"user\": %.4f, \"system\": %.4f, "
           "\"mib_per_second\": %.1f}\n",
           way, num_streams, wall, user, sys, (double)num_files * (double)size / wall / (1 << 20));
}

static void remove_files(void)
{
    for (int file = 0; file < num_files; file++) {
        char name[256];
        name_file(name, file);
        unlink(name);
    }
}

static void read_arguments(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    is_native = !strcmp(way, "pthreads");
    if (argc > 7 || (!is_native && strcmp(way, "io_uring") != 0 && strcmp(way, "threads") != 0)) {
        fprintf(stderr, "usage: write_files io_uring|threads|pthreads "
                        "[FILES [KIB [STREAMS [WRITERS [DIRECTORY]]]]]\n");
        exit(2);
    }
    num_files = argc > 2 ? atoi(argv[2]) : num_files;
    size = argc > 3 ? (size_t)atoi(argv[3]) << 10 : size;
    num_streams = argc > 4 ? atoi(argv[4]) : num_streams;
    num_writers = argc > 5 ? atoi(argv[5]) : num_writers;
    directory = argc > 6 ? argv[6] : directory;
    expect(size == 0 || size % PAGE || num_streams < 1 || num_streams > MAX_STREAMS || num_writers < 1 ||
               num_writers > MAX_WRITERS,
           "the arguments");
}

/* Some file systems, as that of /dev/shm may be, have no O_DIRECT. */
static void try_direct(void)
{
    char name[256];
    name_file(name, 0);
    int fd = open(name, open_flags, 0600);
    if (fd < 0 && errno == EINVAL)
        open_flags &= ~O_DIRECT;
    if (fd >= 0)
        close(fd);
    unlink(name);
}

int main(int argc, char **argv)
{
    static ABT_xstream streams[MAX_STREAMS];
    ABT_pool pool = ABT_POOL_NULL;
    read_arguments(argc, argv);
    try_direct();
    if (!is_native) {
        abtio_config config = {.backend =
                                   strcmp(argv[1], "io_uring") != 0 ? ABTIO_BACKEND_THREADS : ABTIO_BACKEND_IO_URING};
        expect(ABT_init(0, NULL), "ABT_init");
        expect(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool), "ABT_pool_create_basic");
        start_streams(pool, streams);
        expect(abtio_init(&config), "abtio_init");
    }
    sync(); /* what was written before does not disturb */
    struct rusage before;
    getrusage(RUSAGE_SELF, &before);
    double start = seconds();
    if (is_native)
        run_native();
    else
        run_ults(pool);
    report(argv[1], seconds() - start, &before);
    remove_files();
    if (!is_native)
        end_streams(streams);
    return 0;
}
