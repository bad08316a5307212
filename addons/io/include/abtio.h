/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libabtio: input and output that suspends a work unit and not its execution stream. The calls are those of POSIX and
 * Linux; while one of them waits, the stream of the caller runs other units.
 *
 * Who may call: a ULT is suspended. An external thread sleeps. A tasklet has no stack that could be left, so that its
 * call blocks its stream. Schedulers, drivers and signal handlers may not call.
 *
 * Each call returns what the system call of that name returns, or -errno; errno itself is not used. Besides the errors
 * of the system call there are these:
 *   -ETIMEDOUT    the deadline has passed before the operation was done
 *   -ECANCELED    abtio_cancel, abtio_op_free or abtio_finalize has ended the operation before it was done
 *   -ENOMEM, -EAGAIN  there is no memory, or no native thread, for the operation: nothing has been done
 *   -ENOTCONN     abtio_init has not been called
 *   -EIO          the system has taken io_uring away, by a filter for instance, while the operation was under way in a
 *                 ring: how much of it was done is not known, and a read may still write to the buffer. Operations
 *                 that come later, on that stream, are done by native threads.
 *
 * An operation that has moved some bytes when it is to end returns how many. EINTR is not returned. One whose deadline
 * has passed when it starts is tried once, and done if it need not wait; but abtio_blocking runs nothing then, and a
 * look-up of names may have no time.
 *
 * O_NONBLOCK of a descriptor makes no difference: the call waits; only splice gives -EAGAIN then. MSG_DONTWAIT and
 * SPLICE_F_NONBLOCK do what they say.
 *
 * A ULT that is cancelled (ABT_thread_cancel) while it waits here ends when its call has ended; where it waits for an
 * acceptor, a receiver or a look-up of names with a deadline, or in abtio_op_wait_any, that is at once. Nothing of its
 * operation is left, and what a handle stands for goes on. What the operation has brought, a connection for instance,
 * is lost: cancel operations by abtio_cancel, and not units.
 *
 * Every call `abtio_x(arguments, deadline)` has a form that does not wait, `abtio_x_nb(arguments, deadline, op)`. It
 * starts the operation, stores its handle, and returns 0; or it returns -errno and has started nothing. abtio_op_wait
 * tells the result. What the arguments point to, buffers, names and lists, belongs to the operation until it is done.
 *
 * Operations of one descriptor that are under way at the same time are done in any order.
 */
#ifndef ABTIO_H_INCLUDED
#define ABTIO_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct addrinfo; /* <netdb.h> */
struct statx;    /* <sys/stat.h> with _GNU_SOURCE, or <linux/stat.h> where the C library has none */

#define ABTIO_PUBLIC __attribute__((visibility("default")))

/* ---- Begin and end --------------------------------------------------------------------------------------------- */

/* How operations are done. */
typedef enum abtio_backend {
    ABTIO_BACKEND_AUTO = 0,     /* io_uring where the kernel lets us, else threads */
    ABTIO_BACKEND_IO_URING = 1, /* a ring per execution stream */
    ABTIO_BACKEND_THREADS = 2   /* native threads that make the system calls */
} abtio_backend;

/* What abtio_init is asked for. 0 in a field is the default. */
typedef struct abtio_config {
    abtio_backend backend;
    unsigned ring_entries; /* submissions that a ring gathers at most: 8 to 4096, a power of two; default 256 */
    unsigned max_threads;  /* native threads at most; default 1024, and up to 16384 while operations wait for a thread
                              and none of those that there are ends one */
    int signal;            /* interrupts native threads, see below; SIGRTMIN to SIGRTMAX, default one that is free */
    unsigned reserved[4];  /* 0 */
} abtio_config;

