/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libabt-io: the interface of the Mochi project's abt-io on libabtio, so that programs written for it need only be
 * linked anew. New programs do better with abtio.h, which has sockets, deadlines and cancellation.
 *
 * A call suspends the ULT that makes it, while the operation is done by libabtio's backend: io_uring where the kernel
 * lets us, or native threads. An external thread may call, too, and sleeps. Each call returns what the system call of
 * that name returns, or -errno.
 *
 * A call `abt_io_x_nb` starts an operation and returns its handle, or NULL when there is no memory or no thread for it.
 * *ret gets the result; it may be read when abt_io_op_wait has returned, or abt_io_get_pending_op_count has returned 0.
 * What the arguments point to has to stay until then.
 */
#ifndef ABT_IO_H_INCLUDED
#define ABT_IO_H_INCLUDED

#include <abt.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABT_IO_PUBLIC __attribute__((visibility("default")))

typedef struct abt_io_instance *abt_io_instance_id;
typedef struct abt_io_op abt_io_op_t;

#define ABT_IO_INSTANCE_NULL ((abt_io_instance_id)NULL)

/* What abt_io_init_ext is asked for; both may be null. */
struct abt_io_init_info {
    /*
     * A JSON object. Other members than these are passed over:
     *   "backing_thread_count": n                                  as abt_io_init(n)
     *   "internal_pool_flag": 0 or 1, "internal_pool": {"kind", "access", "num_xstreams"}    the same in more words
     *   "num_urings": n, "liburing_flags": [names]
     * All of it is checked, stored, and returned by abt_io_get_config. It does not choose the backend: ABTIO_BACKEND
     * does.
     */
    const char *json_config;
    ABT_pool progress_pool; /* units of abt-io's own would run there; libabtio needs none */
};

/* ---- Instances --------------------------------------------------------------------------------------------------- */

/*
 * An instance, between ABT_init and ABT_finalize; any ULT or external thread. The number of threads (0 or more) and the
 * pool are kept for abt_io_get_config: libabtio has threads of its own, as many as it needs. On an error
 * ABT_IO_INSTANCE_NULL is returned; a wrong configuration is reported on stderr.
 */
abt_io_instance_id abt_io_init(int backing_thread_count) ABT_IO_PUBLIC;
abt_io_instance_id abt_io_init_pool(ABT_pool progress_pool) ABT_IO_PUBLIC;
abt_io_instance_id abt_io_init_ext(const struct abt_io_init_info *info) ABT_IO_PUBLIC;

/*
 * Ends an instance, and waits for the operations that its _nb calls have started; their handles are still to be freed.
 * Nobody may be inside another call with the instance.
 */
void abt_io_finalize(abt_io_instance_id instance) ABT_IO_PUBLIC;

/* The configuration as JSON, which abt_io_init_ext takes again; to be freed by free(). NULL: no memory. */
char *abt_io_get_config(abt_io_instance_id instance) ABT_IO_PUBLIC;

/* The operations that are under way now, of both kinds. */
size_t abt_io_get_pending_op_count(abt_io_instance_id instance) ABT_IO_PUBLIC;

/* ---- Operations that were started by an _nb call ----------------------------------------------------------------- */

/* Waits until the operation is done. Returns 0: the result is in the place that the call was given. */
int abt_io_op_wait(abt_io_op_t *op) ABT_IO_PUBLIC;

/* Frees the handle, which nobody may be waiting for; waits before that if the operation is not done. */
void abt_io_op_free(abt_io_op_t *op) ABT_IO_PUBLIC;

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

int abt_io_open(abt_io_instance_id instance, const char *path, int flags, mode_t mode) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_open_nb(abt_io_instance_id instance, const char *path, int flags, mode_t mode,
                            int *ret) ABT_IO_PUBLIC;
int abt_io_close(abt_io_instance_id instance, int fd) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_close_nb(abt_io_instance_id instance, int fd, int *ret) ABT_IO_PUBLIC;

ssize_t abt_io_pread(abt_io_instance_id instance, int fd, void *buf, size_t size, off_t offset) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_pread_nb(abt_io_instance_id instance, int fd, void *buf, size_t size, off_t offset,
                             ssize_t *ret) ABT_IO_PUBLIC;
ssize_t abt_io_read(abt_io_instance_id instance, int fd, void *buf, size_t size) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_read_nb(abt_io_instance_id instance, int fd, void *buf, size_t size, ssize_t *ret) ABT_IO_PUBLIC;

ssize_t abt_io_pwrite(abt_io_instance_id instance, int fd, const void *buf, size_t size, off_t offset) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_pwrite_nb(abt_io_instance_id instance, int fd, const void *buf, size_t size, off_t offset,
                              ssize_t *ret) ABT_IO_PUBLIC;
ssize_t abt_io_write(abt_io_instance_id instance, int fd, const void *buf, size_t size) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_write_nb(abt_io_instance_id instance, int fd, const void *buf, size_t size,
                             ssize_t *ret) ABT_IO_PUBLIC;

/* The last six characters of the name, XXXXXX, are overwritten. */
int abt_io_mkostemp(abt_io_instance_id instance, char *name, int flags) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_mkostemp_nb(abt_io_instance_id instance, char *name, int flags, int *ret) ABT_IO_PUBLIC;
int abt_io_unlink(abt_io_instance_id instance, const char *path) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_unlink_nb(abt_io_instance_id instance, const char *path, int *ret) ABT_IO_PUBLIC;

int abt_io_fdatasync(abt_io_instance_id instance, int fd) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_fdatasync_nb(abt_io_instance_id instance, int fd, int *ret) ABT_IO_PUBLIC;
int abt_io_fallocate(abt_io_instance_id instance, int fd, int mode, off_t offset, off_t size) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_fallocate_nb(abt_io_instance_id instance, int fd, int mode, off_t offset, off_t size,
                                 int *ret) ABT_IO_PUBLIC;
int abt_io_ftruncate(abt_io_instance_id instance, int fd, off_t size) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_ftruncate_nb(abt_io_instance_id instance, int fd, off_t size, int *ret) ABT_IO_PUBLIC;

off_t abt_io_lseek(abt_io_instance_id instance, int fd, off_t offset, int whence) ABT_IO_PUBLIC;
abt_io_op_t *abt_io_lseek_nb(abt_io_instance_id instance, int fd, off_t offset, int whence, off_t *ret) ABT_IO_PUBLIC;

int abt_io_stat(abt_io_instance_id instance, char *path, struct stat *status) ABT_IO_PUBLIC;
int abt_io_statfs(abt_io_instance_id instance, char *path, struct statfs *status) ABT_IO_PUBLIC;
int abt_io_truncate(abt_io_instance_id instance, char *path, off_t size) ABT_IO_PUBLIC;

#ifdef __cplusplus
}
#endif

#endif
