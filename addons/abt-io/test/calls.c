/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of abt-io.h: what each does, what it tells, and that no operation gets lost. */
#include "abt-io.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "must.h"
#include "tap.h"
#include "watchdog.h"

enum { MANY = 200 };

static abt_io_instance_id instance;
static char directory[] = "/tmp/abt-io-XXXXXX";
static char path[64], other[64];

/* Waits for an operation and frees it. */
static void wait_for(abt_io_op_t *op)
{
    if (ok(op != NULL, "the operation begins")) {
        is_int(abt_io_op_wait(op), 0, "abt_io_op_wait");
        abt_io_op_free(op);
    }
}

static void calls(void *arg)
{
    char text[16] = "";
    struct stat status;
    struct statfs fs;

    int fd = abt_io_open(instance, path, O_CREAT | O_EXCL | O_RDWR, 0600);
    ok(fd >= 0, "open");
    is_int(abt_io_open(instance, path, O_CREAT | O_EXCL | O_RDWR, 0600), -EEXIST, "open of what is there");
    is_int(abt_io_write(instance, fd, "hello", 5), 5, "write");
    is_int(abt_io_pwrite(instance, fd, "J", 1, 0), 1, "pwrite");
    is_int(abt_io_pwrite(instance, fd, "J", 1, -1), -EINVAL, "pwrite before the begin");
    is_int(abt_io_pread(instance, fd, text, sizeof(text), 1), 4, "pread");
    is_str(text, "ello", "what pread reads");
    is_int(abt_io_pread(instance, fd, text, sizeof(text), -1), -EINVAL, "pread before the begin");
    is_int(abt_io_lseek(instance, fd, 2, SEEK_SET), 2, "lseek from the begin");
    is_int(abt_io_lseek(instance, fd, -1, SEEK_CUR), 1, "lseek from the position");
    is_int(abt_io_read(instance, fd, text, 2), 2, "read");
    ok(!memcmp(text, "el", 2), "what read reads");
    is_int(abt_io_lseek(instance, fd, -1, SEEK_END), 4, "lseek from the end");
    is_int(abt_io_lseek(instance, fd, -1, SEEK_SET), -EINVAL, "lseek before the begin");
    is_int(abt_io_fdatasync(instance, fd), 0, "fdatasync");
    is_int(abt_io_fallocate(instance, fd, 0, 0, 100), 0, "fallocate");
    is_int(abt_io_stat(instance, path, &status), 0, "stat");
    is_int(status.st_size, 100, "the size after fallocate");
    is_int(abt_io_ftruncate(instance, fd, 50), 0, "ftruncate");
    is_int(abt_io_stat(instance, path, &status), 0, "stat");
    is_int(status.st_size, 50, "the size after ftruncate");
    is_int(abt_io_truncate(instance, path, 7), 0, "truncate");
    is_int(abt_io_stat(instance, path, &status), 0, "stat");
    is_int(status.st_size, 7, "the size after truncate");
    is_int(abt_io_truncate(instance, other, 7), -ENOENT, "truncate of nothing");
    is_int(abt_io_stat(instance, other, &status), -ENOENT, "stat of nothing");
    is_int(abt_io_statfs(instance, directory, &fs), 0, "statfs");
    ok(fs.f_bsize > 0, "statfs tells a block size");
    is_int(abt_io_statfs(instance, other, &fs), -ENOENT, "statfs of nothing");
    is_int(abt_io_close(instance, fd), 0, "close");
    is_int(abt_io_close(instance, fd), -EBADF, "close again");
    is_int(abt_io_read(instance, fd, text, 1), -EBADF, "read of what is closed");
    is_int(abt_io_fdatasync(instance, fd), -EBADF, "fdatasync of what is closed");
    is_int(abt_io_unlink(instance, path), 0, "unlink");
    is_int(abt_io_unlink(instance, path), -ENOENT, "unlink again");
    snprintf(other, sizeof(other), "%s/tXXXXXX", directory);
    fd = abt_io_mkostemp(instance, other, O_CLOEXEC);
    ok(fd >= 0 && access(other, R_OK) == 0, "mkostemp makes a file");
    abt_io_close(instance, fd);
    abt_io_unlink(instance, other);
    is_int(abt_io_get_pending_op_count(instance), 0, "nothing is under way");
}

