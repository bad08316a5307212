/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Without memory for stacks programs fell silent: ABT_init succeeded where no stack could ever be had, with
 * ABT_STACK_OVERFLOW_CHECK=mprotect_strict units whose stacks could not be guarded were created and never ran, and
 * who joined a unit that found no stack waited without a word.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "child.h"
#include "emulated.h"
#include "regress.h"
#include "sanitizers.h"

enum { MIB = 1 << 20, FAILED = 1, FINE = 0 };

/* No more than so many bytes of address space above those in use. */
static void limit_space(size_t more)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (!statm || fscanf(statm, "%ld", &pages) != 1)
        _exit(9);
    fclose(statm);
    size_t all = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) + more;
    must(setrlimit(RLIMIT_AS, &(struct rlimit){all, all}));
}

/* --- ABT_init --- */

static int init_without(void *arg)
{
    setenv("ABT_THREAD_STACKSIZE", "268435456", 1);
    limit_space((size_t)64 * MIB);
    if (ABT_init(0, NULL) != ABT_ERR_MEM || ABT_initialized() != ABT_ERR_UNINITIALIZED)
        return FAILED;
    unsetenv("ABT_THREAD_STACKSIZE");
    must(ABT_init(0, NULL));
    must(ABT_finalize());
    return FINE;
}

/* --- Strict guards: the system refuses them after so many --- */

static atomic_int guards_left = INT32_MAX;

#if !UNDER_ASAN && !UNDER_TSAN
int mprotect(void *addr, size_t len, int prot)
{
    if (prot == PROT_NONE && atomic_fetch_sub(&guards_left, 1) <= 0) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_mprotect, addr, len, prot);
}
#endif

static ABT_pool pools[2]; /* a private one, and one for all */
static ABT_xstream stream;
static atomic_int runs;
static ABT_eventual ran;

static void run(void *arg)
{
    atomic_fetch_add(&runs, 1);
    ABT_eventual_set(ran, NULL, 0);
}

enum { PLAIN, UNNAMED, WITH_SIZE, IN_USER_MEMORY, ON_XSTREAM, MANY, TO, NUM_WAYS };

static const char *const way_names[] = {"create",     "create, unnamed", "create, own size", "create, the user's",
                                        "on_xstream", "create_many",     "create_to"};

static int create(int way, ABT_pool pool, ABT_thread *threads)
{
    static _Alignas(64) char memory[4 * 65536]; /* four pages or more */
    void (*funcs[2])(void *) = {run, run};
    ABT_pool both[2] = {pool, pool};
    ABT_thread_attr attr;
    int code;

    must(ABT_thread_attr_create(&attr));
    if (way == WITH_SIZE)
        must(ABT_thread_attr_set_stacksize(attr, 100000));
    if (way == IN_USER_MEMORY)
        must(ABT_thread_attr_set_stack(attr, memory, sizeof(memory)));
    switch (way) {
    case UNNAMED: code = ABT_thread_create(pool, run, NULL, ABT_THREAD_ATTR_NULL, NULL); break;
    case ON_XSTREAM: code = ABT_thread_create_on_xstream(stream, run, NULL, attr, threads); break;
    case MANY: code = ABT_thread_create_many(2, both, funcs, NULL, ABT_THREAD_ATTR_NULL, threads); break;
    case TO: code = ABT_thread_create_to(pool, run, NULL, ABT_THREAD_ATTR_NULL, threads); break;
    default: code = ABT_thread_create(pool, run, NULL, way == PLAIN ? ABT_THREAD_ATTR_NULL : attr, threads);
    }
    must(ABT_thread_attr_free(&attr));
    return code;
}

static void test_way(int way, ABT_pool pool)
{
    ABT_thread threads[2] = {ABT_THREAD_NULL, ABT_THREAD_NULL};
    size_t size;

    runs = 0;
    guards_left = 0;
    is_int(create(way, pool, threads), ABT_ERR_MEM, "%s: without a guard there is no unit", way_names[way]);
    must(ABT_pool_get_total_size(pool, &size));
    is_int(size, 0, "%s: and none is in the pool", way_names[way]);
    guards_left = way == MANY ? 1 : INT32_MAX;
    is_int(create(way, pool, threads), way == MANY ? ABT_ERR_MEM : ABT_SUCCESS, "%s: with one there is",
           way_names[way]);
    guards_left = INT32_MAX;
    must(ABT_eventual_wait(ran, NULL));
    must(ABT_thread_free_many(way == UNNAMED ? 0 : 1, threads));
    must(ABT_eventual_reset(ran));
    is_int(runs, 1, "%s: which runs", way_names[way]);
}

static void *create_outside(void *arg)
{
    test_way(PLAIN, pools[1]);
    must(ABT_eventual_set(arg, NULL, 0));
    return NULL;
}

