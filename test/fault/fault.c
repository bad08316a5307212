/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands between the test program and the C library. */
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abt.h"
#include "raw_mmap.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define FAULT_IMPOSSIBLE
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define FAULT_IMPOSSIBLE
#endif

/* One lock for everything here: speed does not matter. */
static atomic_flag lock_word = ATOMIC_FLAG_INIT;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&lock_word, memory_order_acquire))
        ;
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&lock_word, memory_order_release);
}

/* --- What is in use --- */

enum { BUCKETS = 1 << 12, ENTRIES = 1 << 16 };

struct entry {
    void *ptr;
    size_t size;
    void *caller;
    long number; /* in order of allocation */
    struct entry *next;
};

static struct entry *buckets[BUCKETS];
static long numbered;
static struct fault_live live;

struct fault_live fault_live(void)
{
    lock();
    struct fault_live now = live;
    unlock();
    return now;
}

bool fault_same(struct fault_live a, struct fault_live b)
{
    return a.objects == b.objects && a.bytes == b.bytes && a.mappings == b.mappings && a.descriptors == b.descriptors;
}

static void describe(size_t bytes, void *caller, char *text, size_t size)
{
    Dl_info info = {.dli_fname = "?"};
    dladdr(caller, &info);
    snprintf(text, size, "%zu bytes for %s+0x%zx", bytes, info.dli_fname,
             (size_t)((char *)caller - (char *)info.dli_fbase));
}

static const struct entry *newest_below(long number)
{
    const struct entry *newest = NULL;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (const struct entry *e = buckets[i]; e; e = e->next) {
            if (e->number < number && (!newest || e->number > newest->number))
                newest = e;
        }
    }
    return newest;
}

bool fault_describe_object(unsigned skip, char *text, size_t size)
{
    lock();
    const struct entry *e = newest_below(numbered + 1);
    for (; e && skip > 0; skip--)
        e = newest_below(e->number);
    unlock();
    if (e)
        describe(e->size, e->caller, text, size);
    return e != NULL;
}

/* --- Failing --- */

static bool armed;
static unsigned nth, requests, failures;
static enum fault_mode how;
static int code_expected;
static bool was_mapping; /* what failed last was a request for a mapping */
static size_t failed_size;
static void *failed_caller;
static void (*on_failure)(void);

void fault_on_failure(void (*func)(void))
{
    lock();
    on_failure = func;
    unlock();
}

void fault_arm(unsigned n, enum fault_mode mode)
{
    lock();
    armed = true;
    nth = n;
    how = mode;
    requests = failures = 0;
    code_expected = ABT_SUCCESS;
    unlock();
}

bool fault_disarm(void)
{
    lock();
    armed = false;
    unlock();
    return fault_failures() > 0;
}

unsigned fault_requests(void)
{
    lock();
    unsigned n = requests;
    unlock();
    return n;
}

unsigned fault_failures(void)
{
    lock();
    unsigned n = failures;
    unlock();
    return n;
}

int fault_code(void)
{
    lock();
    int code = code_expected;
    unlock();
    return code;
}

void fault_expect(int code)
{
    lock();
    code_expected = code;
    unlock();
}

bool fault_was_mapping(void)
{
    lock();
    bool was = was_mapping;
    unlock();
    return was;
}

void fault_describe(char *text, size_t size)
{
    describe(failed_size, failed_caller, text, size);
}

/* --- The C library's functions --- */

#ifdef FAULT_IMPOSSIBLE

bool fault_is_possible(void)
{
    return false;
}

#else

bool fault_is_possible(void)
{
    return true;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t num, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *ptr);

#define CALLER __builtin_return_address(0)

/* In a function of the C library that keeps what it allocates. */
static __thread int inside;

/* A request: whether it is to fail, for which the library is to answer `code`. */
static bool fails(size_t size, int code, void *caller)
{
    if (inside)
        return false;
    lock();
    bool fail = false;
    if (armed) {
        requests++;
        fail = how == FAULT_ONE ? requests == nth : nth > 0 && requests >= nth;
    }
    if (fail) {
        failures++;
        was_mapping = false;
        code_expected = code;
        failed_size = size;
        failed_caller = caller;
    }
    void (*func)(void) = fail ? on_failure : NULL;
    unlock();
    if (func)
        func();
    return fail;
}

static bool fails_for_memory(size_t size, void *caller)
{
    if (!fails(size, ABT_ERR_MEM, caller))
        return false;
    errno = ENOMEM;
    return true;
}

static struct entry **bucket_of(const void *ptr)
{
    return &buckets[((uintptr_t)ptr >> 4) * 2654435761u % BUCKETS];
}

static struct entry entries[ENTRIES], *unused;
static size_t entries_used;