static void started(void *arg)
{
    char text[16] = "";
    int fd = -7, result = -7;
    ssize_t size = -7;
    off_t place = -7;

    wait_for(abt_io_open_nb(instance, path, O_CREAT | O_RDWR, 0600, &fd));
    ok(fd >= 0, "open_nb");
    wait_for(abt_io_write_nb(instance, fd, "hello", 5, &size));
    is_int(size, 5, "write_nb");
    wait_for(abt_io_pwrite_nb(instance, fd, "JE", 2, 0, &size));
    is_int(size, 2, "pwrite_nb");
    wait_for(abt_io_pwrite_nb(instance, fd, "JE", 2, -1, &size));
    is_int(size, -EINVAL, "pwrite_nb before the begin");
    wait_for(abt_io_pread_nb(instance, fd, text, sizeof(text), 0, &size));
    is_int(size, 5, "pread_nb");
    is_str(text, "JEllo", "what pread_nb reads");
    wait_for(abt_io_lseek_nb(instance, fd, 4, SEEK_SET, &place));
    is_int(place, 4, "lseek_nb");
    wait_for(abt_io_read_nb(instance, fd, text, sizeof(text), &size));
    is_int(size, 1, "read_nb");
    wait_for(abt_io_fdatasync_nb(instance, fd, &result));
    is_int(result, 0, "fdatasync_nb");
    wait_for(abt_io_fallocate_nb(instance, fd, 0, 0, 100, &result));
    is_int(result, 0, "fallocate_nb");
    wait_for(abt_io_lseek_nb(instance, fd, 0, SEEK_END, &place));
    is_int(place, 100, "the size after fallocate_nb");
    wait_for(abt_io_ftruncate_nb(instance, fd, 9, &result));
    is_int(result, 0, "ftruncate_nb");
    wait_for(abt_io_lseek_nb(instance, fd, 0, SEEK_END, &place));
    is_int(place, 9, "the size after ftruncate_nb");
    result = -7;
    wait_for(abt_io_close_nb(instance, fd, &result));
    is_int(result, 0, "close_nb");
    wait_for(abt_io_close_nb(instance, fd, &result));
    is_int(result, -EBADF, "close_nb again");
    wait_for(abt_io_unlink_nb(instance, path, &result));
    is_int(result, 0, "unlink_nb");
    wait_for(abt_io_open_nb(instance, path, O_RDONLY, 0, &fd));
    is_int(fd, -ENOENT, "open_nb of nothing");
    snprintf(other, sizeof(other), "%s/tXXXXXX", directory);
    wait_for(abt_io_mkostemp_nb(instance, other, 0, &fd));
    ok(fd >= 0, "mkostemp_nb");
    close(fd);
    is_int(unlink(other), 0, "mkostemp_nb makes a file");
}

/* Operations that are informed of by the count, and that no caller waits for. */
static void counted(void *arg)
{
    int fds[2];
    char bytes[2] = "";
    ssize_t sizes[2] = {-7, -7};

    if (!ok(pipe(fds) == 0, "pipe"))
        return;
    abt_io_op_t *ops[2] = {abt_io_read_nb(instance, fds[0], &bytes[0], 1, &sizes[0]),
                           abt_io_read_nb(instance, fds[0], &bytes[1], 1, &sizes[1])};
    is_int(abt_io_get_pending_op_count(instance), 2, "two reads of an empty pipe are under way");
    is_int(write(fds[1], "x", 1), 1, "a byte for one of them");
    while (abt_io_get_pending_op_count(instance) == 2)
        ABT_thread_yield();
    is_int(sizes[0] + sizes[1], 1 - 7, "the count is stored when the result is there");
    is_int(write(fds[1], "x", 1), 1, "a byte for the other");
    while (abt_io_get_pending_op_count(instance) != 0)
        ABT_thread_yield();
    is_int(sizes[0] + sizes[1], 2, "both results are there");
    wait_for(ops[1]);
    wait_for(ops[0]);
    close(fds[0]);
    close(fds[1]);
}

/* Many at a time, waited for in another order than that of their begin; the last ones are only freed. */
static void many(void *arg)
{
    static char bytes[MANY];
    static ssize_t sizes[MANY];
    static abt_io_op_t *ops[MANY];

    int fd = abt_io_open(instance, path, O_CREAT | O_RDWR, 0600), good = 0;
    for (int i = 0; i < MANY; i++) {
        bytes[i] = (char)i;
        ops[i] = abt_io_pwrite_nb(instance, fd, &bytes[i], 1, i, &sizes[i]);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        if (i >= 20)
            abt_io_op_wait(ops[i]);
        abt_io_op_free(ops[i]);
        good += sizes[i] == 1;
    }
    is_int(good, MANY, "many writes at a time");
    memset(bytes, 0, sizeof(bytes));
    is_int(abt_io_pread(instance, fd, bytes, MANY, 0), MANY, "their bytes are read");
    good = 0;
    for (int i = 0; i < MANY; i++)
        good += bytes[i] == (char)i;
    is_int(good, MANY, "all are there");
    abt_io_close(instance, fd);
    abt_io_unlink(instance, path);
}

/* The end of the instance waits for what has begun; the handle outlives it. */
static void *write_later(void *arg)
{
    usleep(50000);
    return (void *)write(*(int *)arg, "x", 1);
}

static void finalize_waits(void *arg)
{
    int fds[2];
    char byte;
    ssize_t size = -7;
    pthread_t thread;

    if (!ok(pipe(fds) == 0, "pipe"))
        return;
    abt_io_instance_id second = abt_io_init(1);
    abt_io_op_t *op = abt_io_read_nb(second, fds[0], &byte, 1, &size);
    is_int(pthread_create(&thread, NULL, write_later, &fds[1]), 0, "a thread that writes later");
    abt_io_finalize(second);
    is_int(size, 1, "abt_io_finalize waits for what is under way");
    wait_for(op);
    pthread_join(thread, NULL);
    close(fds[0]);
    close(fds[1]);
}

