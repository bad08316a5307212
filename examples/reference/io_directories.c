/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a ULT make, rename and remove files and directories? They too may wait for a disk or a network, and only the
 * ULT is suspended. Here a file is replaced so that others see the old one or the new one, and nothing in between.
 *
 *   cc io_directories.c $(pkg-config --cflags --libs abtio argobots) -o io_directories
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int must(int result)
{
    if (result < 0) {
        printf("%s\n", strerror(-result));
        exit(1);
    }
    return result;
}

/* Writes another file and renames it. */
static void replace(int directory, const char *name, const char *text)
{
    int file = must(abtio_openat(directory, "new", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600, ABTIO_FOREVER));
    int code = abtio_fallocate(file, 0, 0, 4096, ABTIO_FOREVER); /* room for it: an error now, and not later */
    if (code != -EOPNOTSUPP)                                     /* not all file systems can */
        must(code);
    must((int)abtio_write_all(file, text, strlen(text), ABTIO_FOREVER));
    must(abtio_ftruncate(file, (off_t)strlen(text), ABTIO_FOREVER)); /* no more than that */
    must(abtio_fsync(file, ABTIO_FOREVER));
    must(abtio_close(file, ABTIO_FOREVER));
    must(abtio_renameat(directory, "new", directory, name, 0, ABTIO_FOREVER));
}

int main(int argc, char **argv)
{
    char name[40];
    struct statx first, second;
    int directory, none;

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0)
        return 1;
    snprintf(name, sizeof(name), "/tmp/io_directories-%ld", (long)getpid());
    must(abtio_mkdirat(AT_FDCWD, name, 0700, ABTIO_FOREVER));
    directory = must(abtio_openat(AT_FDCWD, name, O_DIRECTORY | O_CLOEXEC, 0, ABTIO_FOREVER));
    replace(directory, "settings", "speed = 1\n");
    must(abtio_statx(directory, "settings", 0, STATX_SIZE | STATX_INO, &first, ABTIO_FOREVER));
    replace(directory, "settings", "speed = 1000\n");
    must(abtio_statx(directory, "settings", 0, STATX_SIZE | STATX_INO, &second, ABTIO_FOREVER));
    printf("%d bytes, and then %d, of another file\n", (int)first.stx_size, (int)second.stx_size);
    must(abtio_unlinkat(directory, "settings", 0, ABTIO_FOREVER));
    none = abtio_statx(directory, "settings", 0, STATX_SIZE, &second, ABTIO_FOREVER);
    printf("removed: %s\n", strerror(-none));
    must(abtio_close(directory, ABTIO_FOREVER));
    must(abtio_unlinkat(AT_FDCWD, name, AT_REMOVEDIR, ABTIO_FOREVER));
    abtio_finalize();
    ABT_finalize();
    return first.stx_size != 10 || none != -ENOENT;
}
