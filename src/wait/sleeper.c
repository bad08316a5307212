#include "wait/sleeper.h"

#include "os/wakefd.h"
#include "wait/word.h"

/* All accesses to the word are sequentially consistent: sleep and wake are a store-load exchange. */

void abti_sleeper_prepare(struct abti_sleeper *s)
{
    abti_store_seq_cst(&s->word, ABTI_ASLEEP);
}

void abti_sleeper_prepare_fd(struct abti_sleeper *s, int signal_fd)
{
    abti_store_seq_cst(&s->word, ABTI_IN_LOOP | (uint32_t)signal_fd << ABTI_SLEEPER_BITS);
}

bool abti_sleeper_sleep(struct abti_sleeper *s, uint64_t deadline_ns)
{
    bool in_time = true;
    while (abti_load_seq_cst(&s->word) == ABTI_ASLEEP && in_time)
        in_time = abti_word_wait(&s->word, ABTI_ASLEEP, deadline_ns);
    return atomic_exchange(&s->word, ABTI_AWAKE) == ABTI_WOKEN;
}

bool abti_sleeper_cancel(struct abti_sleeper *s)
{
    return atomic_exchange(&s->word, ABTI_AWAKE) == ABTI_WOKEN;
}

bool abti_sleeper_is_woken(struct abti_sleeper *s)
{
    return abti_load_seq_cst(&s->word) == ABTI_WOKEN;
}

/*
 * How to wake is in the word that was exchanged: once it is, the sleeper may go on, and be gone. So a wakeup is the
 * address of the word, which need not be there any more, or a file descriptor, marked by the lowest bit.
 *
 * When the exchange fails after the look, the sleeper has been awake in between, and has looked since.
 */
abti_wakeup abti_sleeper_claim(struct abti_sleeper *s)
{
    uint32_t word = abti_load_seq_cst(&s->word);
    bool in_loop = (word & ABTI_IN_LOOP) == ABTI_IN_LOOP;
    if ((word != ABTI_ASLEEP && !in_loop) || !atomic_compare_exchange_strong(&s->word, &word, ABTI_WOKEN))
        return NULL;
    return (abti_wakeup)(in_loop ? (uintptr_t)(word >> ABTI_SLEEPER_BITS) << 1 | 1 : (uintptr_t)s);
}

bool abti_sleeper_wake(struct abti_sleeper *s)
{
    abti_wakeup wakeup = abti_sleeper_claim(s);
    abti_wakeup_send(wakeup);
    return wakeup != NULL;
}

void abti_wakeup_send(abti_wakeup wakeup)
{
    uintptr_t how = (uintptr_t)wakeup;
    if (ABTI_LIKELY(how == 0))
        return;
    if (how & 1)
        abti_wakefd_signal((int)(how >> 1));
    else
        abti_word_wake(&((struct abti_sleeper *)how)->word);
}

/* When somebody whose place to sleep was claimed comes is not up to a hook of the user's. */
bool abti_wakeup_is_sure(abti_wakeup wakeup)
{
    return ((uintptr_t)wakeup & 1) == 0;
}
