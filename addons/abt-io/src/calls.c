/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of abt-io.h, each a call of libabtio. */
#include "instance.h"

#include <errno.h>
#include <unistd.h>

/* COUNTED(instance, call): the call's result; it counts as under way meanwhile. Relaxed: it is only a count. */
#define COUNTED(instance, call)                                                                                        \
    ({                                                                                                                 \
        atomic_fetch_add_explicit(&(instance)->blocking, 1, memory_order_relaxed);                                     \
        __auto_type result_ = (call);                                                                                  \
        atomic_fetch_sub_explicit(&(instance)->blocking, 1, memory_order_relaxed);                                     \
        result_;                                                                                                       \
    })

/* STARTED(instance, ret, call): the handle of the operation that the call, an _nb one, starts with `op`. */
#define STARTED(instance, ret, call)                                                                                   \
    ({                                                                                                                 \
        struct abt_io_op *op = abt_ioi_op_create((ret), sizeof(*(ret)));                                               \
        op ? abt_ioi_op_enter((instance), op, (call)) : NULL;                                                          \
    })

/* libabtio knows -1 as the descriptor's position. */
static off_t calls_check_offset(off_t offset)
{
    return offset == -1 ? -2 : offset;
}

int abt_io_open(abt_io_instance_id instance, const char *path, int flags, mode_t mode)
{
    return COUNTED(instance, abtio_openat(AT_FDCWD, path, flags, mode, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_open_nb(abt_io_instance_id instance, const char *path, int flags, mode_t mode, int *ret)
{
    return STARTED(instance, ret, abtio_openat_nb(AT_FDCWD, path, flags, mode, ABTIO_FOREVER, &op->handle));
}

int abt_io_close(abt_io_instance_id instance, int fd)
{
    return COUNTED(instance, abtio_close(fd, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_close_nb(abt_io_instance_id instance, int fd, int *ret)
{
    return STARTED(instance, ret, abtio_close_nb(fd, ABTIO_FOREVER, &op->handle));
}

ssize_t abt_io_pread(abt_io_instance_id instance, int fd, void *buf, size_t size, off_t offset)
{
    return COUNTED(instance, abtio_pread(fd, buf, size, calls_check_offset(offset), ABTIO_FOREVER));
}

abt_io_op_t *abt_io_pread_nb(abt_io_instance_id instance, int fd, void *buf, size_t size, off_t offset, ssize_t *ret)
{
    return STARTED(instance, ret,
                   abtio_pread_nb(fd, buf, size, calls_check_offset(offset), ABTIO_FOREVER, &op->handle));
}

ssize_t abt_io_read(abt_io_instance_id instance, int fd, void *buf, size_t size)
{
    return COUNTED(instance, abtio_read(fd, buf, size, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_read_nb(abt_io_instance_id instance, int fd, void *buf, size_t size, ssize_t *ret)
{
    return STARTED(instance, ret, abtio_read_nb(fd, buf, size, ABTIO_FOREVER, &op->handle));
}

ssize_t abt_io_pwrite(abt_io_instance_id instance, int fd, const void *buf, size_t size, off_t offset)
{
    return COUNTED(instance, abtio_pwrite(fd, buf, size, calls_check_offset(offset), ABTIO_FOREVER));
}

abt_io_op_t *abt_io_pwrite_nb(abt_io_instance_id instance, int fd, const void *buf, size_t size, off_t offset,
                              ssize_t *ret)
{
    return STARTED(instance, ret,
                   abtio_pwrite_nb(fd, buf, size, calls_check_offset(offset), ABTIO_FOREVER, &op->handle));
}

ssize_t abt_io_write(abt_io_instance_id instance, int fd, const void *buf, size_t size)
{
    return COUNTED(instance, abtio_write(fd, buf, size, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_write_nb(abt_io_instance_id instance, int fd, const void *buf, size_t size, ssize_t *ret)
{
    return STARTED(instance, ret, abtio_write_nb(fd, buf, size, ABTIO_FOREVER, &op->handle));
}

int abt_io_mkostemp(abt_io_instance_id instance, char *name, int flags)
{
    return COUNTED(instance, abtio_mkostemp(name, flags, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_mkostemp_nb(abt_io_instance_id instance, char *name, int flags, int *ret)
{
    return STARTED(instance, ret, abtio_mkostemp_nb(name, flags, ABTIO_FOREVER, &op->handle));
}

int abt_io_unlink(abt_io_instance_id instance, const char *path)
{
    return COUNTED(instance, abtio_unlinkat(AT_FDCWD, path, 0, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_unlink_nb(abt_io_instance_id instance, const char *path, int *ret)
{
    return STARTED(instance, ret, abtio_unlinkat_nb(AT_FDCWD, path, 0, ABTIO_FOREVER, &op->handle));
}

int abt_io_fdatasync(abt_io_instance_id instance, int fd)
{
    return COUNTED(instance, abtio_fdatasync(fd, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_fdatasync_nb(abt_io_instance_id instance, int fd, int *ret)
{
    return STARTED(instance, ret, abtio_fdatasync_nb(fd, ABTIO_FOREVER, &op->handle));
}

int abt_io_fallocate(abt_io_instance_id instance, int fd, int mode, off_t offset, off_t size)
{
    return COUNTED(instance, abtio_fallocate(fd, mode, offset, size, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_fallocate_nb(abt_io_instance_id instance, int fd, int mode, off_t offset, off_t size, int *ret)
{
    return STARTED(instance, ret, abtio_fallocate_nb(fd, mode, offset, size, ABTIO_FOREVER, &op->handle));
}

int abt_io_ftruncate(abt_io_instance_id instance, int fd, off_t size)
{
    return COUNTED(instance, abtio_ftruncate(fd, size, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_ftruncate_nb(abt_io_instance_id instance, int fd, off_t size, int *ret)
{
    return STARTED(instance, ret, abtio_ftruncate_nb(fd, size, ABTIO_FOREVER, &op->handle));
}

/* ---- What libabtio has not got: a native thread makes the system call -------------------------------------------- */

static ssize_t calls_seek(void *arg)
{
    const struct seek *to = arg;
    off_t position = lseek(to->fd, to->offset, to->whence);
    return position == -1 ? -errno : position;
}

/* From the start or the position nothing has to be read to know the place. */
off_t abt_io_lseek(abt_io_instance_id instance, int fd, off_t offset, int whence)
{
    struct seek to = {.fd = fd, .whence = whence, .offset = offset};
    if (whence == SEEK_SET || whence == SEEK_CUR)
        return calls_seek(&to);
    return COUNTED(instance, abtio_blocking(calls_seek, &to, ABTIO_FOREVER));
}

abt_io_op_t *abt_io_lseek_nb(abt_io_instance_id instance, int fd, off_t offset, int whence, off_t *ret)
{
    return STARTED(instance, ret,
                   (op->seek = (struct seek){.fd = fd, .whence = whence, .offset = offset},
                    abtio_blocking_nb(calls_seek, &op->seek, ABTIO_FOREVER, &op->handle)));
}

struct path_call {
    char *path;
    void *status;
    off_t size;
};

static ssize_t do_stat(void *arg)
{
    const struct path_call *call = arg;
    return stat(call->path, call->status) == 0 ? 0 : -errno;
}

static ssize_t do_statfs(void *arg)
{
    const struct path_call *call = arg;
    return statfs(call->path, call->status) == 0 ? 0 : -errno;
}

static ssize_t do_truncate(void *arg)
{
    const struct path_call *call = arg;
    return truncate(call->path, call->size) == 0 ? 0 : -errno;
}

int abt_io_stat(abt_io_instance_id instance, char *path, struct stat *status)
{
    struct path_call call = {.path = path, .status = status};
    return (int)COUNTED(instance, abtio_blocking(do_stat, &call, ABTIO_FOREVER));
}

int abt_io_statfs(abt_io_instance_id instance, char *path, struct statfs *status)
{
    struct path_call call = {.path = path, .status = status};
    return (int)COUNTED(instance, abtio_blocking(do_statfs, &call, ABTIO_FOREVER));
}

int abt_io_truncate(abt_io_instance_id instance, char *path, off_t size)
{
    struct path_call call = {.path = path, .size = size};
    return (int)COUNTED(instance, abtio_blocking(do_truncate, &call, ABTIO_FOREVER));
}
