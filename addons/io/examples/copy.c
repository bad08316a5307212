/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies a file in parts, several at a time, and shows how far it is. Each copier is a ULT that takes the next part,
 * reads it and writes it; one more ULT looks at the count now and then, while all of them wait for the disk.
 *
 *     copy [-j COPIERS] [-q] FROM TO
 */
#include <abt.h>
#include <abtio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifndef STATX_BASIC_STATS
#include <linux/stat.h> /* where the C library does not have it */
#endif
#include <unistd.h>

enum { PART = 1 << 20, MAX_COPIERS = 256 };

static int from, to;
static int64_t size;
/* Relaxed: they count parts and bytes; nothing else is read because of them but after the joins. */
static _Atomic(int64_t) next_offset, copied;
static _Atomic(int) error; /* of the first copier that failed; 0: none */

static void expect(long result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "copy: %s: %s\n", what, result < 0 ? strerror((int)-result) : "failed");
        exit(1);
    }
}

/* Copies the part at an offset: 0 or -errno. */
static int copy_part(void *buffer, int64_t offset)
{
    size_t wanted = size - offset < PART ? (size_t)(size - offset) : PART;
    ssize_t got = abtio_pread_all(from, buffer, wanted, offset, ABTIO_FOREVER);
    if (got < 0)
        return (int)got;
    if ((size_t)got < wanted)
        return -EIO; /* the file has become shorter */
    ssize_t put = abtio_pwrite_all(to, buffer, wanted, offset, ABTIO_FOREVER);
    if (put < 0)
        return (int)put;
    atomic_fetch_add_explicit(&copied, put, memory_order_relaxed);
    return 0;
}

static void copy_parts(void *arg)
{
    (void)arg;
    void *buffer = malloc(PART);
    int status = buffer ? 0 : -ENOMEM;
    while (status == 0 && atomic_load_explicit(&error, memory_order_relaxed) == 0) {
        int64_t offset = atomic_fetch_add_explicit(&next_offset, PART, memory_order_relaxed);
        if (offset >= size)
            break;
        status = copy_part(buffer, offset);
    }
    if (status != 0)
        atomic_store_explicit(&error, status, memory_order_relaxed);
    free(buffer);
}

static void show(void)
{
    int64_t now = atomic_load_explicit(&copied, memory_order_relaxed);
    fprintf(stderr, "\r%3d %% of %lld MiB", size ? (int)(100 * now / size) : 100, (long long)(size >> 20));
}

/* Shows the progress ten times a second, until the operation is cancelled that stands for the work. */
static void show_progress(void *arg)
{
    abtio_op *work = arg;
    while (abtio_op_wait_any(1, &work, abtio_after(100000000)) == -ETIMEDOUT)
        show();
    show();
    fputc('\n', stderr);
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

/* Opens both files; the second one gets the size and the mode of the first. */
static void open_files(const char *source, const char *target)
{
    struct statx old, new;
    from = abtio_openat(AT_FDCWD, source, O_RDONLY | O_CLOEXEC, 0, ABTIO_FOREVER);
    expect(from < 0 ? from : 0, source);
    expect(abtio_statx(from, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &old, ABTIO_FOREVER), source);
    expect(S_ISREG(old.stx_mode) ? 0 : -EINVAL, source);
    size = (int64_t)old.stx_size;
    to = abtio_openat(AT_FDCWD, target, O_WRONLY | O_CREAT | O_CLOEXEC, old.stx_mode & 0777, ABTIO_FOREVER);
    expect(to < 0 ? to : 0, target);
    expect(abtio_statx(to, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &new, ABTIO_FOREVER), target);
    if (old.stx_ino == new.stx_ino && old.stx_dev_major == new.stx_dev_major &&old.stx_dev_minor == new.stx_dev_minor)
        expect(-EEXIST, "both names are one file"); /* before it loses what it holds */
    expect(abtio_ftruncate(to, 0, ABTIO_FOREVER), target);
    expect(abtio_ftruncate(to, size, ABTIO_FOREVER), target);
}

static void copy_all(int num_copiers, bool is_quiet)
{
    static ABT_thread copiers[MAX_COPIERS];
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread progress = ABT_THREAD_NULL;
    abtio_op *work;
    expect(ABT_xstream_self(&stream), "ABT_xstream_self");
    expect(ABT_xstream_get_main_pools(stream, 1, &pool), "ABT_xstream_get_main_pools");
    expect(abtio_sleep_nb(INT64_MAX, ABTIO_FOREVER, &work), "abtio_sleep_nb");
    if (!is_quiet)
        expect(ABT_thread_create(pool, show_progress, work, ABT_THREAD_ATTR_NULL, &progress), "ABT_thread_create");
    for (int i = 0; i < num_copiers; i++)
        expect(ABT_thread_create(pool, copy_parts, NULL, ABT_THREAD_ATTR_NULL, &copiers[i]), "ABT_thread_create");
    for (int i = 0; i < num_copiers; i++)
        expect(ABT_thread_free(&copiers[i]), "ABT_thread_free");
    abtio_cancel(work);
    if (!is_quiet)
        expect(ABT_thread_free(&progress), "ABT_thread_free");
    abtio_op_free(&work);
}

int main(int argc, char **argv)
{
    int num_copiers = 8;
    bool is_quiet = false, is_good = true;
    for (int option; (option = getopt(argc, argv, "j:q")) != -1;) {
        switch (option) {
        case 'j': num_copiers = atoi(optarg); break;
        case 'q': is_quiet = true; break;
        default: is_good = false;
        }
    }
    if (!is_good || optind != argc - 2 || num_copiers < 1 || num_copiers > MAX_COPIERS) {
        fprintf(stderr, "usage: copy [-j COPIERS] [-q] FROM TO\n");
        return 2;
    }
    expect(ABT_init(0, NULL), "ABT_init");
    expect(abtio_init(NULL), "abtio_init");
    open_files(argv[optind], argv[optind + 1]);
    copy_all(num_copiers, is_quiet);
    expect(error, "copying");
    expect(abtio_close(to, ABTIO_FOREVER), argv[optind + 1]);
    abtio_close(from, ABTIO_FOREVER);
    expect(abtio_finalize(), "abtio_finalize");
    expect(ABT_finalize(), "ABT_finalize");
    return 0;
}
