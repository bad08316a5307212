/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks of other sizes than the default one are kept for the next unit: making, joining and freeing such units asks
 * nothing of the system in the long run. The calls that would are counted here.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "must.h"
#include "raw_mmap.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CANNOT_COUNT 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CANNOT_COUNT 1
#endif

static atomic_long asked;

#ifndef CANNOT_COUNT
#define CANNOT_COUNT 0

/* Those of the library come here, too. */
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    atomic_fetch_add(&asked, 1);
    return raw_mmap(addr, len, prot, flags, fd, offset);
}

int munmap(void *addr, size_t len)
{
    atomic_fetch_add(&asked, 1);
    return (int)syscall(SYS_munmap, addr, len);
}

int madvise(void *addr, size_t len, int advice)
{
    atomic_fetch_add(&asked, 1);
    return (int)syscall(SYS_madvise, addr, len, advice);
}

int mprotect(void *addr, size_t len, int prot)
{
    atomic_fetch_add(&asked, 1);
    return (int)syscall(SYS_mprotect, addr, len, prot);
}
#endif

enum { UNITS = 100, ROUNDS = 50 };

static ABT_pool pool;
static ABT_thread units[UNITS];
static ABT_thread_attr attr;
static atomic_int bad;

/* It has what it was promised: the ends can be written to, and are told. */
static void use_stack(void *size_wanted)
{
    size_t size, want = (size_t)(uintptr_t)size_wanted;
    ABT_thread self;
    void *addr;
    char here;

    must(ABT_self_get_thread(&self));
    must(ABT_thread_get_stack(self, &addr, &size));
    if (size != want || &here < (char *)addr || &here >= (char *)addr + size)
        atomic_fetch_add(&bad, 1);
    ((volatile char *)addr)[0] = 1;
    must(ABT_self_yield());
    if (((volatile char *)addr)[0] != 1)
        atomic_fetch_add(&bad, 1);
    ((volatile char *)addr)[0] = 0;
}

static void round_of(size_t size)
{
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(pool, use_stack, (void *)(uintptr_t)size, attr, &units[i]));
    must(ABT_thread_free_many(UNITS, units));
}

static long asked_by_rounds(size_t size)
{
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, size));
    round_of(size);
    round_of(size);
    long before = atomic_load(&asked);
    for (int i = 0; i < ROUNDS; i++)
        round_of(size);
    must(ABT_thread_attr_free(&attr));
    return atomic_load(&asked) - before;
}

static void *by_external(void *arg)
{
    long *calls = arg;
    *calls = asked_by_rounds(100000);
    return NULL;
}

/* Units made on one stream and freed on another, on and on: the stacks come back. */
static void make_some(void *arg)
{
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(pool, use_stack, (void *)(uintptr_t)100000, attr, &units[i]));
}

static void across_streams(void)
{
    ABT_thread maker;
    long before = 0;

    ABT_xstream es = new_xstream();
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 100000));
    for (int i = 0; i < ROUNDS; i++) {
        if (i == 4)
            before = atomic_load(&asked);
        must(ABT_thread_create_on_xstream(es, make_some, NULL, ABT_THREAD_ATTR_NULL, &maker));
        must(ABT_thread_free(&maker));
        must(ABT_thread_free_many(UNITS, units));
    }
    is_int(atomic_load(&asked) - before, 0, "made on one stream, freed on another");
    must(ABT_thread_attr_free(&attr));
    must(ABT_xstream_free(&es));
}

int main(void)
{
    static const size_t sizes[] = {4096, 17000, 65536, 100000, 1 << 20, 2 << 20, 16 << 20};
    pthread_t external;
    ABT_bool in_assembly;
    long calls = -1;

    if (CANNOT_COUNT)
        skip_all("a sanitizer has these calls");
    setenv("ABT_MEM_MAX_NUM_STACKS", "1000000", 1); /* nothing is given back, however long this takes */
    must(ABT_init(0, NULL));
    pool = main_pool();
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_FCONTEXT, &in_assembly));
    /* Contexts of the C library's do not fit into the smallest. */
    for (size_t i = !in_assembly; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        is_int(asked_by_rounds(sizes[i]), 0, "stacks of %zu bytes are used again", sizes[i]);
    ok(asked_by_rounds((16 << 20) + 4096) > 0, "larger ones have a mapping each");
    must(pthread_create(&external, NULL, by_external, &calls));
    while (__atomic_load_n(&calls, __ATOMIC_ACQUIRE) < 0)
        must(ABT_self_yield());
    must(pthread_join(external, NULL));
    is_int(calls, 0, "units that another thread makes and frees");
    across_streams();
    is_int(atomic_load(&bad), 0, "each had a stack of its own, of the size asked for");
    must(ABT_finalize());
    return done_testing();
}
