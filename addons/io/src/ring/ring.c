/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring/ring.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "native.h"
#include "ring/group.h"

enum { FEATURES = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG | IORING_FEAT_CQE_SKIP };

/* Valgrind says so by a library that it loads into the program. */
static bool is_under_valgrind(void)
{
    const char *loaded = getenv("LD_PRELOAD");
    return loaded && strstr(loaded, "vgpreload_");
}

static int ring_setup(struct ring *ring, unsigned entries, bool shared, struct io_uring_params *params)
{
    /* From the best to what all kernels of that interface know. */
    static const unsigned setups[] = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        0,
    };

    /* A thread that waits apart, or another one, sees what the kernel has put off by the last one only. */
    for (unsigned i = ring->waits_apart || shared ? 2 : 0; i < 3; i++) {
        memset(params, 0, sizeof(*params));
        params->flags = setups[i] | IORING_SETUP_CLAMP;
        ring->fd = (int)syscall(SYS_io_uring_setup, entries, params);
        ring->setup = setups[i];
        if (ring->fd >= 0 || errno != EINVAL)
            break;
    }
    return ring->fd < 0 ? -errno : 0;
}

static int ring_map(struct ring *ring, const struct io_uring_params *params)
{
    size_t sq_size = params->sq_off.array + params->sq_entries * sizeof(unsigned);
    size_t cq_size = params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe);

    ring->map_size = sq_size > cq_size ? sq_size : cq_size;
    ring->map =
        mmap(NULL, ring->map_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQ_RING);
    if (ring->map == MAP_FAILED)
        return -errno;
    ring->sqes_size = params->sq_entries * sizeof(struct io_uring_sqe);
    ring->sqes =
        mmap(NULL, ring->sqes_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
    if (ring->sqes != MAP_FAILED)
        return 0;
    int code = -errno;
    munmap(ring->map, ring->map_size);
    return code;
}

/* The rings are in the map, where the kernel says. */
static void ring_find(struct ring *ring, const struct io_uring_params *params)
{
    char *map = ring->map;
    unsigned *array = (unsigned *)(map + params->sq_off.array);

    abtioi_assert(params->sq_entries > 0 && (params->sq_entries & (params->sq_entries - 1)) == 0);
    abtioi_assert(params->cq_entries > 0 && (params->cq_entries & (params->cq_entries - 1)) == 0);
    ring->sq_head = (_Atomic(unsigned) *)(map + params->sq_off.head);
    ring->sq_tail = (_Atomic(unsigned) *)(map + params->sq_off.tail);
    ring->sq_flags = (_Atomic(unsigned) *)(map + params->sq_off.flags);
    ring->sq_entries = params->sq_entries;
    ring->sq_mask = params->sq_entries - 1;
    ring->cq_head = (_Atomic(unsigned) *)(map + params->cq_off.head);
    ring->cq_tail = (_Atomic(unsigned) *)(map + params->cq_off.tail);
    ring->cqes = (struct io_uring_cqe *)(map + params->cq_off.cqes);
    ring->cq_mask = params->cq_entries - 1;
    /* Submissions are handed over in the order of their places, always. */
    for (unsigned i = 0; i < params->sq_entries; i++)
        array[i] = i;
}

/* A registered ring is found by the kernel without the table of descriptors. */
static void ring_register(struct ring *ring)
{
    struct io_uring_rsrc_update update = {.offset = UINT32_MAX, .data = (uint64_t)ring->fd};

    abtioi_assert(ring->fd >= 0);
    if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_RING_FDS, &update, 1) != 1)
        return;
    ring->enter_fd = (int)update.offset;
    ring->enter_flags = IORING_ENTER_REGISTERED_RING;
}

/*
 * What has to wait for a file system, like a write that makes a file longer, is done by threads of the kernel. It makes
 * four for each CPU at most, where a disk does more at a time.
 */
static void ring_set_workers(struct ring *ring)
{
    enum { WORKERS = 64 };
    unsigned most[2] = {WORKERS, 0}; /* 0: of those for sockets and pipes as many as before */

    syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_IOWQ_MAX_WORKERS, most, 2); /* it goes without, too */
}

int abtioi_ring_create(struct ring *ring, unsigned entries, bool shared)
{
    struct io_uring_params params;

    memset(ring, 0, sizeof(*ring));
    ring->waits_apart = is_under_valgrind();
    int code = ring_setup(ring, entries, shared, &params);
    if (code < 0)
        return code;
    code = (params.features & FEATURES) == FEATURES ? ring_map(ring, &params) : -ENOSYS;
    if (code < 0) {
        close(ring->fd);
        return code;
    }
    ring_find(ring, &params);
    ring->enter_fd = ring->fd;
    ring_register(ring);
    ring_set_workers(ring);
    return 0;
}

static void ring_unregister(const struct ring *ring)
{
    struct io_uring_rsrc_update update = {.offset = (unsigned)ring->enter_fd};

    if (ring->enter_fd != ring->fd)
        syscall(SYS_io_uring_register, ring->fd, IORING_UNREGISTER_RING_FDS, &update, 1);
}

void abtioi_ring_destroy(struct ring *ring)
{
    abtioi_assert(ring->fd >= 0);
    abtioi_assert(!ring->sets && !ring->fixed.joined);
    munmap(ring->sqes, ring->sqes_size);
    munmap(ring->map, ring->map_size);
    ring_unregister(ring);
    close(ring->fd);
}

