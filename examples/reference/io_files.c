/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a ULT read and write files, so that its stream runs others meanwhile? By the calls of POSIX with abtio_ in
 * front and a deadline behind. They return what those return, or a negative error number.
 *
 *   cc io_files.c $(pkg-config --cflags --libs abtio argobots) -o io_files
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 8, SIZE = 1024 };

static int file, wrong;

static ssize_t must(ssize_t result)
{
    if (result < 0)
        printf("%s\n", strerror((int)-result));
    wrong += result < 0;
    return result;
}

/* Each unit writes and reads its record, at its place in the file. */
static void writes_record(void *arg)
{
    int me = *(int *)arg;
    char record[SIZE], back[SIZE];
    memset(record, 'a' + me, SIZE);
    must(abtio_pwrite_all(file, record, SIZE, (off_t)me * SIZE, ABTIO_FOREVER)); /* all, or an error */
    must(abtio_pread_all(file, back, SIZE, (off_t)me * SIZE, ABTIO_FOREVER));
    wrong += memcmp(record, back, SIZE) != 0;
}

/* Lists of buffers: a head and a body in one call. */
static void lists(void)
{
    char head[4] = "head", body[4] = "body", all[8];
    struct iovec out[] = {{head, 4}, {body, 4}}, in[] = {{all, 3}, {all + 3, 5}};
    wrong += must(abtio_pwritev(file, out, 2, 0, 0, ABTIO_FOREVER)) != 8;
    wrong += must(abtio_preadv(file, in, 2, 0, 0, ABTIO_FOREVER)) != 8 || memcmp(all, "headbody", 8) != 0;
    wrong += must(abtio_pwrite(file, "HEAD", 4, 0, ABTIO_FOREVER)) != 4;
    wrong += must(abtio_pread(file, all, 8, 0, ABTIO_FOREVER)) != 8 || memcmp(all, "HEADbody", 8) != 0;
}

/* A pipe has no places: what one writes the other reads. It waits, and the stream does not. */
static void reads_pipe(void *arg)
{
    char word[6] = "", rest[6] = "";
    must(abtio_read(*(int *)arg, word, 5, ABTIO_FOREVER)); /* what there is, up to 5 */
    must(abtio_read_all(*(int *)arg, rest, 5, ABTIO_FOREVER));
    printf("%s %s\n", word, rest);
    wrong += strcmp(word, "hello") != 0 || strcmp(rest, "world") != 0;
}

static void pipes(ABT_pool pool)
{
    ABT_thread unit;
    char nine[9];
    int ends[2];
    if (pipe(ends) != 0)
        return;
    ABT_thread_create(pool, reads_pipe, &ends[0], ABT_THREAD_ATTR_NULL, &unit);
    must(abtio_write(ends[1], "hello", 5, ABTIO_FOREVER));
    must(abtio_write_all(ends[1], "world", 5, ABTIO_FOREVER));
    ABT_thread_free(&unit);
    /* From a file to a pipe, without a buffer of the program. */
    wrong += must(abtio_splice(file, 0, ends[1], -1, 8, 0, ABTIO_FOREVER)) != 8;
    /* A ninth byte does not come within a millisecond. */
    wrong += abtio_read_all(ends[0], nine, 9, abtio_after(1000000)) != -ETIMEDOUT || abtio_moved() != 8;
    abtio_close(ends[0], ABTIO_FOREVER);
    abtio_close(ends[1], ABTIO_FOREVER);
}

int main(int argc, char **argv)
{
    char name[] = "/tmp/io_files-XXXXXX";
    ABT_pool pool;
    ABT_thread units[RECORDS];
    int ids[RECORDS];

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0)
        return 1;
    ABT_self_get_last_pool(&pool);
    file = (int)must(abtio_mkostemp(name, O_CLOEXEC, ABTIO_FOREVER)); /* a new file, whose name is stored */
    for (int i = 0; i < RECORDS; i++) {
        ids[i] = i;
        ABT_thread_create(pool, writes_record, &ids[i], ABT_THREAD_ATTR_NULL, &units[i]);
    }
    for (int i = 0; i < RECORDS; i++)
        ABT_thread_free(&units[i]);
    must(abtio_fdatasync(file, ABTIO_FOREVER)); /* the data is on the disk now */
    must(abtio_fsync(file, ABTIO_FOREVER));     /* and all that belongs to the file */
    lists();
    pipes(pool);
    must(abtio_close(file, ABTIO_FOREVER));
    must(abtio_unlinkat(AT_FDCWD, name, 0, ABTIO_FOREVER));
    abtio_finalize();
    ABT_finalize();
    printf("%d records were written and read\n", RECORDS);
    return wrong != 0;
}
