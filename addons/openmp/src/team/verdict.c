/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the members of a function's regions may run one after another on one thread. They may not if that thread's
 * variables (thread_local, threadprivate) would be seen: if the program has any, or if the function is of a library,
 * which may have some, and whose functions come and go. What else they may not is learnt: a function whose members wait
 * for each other is better off with threads at once, and so is one that has taken long several times.
 */
#include "team/serial.h"

#include <link.h>

/*
 * A hash table of functions of which something is known: the address, and in the low bits how often it has taken long,
 * or THREADS. 0: free. A function stays once it is there; one for which there is no room has threads.
 */
enum { LOG_VERDICTS = 10, NUM_PROBES = 16, BITS = 3, THREADS = 4 };

static _Atomic(uint64_t) verdicts[1 << LOG_VERDICTS];

/* Where functions are that may run so. Constant after abtomp_verdict_start. */
static struct {
    uintptr_t begin, length;
} program;

static int look_at_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    bool has_tls = false;
    (void)size, (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        has_tls = has_tls || (part->p_type == PT_TLS && part->p_memsz > 0);
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
        if (program.length == 0)
            program.begin = info->dlpi_addr + part->p_vaddr;
        program.length = end - program.begin;
    }
    if (has_tls)
        program.length = 0;
    return 1; /* the program comes first */
}

void abtomp_verdict_start(void)
{
    (void)dl_iterate_phdr(look_at_program, NULL);
}

/* Where the function is, or may be. NULL: there is no room. */
static _Atomic(uint64_t) *find_verdict(uint64_t at)
{
    size_t first = (size_t)((at * 0x9e3779b97f4a7c15U) >> (64 - LOG_VERDICTS));
    for (size_t i = 0; i < NUM_PROBES; i++) {
        _Atomic(uint64_t) *verdict = &verdicts[(first + i) % (1 << LOG_VERDICTS)];
        /* relaxed: a verdict is all that there is to know */
        uint64_t found = atomic_load_explicit(verdict, memory_order_relaxed);
        if (ABTOMP_LIKELY(found == 0 || found >> BITS == at))
            return verdict;
    }
    return NULL;
}

bool abtomp_verdict(void (*fn)(void *))
{
    uintptr_t at = (uintptr_t)fn;
    if (at - program.begin >= program.length)
        return false;
    const _Atomic(uint64_t) *verdict = find_verdict(at);
    return verdict && (atomic_load_explicit(verdict, memory_order_relaxed) & THREADS) == 0; /* relaxed: as there */
}

void abtomp_verdict_learn(void (*fn)(void *), bool has_waited)
{
    uint64_t at = (uintptr_t)fn, learnt;
    _Atomic(uint64_t) *verdict = find_verdict(at);
    if (!verdict)
        return;
    /* relaxed, all: as in find_verdict. If another function has the place, the next region learns again */
    uint64_t found = atomic_load_explicit(verdict, memory_order_relaxed);
    do {
        if ((found & THREADS) || (found != 0 && found >> BITS != at))
            return;
        learnt = has_waited ? at << BITS | THREADS : (found | at << BITS) + 1;
    } while (
        !atomic_compare_exchange_weak_explicit(verdict, &found, learnt, memory_order_relaxed, memory_order_relaxed));
}
