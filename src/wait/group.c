/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/group.h"

#include <sched.h>
#include "arch/cpu.h"
#include "base/assert.h"
#include "os/clock.h"
#include "wait/cpus.h"
#include "wait/word.h"

void abti_group_sleep(struct abti_adaptive *adaptive, uint32_t learnt, _Atomic(uint32_t) *word, uint32_t value)
{
    if (learnt == ABTI_LEARNT_BEFORE) {
        abti_word_wait(word, value, ABTI_CLOCK_NEVER);
        return;
    }
    uint64_t since_ns = abti_clock_mono_ns();
    abti_word_wait(word, value, ABTI_CLOCK_NEVER);
    abti_adaptive_learn_sleep(adaptive, learnt, abti_clock_mono_ns() - since_ns);
}

/*
 * Gives way in the midst of polls: the thread that is waited for may be on this very CPU, where it was woken, and would
 * run only when the polls have ended. But a thread that gives way beside another program loses the rest of its time
 * slice, some milliseconds, so that a usual wait is to end before that. False: another program had the CPU for long, so
 * that the polls are to end.
 */
static bool group_gives_way(void)
{
    enum { LONG_NS = 100000 };
    uint64_t since_ns = abti_clock_mono_ns();
    sched_yield();
    return abti_clock_mono_ns() - since_ns < LONG_NS;
}

/*
 * Looks for a while, by which threads that meet again and again keep step without any system call. Where another
 * program had the CPU for long, nothing is learnt from the last poll: it measures contention for the CPU, not the time
 * that a wake takes.
 */
static bool spins_with_group(struct abti_adaptive *adaptive, uint32_t sleeps, const _Atomic(uint32_t) *word,
                             uint32_t value, uint32_t num, const struct abti_meanwhile *meanwhile, uint32_t *learnt)
{
    enum { SPINS_EACH = 16 }; /* that number of reads of the word for each at what may be done meanwhile */
    struct abti_adaptive_leave leave = abti_adaptive_allow_spins(adaptive, sleeps);
    bool changed = abti_word_is_changed(word, value), goes_on = true;
    if (leave.times == 0)
        return changed;
    for (uint32_t i = 0; i < leave.times && !changed && goes_on; i++) {
        if (i % SPINS_EACH == SPINS_EACH - 1 && abti_meanwhile_poll(meanwhile))
            i = 0;
        else if (i % ABTI_ADAPTIVE_SPINS_TO_YIELD == ABTI_ADAPTIVE_SPINS_TO_YIELD - 1)
            goes_on = group_gives_way();
        else
            abti_cpu_relax();
        changed = abti_word_is_changed(word, value);
    }
    *learnt = goes_on ? leave.level : ABTI_LEARNT_BEFORE;
    if (changed || !goes_on)
        abti_adaptive_learn_spins(adaptive, leave.level, num, goes_on);
    return changed;
}

/*
 * Gives way for a while. In a group of more threads than can run at once, those that are still to come need the CPU,
 * and to give way to them costs less than to sleep and be woken. But a CPU that is given to another program comes back
 * a time slice later, while a thread that sleeps gets it as soon as it is woken. So there is a limit to the time that
 * yields may take.
 */
static bool yields_with_group(struct abti_adaptive *adaptive, uint32_t sleeps, const _Atomic(uint32_t) *word,
                              uint32_t value, uint32_t num, const struct abti_meanwhile *meanwhile)
{
    struct abti_adaptive_leave leave =
        abti_adaptive_allow_yields(adaptive, sleeps, num, abti_load_relaxed(&abti_num_cpus));
    if (leave.times == 0)
        return false;
    uint64_t since_ns = abti_clock_mono_ns(), now_ns = since_ns, alone_ns = 0;
    bool changed = abti_word_is_changed(word, value);
    for (uint32_t i = 0;
         !changed && now_ns - since_ns <= leave.limit_ns && (i < leave.times || alone_ns < leave.least_ns); i++) {
        if (abti_meanwhile_poll(meanwhile)) {
            i = 0;
            since_ns = now_ns = abti_clock_mono_ns();
        }
        uint64_t before_ns = now_ns;
        sched_yield();
        now_ns = abti_clock_mono_ns();
        if (now_ns - before_ns < ABTI_ADAPTIVE_YIELD_ALONE_NS)
            alone_ns += now_ns - before_ns;
        changed = abti_word_is_changed(word, value);
    }
    abti_adaptive_learn_yields(adaptive, leave, num, changed, now_ns - since_ns);
    return changed;
}

bool abti_group_await_soon(struct abti_adaptive *adaptive, uint32_t sleeps, const _Atomic(uint32_t) *word,
                           uint32_t value, uint32_t num, const struct abti_meanwhile *meanwhile, uint32_t *learnt)
{
    abti_assert(adaptive && word && learnt);
    *learnt = ABTI_LEARNT_BEFORE;
    return abti_runs_at_once(num) ? spins_with_group(adaptive, sleeps, word, value, num, meanwhile, learnt)
                                  : yields_with_group(adaptive, sleeps, word, value, num, meanwhile);
}