/*
 * Begins, between ABT_init and ABT_finalize. NULL asks for all defaults. With ABTIO_BACKEND_AUTO the variable
 * ABTIO_BACKEND (auto, io_uring or threads) chooses. Calls nest: the second and later ones only count. After fork(),
 * the child has no libabtio until it calls this. Any thread, but not two at a time. Errors: -EINVAL (a field or a
 * variable has no such value), -ENOTCONN (ABT_init has not been called), -ENOMEM, -EAGAIN (no signal is free), and what
 * the kernel says when ABTIO_BACKEND_IO_URING was asked for and cannot be had.
 *
 * System calls that libabtio's native threads make are interrupted by a real-time signal when a deadline or a cancel
 * ends them. It goes to those threads only, and no function of the program is interrupted. The field `signal`, or the
 * variable ABTIO_SIGNAL, names it; otherwise it is the highest one that has its default action and that the caller does
 * not block. Until abtio_finalize, which leaves it as it was found, libabtio handles it: one that somebody else sends
 * does what it did before. A program that handles it by itself meanwhile keeps it, and libabtio takes another one,
 * though calls that are under way are still interrupted by the former.
 */
int abtio_init(const abtio_config *config) ABTIO_PUBLIC;

/*
 * Ends what the matching abtio_init has begun. The last one cancels all operations that are under way, also those that
 * external threads have called, and waits for their end, as abtio_cancel does; their handles are still to be freed. A
 * ULT or an external thread, when nobody begins operations any more. Waits until each stream that has done operations
 * has checked its events. Errors: -ENOTCONN.
 */
int abtio_finalize(void) ABTIO_PUBLIC;

/* What abtio_get_info reports. */
typedef struct abtio_info {
    abtio_backend backend;    /* the one in use */
    char reason[128];         /* why this one, in words */
    unsigned num_rings;       /* streams that have a ring now */
    unsigned num_threads;     /* native threads now */
    int single_issuer;        /* rings of streams that nobody shares pools with have one issuer, and do the
                                 kernel's work when that asks for it (Linux 6.1) */
    uint64_t num_in_flight;   /* operations that are under way, in rings and in native threads */
    uint64_t num_ring_enters; /* system calls by which rings were entered */
    uint64_t num_in_memory;   /* operations in memory that was registered */
    uint64_t num_on_files;    /* operations on descriptors that were registered */
    uint64_t num_refused;     /* what is registered and a ring could not get, each time */
    uint64_t reserved[5];     /* 0 */
} abtio_info;

/* Any time after abtio_init. Counters are those of a moment. Errors: -ENOTCONN. */
int abtio_get_info(abtio_info *info) ABTIO_PUBLIC;

/* ---- Deadlines ------------------------------------------------------------------------------------------------- */

/* A point in time: nanoseconds of CLOCK_MONOTONIC. Any earlier time, negative numbers too, has passed. */
typedef int64_t abtio_deadline;

/* No deadline. */
#define ABTIO_FOREVER INT64_MAX

/* The deadline a number of nanoseconds from now. Any thread. Returns: the deadline. */
abtio_deadline abtio_after(int64_t nanoseconds) ABTIO_PUBLIC;

/* ---- Operations ------------------------------------------------------------------------------------------------ */

/* An operation that an _nb form has started. It belongs to the caller that started it, and is freed by abtio_op_free.
 */
typedef struct abtio_op abtio_op;

/*
 * Waits until the operation is done. Any number of units may wait for an operation, at any time before it is freed.
 * Returns: the result of the operation. Errors: those of the operation, -ETIMEDOUT, -ECANCELED, -ENOMEM, -EAGAIN, -EIO.
 */
ssize_t abtio_op_wait(abtio_op *op) ABTIO_PUBLIC;

/* Whether the operation is done; then *result, unless NULL is given, gets its result. Does not wait. Returns: 1 if it
 * is done, else 0. */
int abtio_op_test(abtio_op *op, ssize_t *result) ABTIO_PUBLIC;

/*
 * Waits until one of the operations is done. Null pointers in the list are skipped. Returns: the index of one that is
 * done, the lowest if several are from the start. Errors: -EINVAL (num < 1, or all are null), -ETIMEDOUT, -ENOMEM (a
 * long list).
 */
