/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls on files: each does what the system call of its name does. */
#include "io.h"

static char dir[] = "/tmp/abtio-files-XXXXXX";
static int dirfd_;

/* All of them once, in the life of a file. */
static void life_of_a_file(void *arg)
{
    char buf[64] = "";
    struct statx st;
    struct iovec iov[2] = {{buf, 3}, {buf + 3, 3}};

    is_int(abtio_mkdirat(dirfd_, "d", 0700, ABTIO_FOREVER), 0, "%s: mkdirat", backend_name);
    is_int(abtio_mkdirat(dirfd_, "d", 0700, ABTIO_FOREVER), -EEXIST, "mkdirat again");
    int fd = abtio_openat(dirfd_, "d/f", O_RDWR | O_CREAT | O_EXCL, 0600, ABTIO_FOREVER);
    ok(fd >= 0, "openat");
    is_int(abtio_write(fd, "hello", 5, ABTIO_FOREVER), 5, "write");
    is_int(abtio_pwrite(fd, "J", 1, 0, ABTIO_FOREVER), 1, "pwrite");
    is_int(abtio_write(fd, "!", 1, ABTIO_FOREVER), 1, "write goes on where the last one ended");
    is_int(abtio_pread(fd, buf, sizeof(buf), 0, ABTIO_FOREVER), 6, "pread");
    ok(!memcmp(buf, "Jello!", 6), "it reads what was written");
    is_int(abtio_pwritev(fd, iov, 2, 6, 0, ABTIO_FOREVER), 6, "pwritev");
    is_int(lseek(fd, 0, SEEK_SET), 0, "lseek");
    memset(buf, 0, sizeof(buf));
    is_int(abtio_read(fd, buf, 3, ABTIO_FOREVER), 3, "read");
    is_int(abtio_read(fd, buf + 3, 60, ABTIO_FOREVER), 9, "read goes on");
    is_str(buf, "Jello!Jello!", "it reads all of it");
    is_int(abtio_preadv(fd, iov, 2, 6, 0, ABTIO_FOREVER), 6, "preadv");
    is_int(abtio_read(fd, buf, 1, ABTIO_FOREVER), 0, "read at the end");
    is_int(abtio_read_all(fd, buf, 9, ABTIO_FOREVER), 0, "read_all at the end");
    is_int(abtio_pread_all(fd, buf, 60, 1, ABTIO_FOREVER), 11, "pread_all gives less at the end");
    is_int(abtio_pwrite_all(fd, buf, 11, 1, ABTIO_FOREVER), 11, "pwrite_all");
    is_int(abtio_fsync(fd, ABTIO_FOREVER), 0, "fsync");
    is_int(abtio_fdatasync(fd, ABTIO_FOREVER), 0, "fdatasync");
    is_int(abtio_fallocate(fd, 0, 0, 8192, ABTIO_FOREVER), 0, "fallocate");
    is_int(abtio_statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &st, ABTIO_FOREVER), 0, "statx");
    is_int(st.stx_size, 8192, "the size after fallocate");
    is_int(abtio_ftruncate(fd, 5, ABTIO_FOREVER), 0, "ftruncate");
    is_int(abtio_statx(dirfd_, "d/f", 0, STATX_SIZE, &st, ABTIO_FOREVER), 0, "statx by name");
    is_int(st.stx_size, 5, "the size after ftruncate");
    is_int(abtio_renameat(dirfd_, "d/f", dirfd_, "g", 0, ABTIO_FOREVER), 0, "renameat");
    is_int(abtio_unlinkat(dirfd_, "d/f", 0, ABTIO_FOREVER), -ENOENT, "unlinkat of what is gone");
    is_int(abtio_unlinkat(dirfd_, "g", 0, ABTIO_FOREVER), 0, "unlinkat");
    is_int(abtio_unlinkat(dirfd_, "d", AT_REMOVEDIR, ABTIO_FOREVER), 0, "unlinkat of a directory");
    is_int(abtio_close(fd, ABTIO_FOREVER), 0, "close");
    is_int(abtio_close(fd, ABTIO_FOREVER), -EBADF, "close again");
    is_int(abtio_read(fd, buf, 1, ABTIO_FOREVER), -EBADF, "read of what is closed");
    is_int(abtio_openat(dirfd_, "g", O_RDONLY, 0, ABTIO_FOREVER), -ENOENT, "openat of nothing");
}

static void temporary_and_splice(void *arg)
{
    char name[64], buf[16] = "";
    int pipe_fds[2];

    snprintf(name, sizeof(name), "%s/tXXXXXX", dir);
    int fd = abtio_mkostemp(name, O_CLOEXEC, ABTIO_FOREVER);
    ok(fd >= 0 && !strstr(name, "XXXXXX"), "%s: mkostemp", backend_name);
    is_int(abtio_write_all(fd, "0123456789", 10, ABTIO_FOREVER), 10, "write_all");
    if (pipe(pipe_fds) < 0)
        bail_out("pipe");
    is_int(abtio_splice(fd, 2, pipe_fds[1], -1, 5, 0, ABTIO_FOREVER), 5, "splice");
    is_int(abtio_read(pipe_fds[0], buf, sizeof(buf), ABTIO_FOREVER), 5, "read of a pipe");
    is_str(buf, "23456", "what was spliced");
    abtio_close(pipe_fds[0], ABTIO_FOREVER);
    is_int(abtio_write(pipe_fds[1], "x", 1, ABTIO_FOREVER), -EPIPE, "write of a pipe that nobody reads");
    abtio_close(pipe_fds[1], ABTIO_FOREVER);
    abtio_close(fd, ABTIO_FOREVER);
    is_int(abtio_unlinkat(AT_FDCWD, name, 0, ABTIO_FOREVER), 0, "unlinkat by the whole name");
}

static void tests(void)
{
    in_ult(life_of_a_file, NULL);
    in_ult(temporary_and_splice, NULL);
    life_of_a_file(NULL); /* the primary ULT */
}

int main(void)
{
    watchdog_begin(0);
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(dir) || (dirfd_ = open(dir, O_RDONLY | O_DIRECTORY)) < 0)
        bail_out("%s: %s", dir, strerror(errno));
    with_each_backend(tests);
    rmdir(dir);
    return done_testing();
}
