/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages of 64 KiB, as on POWER and some AArch64, on any machine: the C library's functions stand here again, say so,
 * map at such boundaries, and note what is asked of anything else than whole pages.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abt.h"
#include "must.h"
#include "raw_mmap.h"
#include "sanitizers.h"
#include "tap.h"

enum { PAGE = 65536, UNITS = 100 };

static _Atomic(long) maps, odd;

/* Other libraries know the real size. */
#define LOOK(ptr, size) look(ptr, size, __builtin_return_address(0))

static void look(const void *ptr, size_t size, const void *caller)
{
    extern char __executable_start, etext;

    if ((const char *)caller >= &__executable_start && (const char *)caller < &etext &&
        ((uintptr_t)ptr | size) % PAGE != 0)
        atomic_fetch_add(&odd, 1);
}

#if !UNDER_ASAN && !UNDER_TSAN /* they have these functions, too */

long sysconf(int name)
{
    if (name == _SC_PAGESIZE)
        return PAGE;
    if (name == _SC_PHYS_PAGES)
        return 1 << 16;
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? 2 : -1;
}

void *mmap(void *ptr, size_t size, int prot, int flags, int fd, off_t offset)
{
    if (ptr || !(flags & MAP_ANONYMOUS) || flags & MAP_HUGETLB)
        return raw_mmap(ptr, size, prot, flags, fd, offset);
    atomic_fetch_add(&maps, 1);
    LOOK(NULL, size);
    char *low = raw_mmap(ptr, size + PAGE, prot, flags, fd, offset);
    if (low == MAP_FAILED)
        return low;
    size_t before = -(uintptr_t)low % PAGE;
    if (before > 0)
        syscall(SYS_munmap, low, before);
    syscall(SYS_munmap, low + before + size, PAGE - before);
    return low + before;
}

int munmap(void *ptr, size_t size)
{
    LOOK(ptr, size);
    return (int)syscall(SYS_munmap, ptr, size);
}

int mprotect(void *ptr, size_t size, int prot)
{
    LOOK(ptr, size);
    return (int)syscall(SYS_mprotect, ptr, size, prot);
}

int madvise(void *ptr, size_t size, int advice)
{
    LOOK(ptr, size);
    return (int)syscall(SYS_madvise, ptr, size, advice);
}

#endif

static ABT_key key;

static void use_stack(void *arg)
{
    volatile char room[8000];

    memset((char *)room, 1, sizeof(room));
    must(ABT_key_set(key, arg));
    must(ABT_self_yield());
}

static void run_units(size_t size)
{
    ABT_thread_attr attr;
    ABT_thread threads[UNITS];

    ABT_pool pool = main_pool();
    must(ABT_thread_attr_create(&attr));
    if (size > 0)
        must(ABT_thread_attr_set_stacksize(attr, size));
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(pool, use_stack, &threads[i], attr, &threads[i]));
    must(ABT_thread_free_many(UNITS, threads));
    must(ABT_thread_attr_free(&attr));
}

static void test_whole_pages(const char *variable, const char *value)
{
    static const size_t sizes[] = {0, 20000, 100000, 1 << 20, (16 << 20) + 1};

    if (variable)
        setenv(variable, value, 1);
    atomic_store(&maps, 0);
    atomic_store(&odd, 0);
    must(ABT_init(0, NULL));
    must(ABT_key_create(NULL, &key));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        run_units(sizes[i]);
    must(ABT_key_free(&key));
    must(ABT_finalize());
    is_int(odd, 0, "%s=%s: nothing but whole pages", variable ? variable : "default", value);
    if (variable)
        unsetenv(variable);
}

int main(void)
{
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("sanitizers have these functions, too");
    test_whole_pages(NULL, "");
    ok(maps > 0, "they are asked for");
    test_whole_pages("ABT_KEY_TABLE_SIZE", "3");
    test_whole_pages("ABT_KEY_TABLE_SIZE", "40");
    test_whole_pages("ABT_STACK_OVERFLOW_CHECK", "mprotect");
    test_whole_pages("ABT_STACK_OVERFLOW_CHECK", "none");
    test_whole_pages("ABT_MEM_LP_ALLOC", "malloc");
    test_whole_pages("ABT_MEM_LP_ALLOC", "thp");
    test_whole_pages("ABT_MEM_PAGE_SIZE", "4096");
    test_whole_pages("ABT_MEM_STACK_PAGE_SIZE", "4096");
    test_whole_pages("ABT_THREAD_STACKSIZE", "5000");
    return done_testing();
}