static void in_ult(void (*body)(void *))
{
    ABT_pool pool = main_pool();
    ABT_thread thread = ult_in(pool, body, NULL);
    must(ABT_thread_free(&thread));
}

/* ---- Configurations ---------------------------------------------------------------------------------------------- */

/* What an instance says that is made by this text, or NULL if none is made; to be freed. */
static char *config_of(const char *text, ABT_pool pool)
{
    struct abt_io_init_info info = {.json_config = text, .progress_pool = pool};
    abt_io_instance_id made = abt_io_init_ext(&info);
    if (made == ABT_IO_INSTANCE_NULL)
        return NULL;
    char *config = abt_io_get_config(made);
    abt_io_finalize(made);
    return config;
}

static void try_config(const char *text, const char *expected, ABT_pool pool)
{
    char *config = config_of(text, pool), *again = config ? config_of(config, pool) : NULL;
    is_str(config, expected, "the configuration of %s", text ? text : "nothing");
    is_str(again, expected, "and of what that tells");
    free(config);
    free(again);
}

#define NO_POOL "{\"internal_pool_flag\":false,\"num_urings\":0,\"liburing_flags\":[]}"

static void configurations(void)
{
    ABT_pool pool;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
    try_config(NULL, NO_POOL, ABT_POOL_NULL);
    try_config("", NO_POOL, ABT_POOL_NULL);
    try_config("{\"backing_thread_count\": 0, \"unknown\": []}", NO_POOL, ABT_POOL_NULL);
    try_config("{\"backing_thread_count\": 16}",
               "{\"internal_pool_flag\":true,\"internal_pool\":{\"kind\":\"fifo_wait\",\"access\":\"mpmc\","
               "\"num_xstreams\":16},\"num_urings\":0,\"liburing_flags\":[]}",
               ABT_POOL_NULL);
    try_config("{\"backing_thread_count\": 16}", NO_POOL, pool);
    try_config("{\"internal_pool_flag\": 1, \"internal_pool\": {\"kind\": \"prio_wait\", \"access\": \"mpsc\","
               "\"num_xstreams\": 2}, \"num_urings\": 3, \"liburing_flags\": [\"IOSQE_ASYNC\"]}",
               "{\"internal_pool_flag\":true,\"internal_pool\":{\"kind\":\"prio_wait\",\"access\":\"mpsc\","
               "\"num_xstreams\":2},\"num_urings\":3,\"liburing_flags\":[\"IOSQE_ASYNC\"]}",
               ABT_POOL_NULL);
    try_config("{\"internal_pool_flag\": 0, \"internal_pool\": {\"num_xstreams\": 2}}", NO_POOL, ABT_POOL_NULL);
    static const char *const wrong[] = {
        "{",
        "[]",
        "7",
        "{\"backing_thread_count\": -1}",
        "{\"backing_thread_count\": \"1\"}",
        "{\"num_urings\": 1e3}",
        "{\"internal_pool_flag\": \"yes\"}",
        "{\"internal_pool\": 1}",
        "{\"internal_pool\": {\"kind\": \"lifo\"}}",
        "{\"internal_pool\": {\"access\": 1}}",
        "{\"internal_pool\": {\"num_xstreams\": 5000000000}}",
        "{\"liburing_flags\": 1}",
        "{\"liburing_flags\": [\"IOSQE_NEVER\"]}",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        is_ptr(config_of(wrong[i], ABT_POOL_NULL), NULL, "wrong: %s", wrong[i]);
    is_ptr(abt_io_init(-1), NULL, "a negative number of threads");
    abt_io_instance_id other_instance = abt_io_init_pool(pool);
    ok(other_instance != ABT_IO_INSTANCE_NULL, "abt_io_init_pool");
    abt_io_finalize(other_instance);
    must(ABT_pool_free(&pool));
}

int main(void)
{
    watchdog_begin(0);
    if (!mkdtemp(directory))
        bail_out("mkdtemp");
    snprintf(path, sizeof(path), "%s/f", directory);
    snprintf(other, sizeof(other), "%s/nothing", directory);
    is_ptr(abt_io_init(1), ABT_IO_INSTANCE_NULL, "no instance before ABT_init");
    must(ABT_init(0, NULL));
    instance = abt_io_init(2);
    if (ok(instance != ABT_IO_INSTANCE_NULL, "abt_io_init")) {
        in_ult(calls);
        in_ult(started);
        in_ult(counted);
        in_ult(many);
        in_ult(finalize_waits);
        configurations();
        abt_io_finalize(instance);
    }
    must(ABT_finalize());
    is_int(rmdir(directory), 0, "no file is left");
    return done_testing();
}
