/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All calls in one table, from which both forms of each, their numbers and their names come. A row is
 *   CALL(type, name, ready, nowait, parameters, arguments)
 * ready: what to poll the descriptor for when the system call gives EAGAIN; 0: it does not.
 * nowait: the flag by which a caller asks for that EAGAIN.
 * arguments: how the parameters are kept in struct args.
 */
#ifndef ABTIO_CALLS_H
#define ABTIO_CALLS_H

/* RWF_NOWAIT, which not every C library has. */
#define ABTIO_RWF_NOWAIT 0x8

#define ABTIO_ALL_CALLS(CALL) ABTIO_FILE_CALLS(CALL) ABTIO_SOCKET_CALLS(CALL) ABTIO_OTHER_CALLS(CALL)

/* clang-format off */
#define ABTIO_FILE_CALLS(CALL) \
    CALL(int, openat, 0, 0, (int dirfd, const char *path, int flags, mode_t mode), \
         .fd = dirfd, .fd2 = -1, .in = path, .flags = (unsigned)flags, .mode = mode) \
    CALL(int, close, 0, 0, (int fd), .fd = fd) \
    CALL(ssize_t, read, POLLIN, 0, (int fd, void *buf, size_t size), \
         .fd = fd, .out = buf, .size = size, .offset = -1) \
    CALL(ssize_t, write, POLLOUT, 0, (int fd, const void *buf, size_t size), \
         .fd = fd, .in = buf, .size = size, .offset = -1) \
    CALL(ssize_t, pread, POLLIN, 0, (int fd, void *buf, size_t size, off_t offset), \
         .fd = fd, .out = buf, .size = size, .offset = offset) \
    CALL(ssize_t, pwrite, POLLOUT, 0, (int fd, const void *buf, size_t size, off_t offset), \
         .fd = fd, .in = buf, .size = size, .offset = offset) \
    CALL(ssize_t, preadv, POLLIN, ABTIO_RWF_NOWAIT, \
         (int fd, const struct iovec *iov, int count, off_t offset, int flags), \
         .fd = fd, .in = iov, .size = (size_t)count, .offset = offset, .flags = (unsigned)flags) \
    CALL(ssize_t, pwritev, POLLOUT, ABTIO_RWF_NOWAIT, \
         (int fd, const struct iovec *iov, int count, off_t offset, int flags), \
         .fd = fd, .in = iov, .size = (size_t)count, .offset = offset, .flags = (unsigned)flags) \
    CALL(ssize_t, read_all, POLLIN, 0, (int fd, void *buf, size_t size), \
         .fd = fd, .out = buf, .size = size, .offset = -1) \
    CALL(ssize_t, write_all, POLLOUT, 0, (int fd, const void *buf, size_t size), \
         .fd = fd, .in = buf, .size = size, .offset = -1) \
    CALL(ssize_t, pread_all, POLLIN, 0, (int fd, void *buf, size_t size, off_t offset), \
         .fd = fd, .out = buf, .size = size, .offset = offset) \
    CALL(ssize_t, pwrite_all, POLLOUT, 0, (int fd, const void *buf, size_t size, off_t offset), \
         .fd = fd, .in = buf, .size = size, .offset = offset) \
    CALL(int, fsync, 0, 0, (int fd), .fd = fd) \
    CALL(int, fdatasync, 0, 0, (int fd), .fd = fd) \
    CALL(int, fallocate, 0, 0, (int fd, int mode, off_t offset, off_t size), \
         .fd = fd, .mode = (unsigned)mode, .offset = offset, .offset2 = size) \
    CALL(int, ftruncate, 0, 0, (int fd, off_t size), .fd = fd, .offset = size) \
    CALL(int, mkostemp, 0, 0, (char *name, int flags), .out = name, .flags = (unsigned)flags) \
    CALL(int, unlinkat, 0, 0, (int dirfd, const char *path, int flags), \
         .fd = dirfd, .in = path, .flags = (unsigned)flags) \
    CALL(int, renameat, 0, 0, \
         (int olddirfd, const char *oldpath, int newdirfd, const char *newpath, unsigned flags), \
         .fd = olddirfd, .in = oldpath, .fd2 = newdirfd, .in2 = newpath, .flags = flags) \
    CALL(int, mkdirat, 0, 0, (int dirfd, const char *path, mode_t mode), .fd = dirfd, .in = path, .mode = mode) \
    CALL(int, statx, 0, 0, (int dirfd, const char *path, int flags, unsigned mask, struct statx *buf), \
         .fd = dirfd, .in = path, .flags = (unsigned)flags, .mode = mask, .out2 = buf) \
    CALL(ssize_t, splice, 0, SPLICE_F_NONBLOCK, \
         (int from, off_t from_offset, int to, off_t to_offset, size_t size, unsigned flags), \
         .fd = to, .offset = to_offset, .fd2 = from, .offset2 = from_offset, .size = size, .flags = flags)

#define ABTIO_SOCKET_CALLS(CALL) \
    CALL(int, socket, 0, 0, (int domain, int type, int protocol), \
         .fd = domain, .fd2 = protocol, .flags = (unsigned)type) \
    CALL(int, accept, POLLIN, 0, (int fd, struct sockaddr *addr, socklen_t *size, int flags), \
         .fd = fd, .out = addr, .out2 = size, .flags = (unsigned)flags) \
    CALL(int, connect, 0, 0, (int fd, const struct sockaddr *addr, socklen_t size), \
         .fd = fd, .in = addr, .size = size) \
    CALL(ssize_t, send, POLLOUT, MSG_DONTWAIT, (int fd, const void *buf, size_t size, int flags), \
         .fd = fd, .in = buf, .size = size, .flags = (unsigned)flags | MSG_NOSIGNAL) \
    CALL(ssize_t, recv, POLLIN, MSG_DONTWAIT, (int fd, void *buf, size_t size, int flags), \
         .fd = fd, .out = buf, .size = size, .flags = (unsigned)flags) \
    CALL(ssize_t, send_all, POLLOUT, MSG_DONTWAIT, (int fd, const void *buf, size_t size, int flags), \
         .fd = fd, .in = buf, .size = size, .flags = (unsigned)flags | MSG_NOSIGNAL) \
    CALL(ssize_t, recv_all, POLLIN, MSG_DONTWAIT, (int fd, void *buf, size_t size, int flags), \
         .fd = fd, .out = buf, .size = size, .flags = (unsigned)flags) \
    CALL(ssize_t, sendmsg, POLLOUT, MSG_DONTWAIT, (int fd, const struct msghdr *message, int flags), \
         .fd = fd, .in = message, .flags = (unsigned)flags | MSG_NOSIGNAL) \
    CALL(ssize_t, recvmsg, POLLIN, MSG_DONTWAIT, (int fd, struct msghdr *message, int flags), \
         .fd = fd, .out = message, .flags = (unsigned)flags) \
    CALL(int, shutdown, 0, 0, (int fd, int how), .fd = fd, .flags = (unsigned)how) \
    CALL(int, poll, 0, 0, (int fd, short events), .fd = fd, .flags = (unsigned short)events)

#define ABTIO_OTHER_CALLS(CALL) \
    CALL(int, sleep, 0, 0, (int64_t nanoseconds), .offset = abtio_after(nanoseconds)) \
    CALL(int, getaddrinfo, 0, 0, \
         (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result), \
         .in = node, .in2 = service, .hints = hints, .result = result) \
    CALL(ssize_t, blocking, 0, 0, (ssize_t (*fn)(void *arg), void *arg), .fn = fn, .out = arg)
/* clang-format on */

#endif