static void test_strict(void)
{
    ABT_sched sched;
    ABT_eventual outside;
    pthread_t native;
    ABT_thread thread;
    ABT_task task;

    setenv("ABT_STACK_OVERFLOW_CHECK", "mprotect_strict", 1);
    guards_left = 0;
    ok_err(ABT_init(0, NULL), ABT_ERR_MEM);
    guards_left = INT32_MAX;
    must(ABT_init(0, NULL));
    must(ABT_eventual_create(0, &ran));
    pools[0] = make_pool(ABT_POOL_ACCESS_PRIV);
    pools[1] = make_pool(ABT_POOL_ACCESS_MPMC);
    must(ABT_self_get_xstream(&stream));
    must(ABT_sched_create_basic(ABT_SCHED_BASIC, 2, pools, ABT_SCHED_CONFIG_NULL, &sched));
    must(ABT_xstream_set_main_sched(stream, sched));
    for (int way = 0; way < NUM_WAYS; way++) {
        for (int i = 0; i < 2; i++)
            test_way(way, pools[way == ON_XSTREAM ? 0 : i]);
    }
    must(ABT_eventual_create(0, &outside));
    must(pthread_create(&native, NULL, create_outside, outside));
    must(ABT_eventual_wait(outside, NULL));
    must(pthread_join(native, NULL));
    must(ABT_eventual_free(&outside));
    for (int i = 0; i < 2; i++) {
        must(ABT_thread_create(pools[i], run, NULL, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_join(thread));
        guards_left = 0;
        is_int(ABT_thread_revive(pools[i], run, NULL, &thread), ABT_ERR_MEM, "revive: without a guard it stays ended");
        is_int(ABT_thread_revive_to(pools[i], run, NULL, &thread), ABT_ERR_MEM, "revive_to: likewise");
        ok_abt(ABT_task_create(pools[i], run, NULL, &task));
        must(ABT_task_free(&task));
        guards_left = INT32_MAX;
        ok_abt(ABT_thread_revive(pools[i], run, NULL, &thread));
        must(ABT_thread_free(&thread));
    }
    must(ABT_eventual_free(&ran));
    must(ABT_finalize());
    unsetenv("ABT_STACK_OVERFLOW_CHECK");
}

/* --- A stall is told --- */

enum { NUM = 10 };

static size_t num_blocked(ABT_thread *threads)
{
    size_t num = 0;

    for (int i = 0; i < NUM; i++) {
        ABT_thread_state state;
        must(ABT_thread_get_state(threads[i], &state));
        num += state == ABT_THREAD_STATE_BLOCKED;
    }
    return num;
}

/* Times when others have the processor do not count. */
static void yield_for(double seconds)
{
    for (double now, before = ABT_get_wtime(); seconds > 0; before = now) {
        must(ABT_self_yield());
        now = ABT_get_wtime();
        seconds -= now - before < 0.1 ? now - before : 0.1;
    }
}

/* Four stacks, for a fifth there is no room. */
static int stall(void *arg)
{
    ABT_thread threads[NUM];

    setenv("ABT_THREAD_STACKSIZE", "8000000", 1);
    must(ABT_init(0, NULL));
    ABT_pool pool = main_pool();
    limit_space((size_t)36 * MIB);
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_create(pool, unit_suspends, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    yield_for(4.5);
    fprintf(stderr, "%zu blocked\n", num_blocked(threads));
    for (int i = 0; i < NUM; i++) {
        ABT_thread_state state;
        do {
            must(ABT_self_yield());
            must(ABT_thread_get_state(threads[i], &state));
        } while (state != ABT_THREAD_STATE_BLOCKED);
        must(ABT_thread_resume(threads[i]));
        must(ABT_thread_free(&threads[i]));
    }
    must(ABT_finalize());
    return FINE;
}

static int count(const char *words, const char *what)
{
    int num = 0;

    for (; (words = strstr(words, what)); words++)
        num++;
    return num;
}

/* These need a limit of the address space. */
static void test_limited(void)
{
    char words[4096];

    is_int(child_run(init_without, NULL, words, sizeof(words)), FINE, "ABT_init fails where no stack can be had");
    is_int(child_run(stall, NULL, words, sizeof(words)), FINE, "ULTs without stacks run in the end");
    is_int(count(words, "wait for stacks of 8000000 bytes each; the limit is most likely the address space, RLIMIT_AS"),
           1, "a stall is told once");
    is_int(count(words, "6 ULTs"), 1, "how many wait");
    is_int(count(words, "4 blocked\n"), 1, "and that is so");
    if (count(words, "\n") != 2)
        diag("%s", words);
}

int main(void)
{
    regress_begin();
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("a sanitizer needs all address space");
    if (is_emulated())
        skip(5, "an emulator does not keep limits of the address space");
    else
        test_limited();
    test_strict();
    return done_testing();
}
