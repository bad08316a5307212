/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the members of a function's regions may run one after another on one thread. They may not if that thread's
 * variables (thread_local, threadprivate) would be seen: if the module of the function, or the program, has any. What
 * else they may not is learnt: a function whose members wait for each other is better off with threads at once, and so
 * is one that has taken long several times.
 */
#include "team/relay.h"

#include <link.h>

/*
 * A hash table of functions: the key, and in its low bits how often it has taken long, or THREADS. 0: free. A function
 * stays once it is there; one for which there is no room has threads.
 *
 * The key is the address, and above it some bits of what its module is, unless that is the program: another library may
 * be at the place of one that was closed, and its functions have verdicts of their own.
 */
enum { LOG_VERDICTS = 10, NUM_PROBES = 16, BITS = 3, THREADS = 4, AT_BITS = 48 };

static _Atomic(uint64_t) verdicts[1 << LOG_VERDICTS];

/* Constant after abtomp_verdict_start. */
static struct {
    uintptr_t begin, length;
} program;

/* -- Modules -- */

struct search {
    uintptr_t at;
    int num; /* modules that have been seen: the first one is the program */
    bool is_found, has_tls;
};

static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *search = arg;
    bool is_it = false, has_tls = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_TLS && part->p_memsz > 0)
            has_tls = true;
        if (part->p_type == PT_LOAD && search->at - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
            is_it = true;
    }
    if (has_tls && (is_it || search->num == 0))
        search->has_tls = true;
    search->is_found = search->is_found || is_it;
    search->num++;
    return search->has_tls;
}

/* A function that is in no module was made at run time: nothing is known of it. */
static bool sees_thread(void (*fn)(void *))
{
    struct search search = {.at = (uintptr_t)fn};
    (void)dl_iterate_phdr(look_at_module, &search);
    return search.has_tls || !search.is_found;
}

static int look_at_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
        if (program.length == 0)
            program.begin = info->dlpi_addr + part->p_vaddr;
        program.length = end - program.begin;
    }
    return 1; /* the program comes first */
}

void abtomp_verdict_start(void)
{
    (void)dl_iterate_phdr(look_at_program, NULL);
}

/* -- The table -- */

static inline uint64_t key_of(void (*fn)(void *))
{
    uintptr_t at = (uintptr_t)fn;
    if (ABTOMP_LIKELY(at - program.begin < program.length))
        return at;
    return (at ^ abtomp_module_of(fn) << AT_BITS) & (UINT64_MAX >> BITS);
}

/* Where the function with this key is. NULL: it is nowhere, and *unused is where it may be, or NULL. */
static _Atomic(uint64_t) *find_verdict(uint64_t key, _Atomic(uint64_t) **unused)
{
    size_t first = (size_t)((key * 0x9e3779b97f4a7c15U) >> (64 - LOG_VERDICTS));
    for (size_t i = 0; i < NUM_PROBES; i++) {
        _Atomic(uint64_t) *verdict = &verdicts[(first + i) % (1 << LOG_VERDICTS)];
        /* relaxed: a verdict is all that there is to know */
        uint64_t found = atomic_load_explicit(verdict, memory_order_relaxed);
        if (ABTOMP_LIKELY(found >> BITS == key))
            return verdict;
        if (found == 0) {
            *unused = verdict;
            return NULL;
        }
    }
    *unused = NULL;
    return NULL;
}

static __attribute__((noinline)) bool judge_function(void (*fn)(void *), uint64_t key, _Atomic(uint64_t) *unused)
{
    bool may = !sees_thread(fn);
    uint64_t none = 0, verdict = key << BITS | (may ? 0 : THREADS);
    /* relaxed, both: as in find_verdict. If another thread has the place, the next region judges again */
    (void)atomic_compare_exchange_strong_explicit(unused, &none, verdict, memory_order_relaxed, memory_order_relaxed);
    return may;
}

bool abtomp_verdict(void (*fn)(void *))
{
    uint64_t key = key_of(fn);
    _Atomic(uint64_t) *unused, *verdict = find_verdict(key, &unused);
    if (ABTOMP_LIKELY(verdict != NULL))
        return (atomic_load_explicit(verdict, memory_order_relaxed) & THREADS) == 0; /* relaxed: as in find_verdict */
    return unused && judge_function(fn, key, unused);
}

void abtomp_verdict_learn(void (*fn)(void *), bool has_waited)
{
    _Atomic(uint64_t) *unused, *verdict = find_verdict(key_of(fn), &unused);
    if (!verdict)
        return;
    /* relaxed, all: as in find_verdict */
    uint64_t found = atomic_load_explicit(verdict, memory_order_relaxed), learnt;
    do {
        if (found & THREADS)
            return;
        learnt = has_waited ? found | THREADS : found + 1;
    } while (
        !atomic_compare_exchange_weak_explicit(verdict, &found, learnt, memory_order_relaxed, memory_order_relaxed));
}
