/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I write and read many parts of files at once, in one ULT? Start all that do not depend on each other, and wait
 * for all of them; then the next step. What the arguments point to stays in place until an operation is done.
 *
 *   cc io_files_nb.c $(pkg-config --cflags --libs abtio argobots) -o io_files_nb
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 10 };

static abtio_op *ops[MOST];
static int count, operations, wrong;

/* Where the next handle goes. */
static abtio_op **next(void)
{
    return &ops[count++];
}

static void start(int code)
{
    wrong += code != 0; /* it has not been started */
}

/* Waits for all that have been started, and gives the result of the first one. */
static int finish(void)
{
    int first = 0;
    for (int i = 0; i < count; i++) {
        ssize_t result = abtio_op_wait(ops[i]);
        if (result < 0 && result != -EOPNOTSUPP) /* not all file systems can fallocate */
            printf("%s\n", strerror((int)-result)), wrong++;
        first = i == 0 ? (int)result : first;
        abtio_op_free(&ops[i]);
    }
    operations += count;
    count = 0;
    return first;
}

int main(int argc, char **argv)
{
    char name[] = "/tmp/io_files_nb-XXXXXX", directory[40], moved[60], all[20] = "", back[4], rest[8];
    struct iovec out = {(void *)"list", 4}, in = {back, 4};
    struct statx facts;
    int file, other, ends[2];

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0 || pipe(ends) != 0)
        return 1;
    snprintf(directory, sizeof(directory), "/tmp/io_files_nb-%ld", (long)getpid());
    snprintf(moved, sizeof(moved), "%s/moved", directory);
    start(abtio_mkostemp_nb(name, O_CLOEXEC, ABTIO_FOREVER, next()));
    start(abtio_mkdirat_nb(AT_FDCWD, directory, 0700, ABTIO_FOREVER, next()));
    file = finish();
    start(abtio_fallocate_nb(file, 0, 0, 4096, ABTIO_FOREVER, next()));
    start(abtio_write_all_nb(file, "old words", 9, ABTIO_FOREVER, next()));
    start(abtio_renameat_nb(AT_FDCWD, name, AT_FDCWD, moved, 0, ABTIO_FOREVER, next()));
    finish();

    /* Different places of the file, in any order. */
    start(abtio_pwrite_nb(file, "some", 4, 0, ABTIO_FOREVER, next()));
    start(abtio_pwritev_nb(file, &out, 1, 4, 0, ABTIO_FOREVER, next()));
    start(abtio_pwrite_all_nb(file, "words", 5, 8, ABTIO_FOREVER, next()));
    start(abtio_write_nb(ends[1], "pipe", 4, ABTIO_FOREVER, next()));
    finish();
    start(abtio_ftruncate_nb(file, 13, ABTIO_FOREVER, next()));
    finish();
    start(abtio_openat_nb(AT_FDCWD, moved, O_RDONLY | O_CLOEXEC, 0, ABTIO_FOREVER, next()));
    start(abtio_fsync_nb(file, ABTIO_FOREVER, next()));
    start(abtio_fdatasync_nb(file, ABTIO_FOREVER, next()));
    start(abtio_statx_nb(AT_FDCWD, moved, 0, STATX_SIZE, &facts, ABTIO_FOREVER, next()));
    other = finish();
    start(abtio_pread_all_nb(other, all, 4, 0, ABTIO_FOREVER, next()));
    start(abtio_preadv_nb(other, &in, 1, 4, 0, ABTIO_FOREVER, next()));
    start(abtio_pread_nb(other, all + 8, 5, 8, ABTIO_FOREVER, next()));
    start(abtio_read_nb(ends[0], rest, 4, ABTIO_FOREVER, next()));
    finish();
    memcpy(all + 4, back, 4);
    printf("%d bytes: %s\n", (int)facts.stx_size, all);

    start(abtio_splice_nb(file, 0, ends[1], -1, 8, 0, ABTIO_FOREVER, next()));
    start(abtio_read_all_nb(ends[0], rest, 8, ABTIO_FOREVER, next()));
    finish();
    start(abtio_close_nb(file, ABTIO_FOREVER, next()));
    start(abtio_close_nb(other, ABTIO_FOREVER, next()));
    start(abtio_unlinkat_nb(AT_FDCWD, moved, 0, ABTIO_FOREVER, next()));
    finish();
    start(abtio_unlinkat_nb(AT_FDCWD, directory, AT_REMOVEDIR, ABTIO_FOREVER, next()));
    finish();
    close(ends[0]);
    close(ends[1]);
    abtio_finalize();
    ABT_finalize();
    printf("%d operations\n", operations);
    return wrong || strcmp(all, "somelistwords") != 0 || memcmp(rest, "somelist", 8) != 0 || facts.stx_size != 13;
}