void abtioi_ring_forget(struct ring *ring)
{
    static _Atomic(unsigned) zero;

    munmap(ring->sqes, ring->sqes_size);
    munmap(ring->map, ring->map_size);
    close(ring->fd);
    memset(ring, 0, sizeof(*ring));
    ring->fd = -1;
    ring->sq_flags = ring->cq_head = ring->cq_tail = &zero;
}

void abtioi_ring_abandon(struct ring *ring)
{
    abtioi_assert(ring->fd >= 0 && !ring->sets && !ring->fixed.joined);
    ring_unregister(ring);
    abtioi_ring_forget(ring);
}

/* Whether the kernel has all the operations that channels use: NULL, or what it lacks, in words. */
static const char *ring_lacks(struct ring *ring)
{
    enum { MOST = 64 };
    union {
        struct io_uring_probe probe;
        char room[sizeof(struct io_uring_probe) + MOST * sizeof(struct io_uring_probe_op)];
    } answer;

    memset(&answer, 0, sizeof(answer));
    if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_PROBE, &answer, MOST) < 0)
        return "it cannot be asked what it can do";
    /* Operations come in order, and channels use none that is younger than this. */
    if (answer.probe.last_op < IORING_OP_SOCKET)
        return "the kernel is older than Linux 5.19";
    for (int i = IORING_OP_NOP; i <= IORING_OP_SOCKET; i++) {
        bool used = i != IORING_OP_EPOLL_CTL; /* which may be left out */
        if (used && !(answer.probe.ops[i].flags & IO_URING_OP_SUPPORTED))
            return "the kernel leaves some operations out";
    }
    return NULL;
}

int abtioi_ring_try(unsigned entries, int *single_issuer, char *reason, size_t size)
{
    struct ring ring;

    int code = abtioi_ring_create(&ring, entries, false);
    if (code < 0) {
        snprintf(reason, size, "no ring can be made: %s", strerror(-code));
        return code;
    }
    const char *lacks = ring_lacks(&ring);
    snprintf(reason, size, "%s", lacks ? lacks : "the kernel has all that is needed");
    if (!lacks)
        abtioi_group_probe(&ring);
    *single_issuer = (ring.setup & IORING_SETUP_SINGLE_ISSUER) != 0;
    abtioi_ring_destroy(&ring);
    return lacks ? -ENOSYS : 0;
}

/*
 * EBUSY: completions have to be read first. EAGAIN, ENOMEM: the kernel has no memory for the moment. EBADR: it had none
 * for a completion. ETIME, EINTR: it has waited enough. What was not taken is handed over the next time. Anything else
 * is there to stay: the program has got a filter since.
 */
static bool is_passing(int error)
{
    return error == EBUSY || error == EAGAIN || error == ENOMEM || error == EBADR || error == ETIME || error == EINTR;
}

/*
 * Valgrind runs one thread at a time, and does not know (3.19) that this system call may wait: nobody else would run
 * meanwhile. So the thread waits in one of which that is known.
 */
static int wait_apart(struct ring *ring, int64_t nanoseconds)
{
    int code = abtioi_ring_enter(ring, 0, -1);
    if (code < 0 || ring_first(ring))
        return code;
    abtioi_native_wait_fd(ring->fd, nanoseconds);
    return abtioi_ring_enter(ring, 0, -1);
}

static void publish_tail(struct ring *ring)
{
    /* release: pairs with the kernel's acquire of the tail; the submissions are written */
    atomic_store_explicit(ring->sq_tail, ring->tail, memory_order_release);
    /* relaxed: others want a number of some moment */
    atomic_store_explicit(&ring->enters, atomic_load_explicit(&ring->enters, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The kernel has taken a number of them, or says why not. */
static int note_taken(struct ring *ring, long taken)
{
    if (taken < 0)
        return is_passing(errno) ? 0 : -errno;
    abtioi_assert((unsigned)taken <= ring_unsubmitted(ring));
    ring->submitted += (unsigned)taken;
    return 0;
}

int abtioi_ring_enter(struct ring *ring, unsigned completions, int64_t nanoseconds)
{
    struct __kernel_timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    struct io_uring_getevents_arg arg = {.sigmask_sz = _NSIG / 8, .ts = nanoseconds < 0 ? 0 : (uintptr_t)&time};
    unsigned flags = ring->enter_flags | IORING_ENTER_GETEVENTS;
    bool waits = completions > 0;

    abtioi_assert(ring->fd >= 0 && ring_unsubmitted(ring) <= ring->sq_entries);
    if (waits && ring->waits_apart)
        return wait_apart(ring, nanoseconds);
    publish_tail(ring);
    long taken = syscall(SYS_io_uring_enter, ring->enter_fd, ring_unsubmitted(ring), completions,
                         waits ? flags | IORING_ENTER_EXT_ARG : flags, waits ? &arg : NULL, waits ? sizeof(arg) : 0);
    return note_taken(ring, taken);
}

/* A registered ring is known to its thread only. */
int abtioi_ring_enter_for(struct ring *ring)
{
    abtioi_assert(ring->fd >= 0 && !(ring->setup & IORING_SETUP_SINGLE_ISSUER));
    publish_tail(ring);
    long taken =
        syscall(SYS_io_uring_enter, ring->fd, ring_unsubmitted(ring), 0, IORING_ENTER_GETEVENTS, NULL, (size_t)0);
    return note_taken(ring, taken);
}