static struct entry *entry_get(void)
{
    struct entry *e = unused;
    if (e)
        unused = e->next;
    else if (entries_used < ENTRIES)
        e = &entries[entries_used++];
    else
        abort(); /* far more than any test needs */
    return e;
}

/* Passes ptr through. */
static void *enter(void *ptr, size_t size, void *caller)
{
    if (!ptr || inside)
        return ptr;
    lock();
    struct entry *e = entry_get(), **bucket = bucket_of(ptr);
    *e = (struct entry){ptr, size, caller, ++numbered, *bucket};
    *bucket = e;
    live.objects++;
    live.bytes += (long)size;
    unlock();
    return ptr;
}

static void leave(void *ptr)
{
    lock();
    struct entry **link = bucket_of(ptr), *e;
    while ((e = *link) && e->ptr != ptr)
        link = &e->next;
    if (e) {
        *link = e->next;
        live.objects--;
        live.bytes -= (long)e->size;
        e->next = unused;
        unused = e;
    }
    unlock();
}

void *malloc(size_t size)
{
    return fails_for_memory(size, CALLER) ? NULL : enter(__libc_malloc(size), size, CALLER);
}

void *calloc(size_t num, size_t size)
{
    return fails_for_memory(num * size, CALLER) ? NULL : enter(__libc_calloc(num, size), num * size, CALLER);
}

void free(void *ptr)
{
    leave(ptr);
    __libc_free(ptr);
}

void *realloc(void *ptr, size_t size)
{
    if (fails_for_memory(size, CALLER))
        return NULL;
    leave(ptr); /* before another thread may get the same address */
    return enter(__libc_realloc(ptr, size), size, CALLER);
}

static void *aligned(size_t alignment, size_t size, void *caller)
{
    return fails_for_memory(size, caller) ? NULL : enter(__libc_memalign(alignment, size), size, caller);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return aligned(alignment, size, CALLER);
}

void *memalign(size_t alignment, size_t size)
{
    return aligned(alignment, size, CALLER);
}

int posix_memalign(void **ptr, size_t alignment, size_t size)
{
    void *p = aligned(alignment, size, CALLER);
    if (p)
        *ptr = p;
    return p ? 0 : ENOMEM;
}

static long whole_pages(size_t size)
{
    long page = sysconf(_SC_PAGESIZE);
    return ((long)size + page - 1) / page * page;
}

static void count_mapped(long size)
{
    lock();
    live.mappings += size;
    unlock();
}

void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
    bool fresh = !(flags & MAP_FIXED);
    if (fresh && fails_for_memory(size, CALLER)) {
        was_mapping = true;
        return MAP_FAILED;
    }
    void *ptr = raw_mmap(addr, size, prot, flags, fd, offset);
    if (fresh && ptr != MAP_FAILED)
        count_mapped(whole_pages(size));
    return ptr;
}

int munmap(void *addr, size_t size)
{
    int result = (int)syscall(SYS_munmap, addr, size);
    if (result == 0)
        count_mapped(-whole_pages(size));
    return result;
}

/* --- File descriptors to be woken by --- */

enum { MOST_FDS = 1024 };

static bool is_counted[MOST_FDS];

/* Passes fd through. */
static int count_fd(int fd)
{
    if (fd < 0 || fd >= MOST_FDS)
        return fd;
    lock();
    is_counted[fd] = true;
    live.descriptors++;
    unlock();
    return fd;
}

static bool fails_for_fd(void *caller)
{
    if (!fails(0, ABT_ERR_SYS, caller))
        return false;
    errno = EMFILE;
    return true;
}

int eventfd(unsigned initial, int flags)
{
    return fails_for_fd(CALLER) ? -1 : count_fd((int)syscall(SYS_eventfd2, initial, flags));
}

int pipe(int fds[2])
{
    if (fails_for_fd(CALLER) || syscall(SYS_pipe2, fds, 0) != 0)
        return -1;
    count_fd(fds[0]);
    count_fd(fds[1]);
    return 0;
}

int close(int fd)
{
    lock();
    if (fd >= 0 && fd < MOST_FDS && is_counted[fd]) {
        is_counted[fd] = false;
        live.descriptors--;
    }
    unlock();
    return (int)syscall(SYS_close, fd);
}

/* --- Threads --- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *), void *arg)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (fails(0, ABT_ERR_SYS, CALLER))
        return EAGAIN;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    inside++; /* the thread's own memory stays with the C library, which uses it again */
    int err = real(thread, attr, func, arg);
    inside--;
    return err;
}

int pthread_attr_init(pthread_attr_t *attr)
{
    static int (*real)(pthread_attr_t *);
    if (fails(sizeof(*attr), ABT_ERR_MEM, CALLER))
        return ENOMEM;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_attr_init");
    return real(attr);
}

#endif