int abtio_op_wait_any(int num, abtio_op *const *ops, abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * Ends an operation, which another unit may be waiting for. On return it is done, and its buffers are the caller's
 * again. Waits: system calls that nothing can interrupt, such as reads of a disk, run to their end; so does the
 * function of abtio_blocking. It waits for no stream that is busy with something else, except for one that nobody
 * attends (doc/io.md, "A busy stream and its ring"). A connect that is cancelled leaves a socket of no use. Returns: 0
 * if it was cancelled; its result is -ECANCELED then. Errors: -EALREADY (it was done by itself, and abtio_op_wait tells
 * the result).
 */
int abtio_cancel(abtio_op *op) ABTIO_PUBLIC;

/* Frees an operation, unless it is NULL, and sets *op to NULL. One that is under way is cancelled first, as by
 * abtio_cancel. A descriptor that it has brought is closed, unless a call on the handle has said that it is done.
 * Waits. Nobody may be waiting for it. */
void abtio_op_free(abtio_op **op) ABTIO_PUBLIC;

/* ---- Files ----------------------------------------------------------------------------------------------------- */

/* openat(2); the mode is looked at only where a file may be made. Returns a descriptor. */
int abtio_openat(int dirfd, const char *path, int flags, mode_t mode, abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * close(2). Operations of the descriptor that are under way go on; sockets are woken by abtio_shutdown. One that
 * lingers (SO_LINGER) holds the stream up where a ring closes it, unless there is a deadline; that ends the wait, with
 * 0.
 */
int abtio_close(int fd, abtio_deadline deadline) ABTIO_PUBLIC;

/* read(2) and write(2), at the descriptor's position. */
ssize_t abtio_read(int fd, void *buf, size_t size, abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_write(int fd, const void *buf, size_t size, abtio_deadline deadline) ABTIO_PUBLIC;

/* pread(2) and pwrite(2), at an offset. -1 is the descriptor's position, which then moves. */
ssize_t abtio_pread(int fd, void *buf, size_t size, off_t offset, abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_pwrite(int fd, const void *buf, size_t size, off_t offset, abtio_deadline deadline) ABTIO_PUBLIC;

/* preadv2(2) and pwritev2(2): a list of buffers, and RWF_ flags. */
ssize_t abtio_preadv(int fd, const struct iovec *iov, int count, off_t offset, int flags,
                     abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_pwritev(int fd, const struct iovec *iov, int count, off_t offset, int flags,
                      abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * The same as the calls without _all, until all bytes are moved. They return fewer only at the end of the file or of
 * the connection. Where an error, the deadline or a cancel comes after some bytes, that is returned, and abtio_moved
 * tells how many were moved. Returns: the number of bytes that were moved. Errors: those of the call without _all.
 */
ssize_t abtio_read_all(int fd, void *buf, size_t size, abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_write_all(int fd, const void *buf, size_t size, abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_pread_all(int fd, void *buf, size_t size, off_t offset, abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_pwrite_all(int fd, const void *buf, size_t size, off_t offset, abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * How many bytes the operation of the _all kind has moved whose result the caller has got last, by the call itself, by
 * abtio_op_wait or by abtio_op_test, whatever that result was; but not what was under way when the result was -EIO. As
 * errno it belongs to the native thread: ask before the unit waits or yields. Returns: the number of bytes.
 */
size_t abtio_moved(void) ABTIO_PUBLIC;

/* fsync(2), fdatasync(2), fallocate(2), ftruncate(2). */
int abtio_fsync(int fd, abtio_deadline deadline) ABTIO_PUBLIC;
int abtio_fdatasync(int fd, abtio_deadline deadline) ABTIO_PUBLIC;
int abtio_fallocate(int fd, int mode, off_t offset, off_t size, abtio_deadline deadline) ABTIO_PUBLIC;
int abtio_ftruncate(int fd, off_t size, abtio_deadline deadline) ABTIO_PUBLIC;

/* mkostemp(3): the name's last six characters, XXXXXX, are overwritten. Returns a descriptor. */
int abtio_mkostemp(char *name, int flags, abtio_deadline deadline) ABTIO_PUBLIC;

/* unlinkat(2), renameat2(2), mkdirat(2). */
int abtio_unlinkat(int dirfd, const char *path, int flags, abtio_deadline deadline) ABTIO_PUBLIC;
int abtio_renameat(int olddirfd, const char *oldpath, int newdirfd, const char *newpath, unsigned flags,
                   abtio_deadline deadline) ABTIO_PUBLIC;
int abtio_mkdirat(int dirfd, const char *path, mode_t mode, abtio_deadline deadline) ABTIO_PUBLIC;

/* statx(2). */
int abtio_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *buf,
                abtio_deadline deadline) ABTIO_PUBLIC;

/* splice(2); -1 as an offset is what a null pointer is there. */
ssize_t abtio_splice(int from, off_t from_offset, int to, off_t to_offset, size_t size, unsigned flags,
                     abtio_deadline deadline) ABTIO_PUBLIC;

/* ---- Sockets --------------------------------------------------------------------------------------------------- */

/* socket(2). Returns a descriptor. */
int abtio_socket(int domain, int type, int protocol, abtio_deadline deadline) ABTIO_PUBLIC;

/* accept4(2). addr and size may be NULL; *size is read and written. Returns a descriptor. */
int abtio_accept(int fd, struct sockaddr *addr, socklen_t *size, int flags, abtio_deadline deadline) ABTIO_PUBLIC;

/* connect(2). When it fails, also by its deadline, the socket is of no more use and is to be closed. */
int abtio_connect(int fd, const struct sockaddr *addr, socklen_t size, abtio_deadline deadline) ABTIO_PUBLIC;

/* send(2), with MSG_NOSIGNAL always, and recv(2). */
ssize_t abtio_send(int fd, const void *buf, size_t size, int flags, abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_recv(int fd, void *buf, size_t size, int flags, abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * Until all bytes are moved, as for read_all. recv_all returns fewer only when the peer sends no more. Returns: the
 * number of bytes that were moved. Errors: those of the call without _all, -EINVAL (recv_all with MSG_PEEK, which would
 * get the same bytes again and again).
 */
ssize_t abtio_send_all(int fd, const void *buf, size_t size, int flags, abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_recv_all(int fd, void *buf, size_t size, int flags, abtio_deadline deadline) ABTIO_PUBLIC;

/* sendmsg(2), with MSG_NOSIGNAL always, and recvmsg(2). */
ssize_t abtio_sendmsg(int fd, const struct msghdr *message, int flags, abtio_deadline deadline) ABTIO_PUBLIC;
ssize_t abtio_recvmsg(int fd, struct msghdr *message, int flags, abtio_deadline deadline) ABTIO_PUBLIC;

/* shutdown(2). */
int abtio_shutdown(int fd, int how, abtio_deadline deadline) ABTIO_PUBLIC;

/* poll(2) of one descriptor for POLLIN and the like. Returns: the events that there are, never 0. */
int abtio_poll(int fd, short events, abtio_deadline deadline) ABTIO_PUBLIC;

/* ---- Many connections ------------------------------------------------------------------------------------------ */

/*
 * Takes connections from a listening socket, for all who ask it. With io_uring one operation goes on accepting, in the
 * ring of the stream whose ULT has asked first, so that connections are there when somebody asks: up to 128 are taken
 * in advance. Native threads accept one after another, while somebody waits; so they do when an external thread or a
 * tasklet has asked first, and for those who wait when that stream ends.
 */
typedef struct abtio_acceptor abtio_acceptor;

/*
 * Makes one for a socket, which stays the caller's, with the flags of accept4(2). Nothing is accepted before somebody
 * asks. When it has been freed and the socket is to be closed, in that order, no connection is lost but those that the
 * acceptor and the socket have taken in advance. Errors: -ENOMEM, -ENOTCONN. What is wrong with the socket
 * abtio_acceptor_accept tells.
 */
int abtio_acceptor_create(int fd, int flags, abtio_acceptor **acceptor) ABTIO_PUBLIC;

/*
 * Takes a connection, whose descriptor is the caller's to close; getpeername(2) tells the peer. Waiters are served in
 * the order of the calls. An error of the system call, -EMFILE for instance, is given to one waiter, and the others
 * go on waiting. Where there is no memory to keep a connection that nobody waits for, it is closed. A handle's deadline
 * is kept while somebody is in abtio_op_wait, or looks by abtio_op_test. By a deadline that has passed a connection
 * that is there is got, at once in the ring of the caller's stream, and otherwise by a later call. One whose handle is
 * freed before a call on that has said so is for the next caller. Returns: the descriptor of the connection. Errors:
 * those of accept4(2).
 */
int abtio_acceptor_accept(abtio_acceptor *acceptor, abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * Ends the accepting, waits for its end, closes the connections that nobody has asked for, and sets *acceptor to NULL;
 * does nothing if it is NULL. A ULT or an external thread, also after abtio_finalize, which ends the accepting but
 * leaves the rest to this; not in a child of fork(). The handles of accepts on it have been freed. Errors: -EBUSY:
 * somebody waits for a connection, and nothing has been done.
 */
int abtio_acceptor_free(abtio_acceptor **acceptor) ABTIO_PUBLIC;

/* ---- What comes in over a connection --------------------------------------------------------------------------- */

/*
 * Buffers that the library receives into, all of one size, for any number of receivers. Each stream whose ring receives
 * has `num` of them, and so have the native threads, so that none waits for what another one keeps. A stream takes over
 * those of one that has ended, without what the user still has of them. Memory that was never received into costs
 * nothing. One that waits for data has no buffer.
 */
typedef struct abtio_buffers abtio_buffers;

/*
 * Makes buffers of `size` bytes. They begin at addresses that are multiples of 64. Errors: -ENOTCONN, -ENOMEM, -EINVAL
 * (size is 0 or more than 1 GiB; num is 0 or more than 32768), -ENOSPC (there are 1024 of these).
 */
int abtio_buffers_create(size_t size, unsigned num, abtio_buffers **buffers) ABTIO_PUBLIC;

/*
 * Gives back a buffer that a receiver has given, which belongs to the caller until then. Any thread, and in any order.
 * Receivers that wait for a buffer go on. Errors: -EINVAL (NULL; it is given back already; it is of other buffers).
 */
int abtio_buffers_give_back(abtio_buffers *buffers, void *buf) ABTIO_PUBLIC;

/*
 * Frees the buffers, and sets *buffers to NULL; does nothing if it is NULL. A ring has released them when its stream
 * has checked its events. Also after abtio_finalize; not in a child of fork(). Errors: -EBUSY: there are receivers,
 * or buffers that were not given back, and nothing has been done.
 */
int abtio_buffers_free(abtio_buffers **buffers) ABTIO_PUBLIC;

/*
 * Receives from a socket, and needs no buffer before there is something. With io_uring one operation goes on receiving,
 * in the ring of the stream whose ULT has asked first, so that data is there when somebody asks; Linux before 6.0 is
 * asked anew for each buffer. Up to an eighth of the buffers, and 128, are filled in advance, and some more while the
 * kernel is being stopped. Native threads receive one buffer after another, while somebody waits; so they do when an
 * external thread or a tasklet has asked first, for those who wait when that stream ends, and where the kernel refuses
 * the ring its buffers.
 *
 * What is received in advance holds buffers until somebody asks for it. When none is left the receivers wait for one to
 * come back, and the peers' data waits in their sockets. So nobody may keep the last buffers while he waits for a
 * receive, or for somebody who does.
 */
typedef struct abtio_receiver abtio_receiver;

/*
 * Makes one for a socket, which stays the caller's. Nothing is received before somebody asks. Nobody else may receive
 * from the socket, and the receiver is to be freed before the socket is closed. Errors: -ENOTCONN, -ENOMEM, -EINVAL
 * (the flags are not 0; there are none yet). What is wrong with the socket abtio_receiver_recv tells.
 */
int abtio_receiver_create(int fd, int flags, abtio_buffers *buffers, abtio_receiver **receiver) ABTIO_PUBLIC;

/*
 * Receives the next that has come, into *buf, a buffer that is the caller's until he gives it back. At the end of the
 * stream, and with an error, there is no buffer. Of a datagram the caller gets what fits a buffer. Results
 * come in the order in which the socket has had them, and are for those who wait in the order of the calls. An error is
 * reported once, and so is the end; the next call reports what the socket says then. ENOBUFS is not reported. A
 * handle's deadline is kept while somebody is in abtio_op_wait, or looks by abtio_op_test. Where a cancel comes too
 * late the buffer is the caller's. Deadlines that have passed, and handles that are freed, are as with acceptors.
 * Returns: how many bytes have come; 0 at the end of the stream. Errors: those of recv(2).
 */
ssize_t abtio_receiver_recv(abtio_receiver *receiver, void **buf, abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * Ends the receiving, waits for its end, gives back what nobody has asked for, and sets *receiver to NULL; does nothing
 * if it is NULL. Data that was received in advance is lost. A ULT or an external thread, also after abtio_finalize,
 * which ends the receiving but leaves the rest to this; not in a child of fork(). All calls on it have returned, and
 * the handles of receives on it have been freed. Errors: -EBUSY: somebody waits, and nothing has been done.
 */
int abtio_receiver_free(abtio_receiver **receiver) ABTIO_PUBLIC;

/* ---- The rest -------------------------------------------------------------------------------------------------- */

/* Waits for that number of nanoseconds. A negative number is 0. */
int abtio_sleep(int64_t nanoseconds, abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * getaddrinfo(3), on a native thread. A look-up that is cancelled or late goes on by itself, without what the caller
 * has given. A handle's deadline is kept while somebody is in abtio_op_wait. Returns: 0 if *result is the list, to be
 * freed by freeaddrinfo; above 0 the EAI_ code with its sign turned, for gai_strerror(-code).
 */
int abtio_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result,
                      abtio_deadline deadline) ABTIO_PUBLIC;

/*
 * Runs fn(arg) on a native thread, for foreign code that blocks. Returns: what fn returns. It sees another thread's
 * thread-local variables, and may not call ABT functions that need an execution stream. It has the caller's signal
 * mask, as a thread has that the caller makes. Once it has begun, neither a deadline nor a cancel ends or interrupts
 * it.
 */
ssize_t abtio_blocking(ssize_t (*fn)(void *arg), void *arg, abtio_deadline deadline) ABTIO_PUBLIC;

/* ---- What is used often ---------------------------------------------------------------------------------------- */

/*
 * Memory and descriptors that many operations use can be made known. Then a ring gets them once, and the kernel does
 * not look them up in each operation. Nothing else changes: the calls are the same, and native threads, and a ring that
 * cannot get them, do the operations as ever. abtio_get_info tells which it was.
 *
 * Any thread, between abtio_init and abtio_finalize, which ends all of it. A stream takes notice when it next looks at
 * its events; until then it does operations as ever.
 */

/*
 * Memory that buffers are in: for read, write, pread and pwrite, and their _all forms, where the whole buffer is in
 * it. The heap, stacks and anonymous mappings can be had, and files that are mapped cannot. Each ring pins all of its
 * pages; without CAP_IPC_LOCK that counts towards RLIMIT_MEMLOCK, for each ring. It is to be unregistered before it
 * is given back to the system or mapped anew (free, munmap, mremap, MADV_DONTNEED): else later operations may use the
 * pages that it had. Errors: -ENOTCONN, -EINVAL (size is 0, or too large for the address), -EFBIG (more than 1 GiB),
 * -EEXIST (one that begins there is registered), -ENOSPC (64 are).
 */
int abtio_register_memory(void *addr, size_t size) ABTIO_PUBLIC;

/*
 * Ends that, for the memory that begins at addr. Operations that are under way there go on. The caller may give the
 * memory back at once; the system has it when each stream has checked its events. Errors: -ENOTCONN, -ENOENT.
 */
int abtio_unregister_memory(void *addr) ABTIO_PUBLIC;

/*
 * A descriptor, less than 4096: for reads and writes, fsync and fdatasync, accept, all that sends or receives, and
 * poll. It is to be unregistered before it is closed: else later operations may use the file that it was. Errors:
 * -ENOTCONN, -EBADF (less than 0), -EEXIST, -ENOSPC (too large).
 */
int abtio_register_file(int fd) ABTIO_PUBLIC;

/*
 * Ends that. Operations that are under way go on, and the caller may close the descriptor at once. The file stays open
 * until each stream has checked its events: so long a socket's peer does not see it end, unless the caller uses
 * abtio_shutdown. Errors: -ENOTCONN, -ENOENT.
 */
int abtio_unregister_file(int fd) ABTIO_PUBLIC;

/* ---- The forms that do not wait ------------------------------------------------------------------------------- */

int abtio_openat_nb(int dirfd, const char *path, int flags, mode_t mode, abtio_deadline deadline,
                    abtio_op **op) ABTIO_PUBLIC;
int abtio_close_nb(int fd, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_read_nb(int fd, void *buf, size_t size, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_write_nb(int fd, const void *buf, size_t size, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_pread_nb(int fd, void *buf, size_t size, off_t offset, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_pwrite_nb(int fd, const void *buf, size_t size, off_t offset, abtio_deadline deadline,
                    abtio_op **op) ABTIO_PUBLIC;
int abtio_preadv_nb(int fd, const struct iovec *iov, int count, off_t offset, int flags, abtio_deadline deadline,
                    abtio_op **op) ABTIO_PUBLIC;
int abtio_pwritev_nb(int fd, const struct iovec *iov, int count, off_t offset, int flags, abtio_deadline deadline,
                     abtio_op **op) ABTIO_PUBLIC;
int abtio_read_all_nb(int fd, void *buf, size_t size, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_write_all_nb(int fd, const void *buf, size_t size, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_pread_all_nb(int fd, void *buf, size_t size, off_t offset, abtio_deadline deadline,
                       abtio_op **op) ABTIO_PUBLIC;
int abtio_pwrite_all_nb(int fd, const void *buf, size_t size, off_t offset, abtio_deadline deadline,
                        abtio_op **op) ABTIO_PUBLIC;
int abtio_fsync_nb(int fd, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_fdatasync_nb(int fd, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_fallocate_nb(int fd, int mode, off_t offset, off_t size, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_ftruncate_nb(int fd, off_t size, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_mkostemp_nb(char *name, int flags, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_unlinkat_nb(int dirfd, const char *path, int flags, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_renameat_nb(int olddirfd, const char *oldpath, int newdirfd, const char *newpath, unsigned flags,
                      abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_mkdirat_nb(int dirfd, const char *path, mode_t mode, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_statx_nb(int dirfd, const char *path, int flags, unsigned mask, struct statx *buf, abtio_deadline deadline,
                   abtio_op **op) ABTIO_PUBLIC;
int abtio_splice_nb(int from, off_t from_offset, int to, off_t to_offset, size_t size, unsigned flags,
                    abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_socket_nb(int domain, int type, int protocol, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_accept_nb(int fd, struct sockaddr *addr, socklen_t *size, int flags, abtio_deadline deadline,
                    abtio_op **op) ABTIO_PUBLIC;
int abtio_acceptor_accept_nb(abtio_acceptor *acceptor, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_receiver_recv_nb(abtio_receiver *receiver, void **buf, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_connect_nb(int fd, const struct sockaddr *addr, socklen_t size, abtio_deadline deadline,
                     abtio_op **op) ABTIO_PUBLIC;
int abtio_send_nb(int fd, const void *buf, size_t size, int flags, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_recv_nb(int fd, void *buf, size_t size, int flags, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_send_all_nb(int fd, const void *buf, size_t size, int flags, abtio_deadline deadline,
                      abtio_op **op) ABTIO_PUBLIC;
int abtio_recv_all_nb(int fd, void *buf, size_t size, int flags, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_sendmsg_nb(int fd, const struct msghdr *message, int flags, abtio_deadline deadline,
                     abtio_op **op) ABTIO_PUBLIC;
int abtio_recvmsg_nb(int fd, struct msghdr *message, int flags, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_shutdown_nb(int fd, int how, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_poll_nb(int fd, short events, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_sleep_nb(int64_t nanoseconds, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_getaddrinfo_nb(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result,
                         abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;
int abtio_blocking_nb(ssize_t (*fn)(void *arg), void *arg, abtio_deadline deadline, abtio_op **op) ABTIO_PUBLIC;

#ifdef __cplusplus
}
#endif

#endif
