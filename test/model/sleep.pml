/*
 * One native thread that sleeps by itself, and two that wake it, for spin: wait/sleeper.c. See
 * "Sleeping" in doc/memory-model.md; maint/check-models runs this and each of its mutants.
 *
 * A store may stand in its processor's buffer, seen by nobody else, while the same processor goes on. What is
 * sequentially consistent waits until the buffer is empty. A mutant is made by defining one of the names in the lines
 * "#if..." that end with "mutant".
 */
#define WAKERS 2

mtype = { AWAKE, ASLEEP, WOKEN };

mtype word = AWAKE; /* sleeper->word */
byte things;        /* what the sleeper waits for */
bool in_futex;      /* the thread is asleep in the system */
bool announces;     /* ASLEEP stands in the sleeper's buffer */
bool brings[WAKERS]; /* one more thing stands in a waker's buffer */
byte claims, calls; /* ASLEEP -> WOKEN, and calls of the system for it */

/* The buffers are written to memory at any time. */
active proctype memory()
{
end_written:
    do
    :: atomic { announces -> announces = false; word = ASLEEP }
    :: atomic { brings[0] -> brings[0] = false; things++ }
    :: atomic { brings[1] -> brings[1] = false; things++ }
    od
}

active proctype sleeper()
{
    byte got;
    bool stray = true; /* one sleep may end by a signal, or by the late wake of an earlier one */

end_done:
    do
    :: got < WAKERS ->
#ifdef LOOKS_FIRST /* mutant */
        if
        :: things > 0 -> got++; things--; goto end_done
        :: else
        fi;
        announces = true;
        !announces;
#else
        announces = true; /* abti_sleeper_prepare */
#ifndef RELAXED_ANNOUNCEMENT /* mutant */
        !announces;
#endif
        if
        :: things > 0 ->
            !announces;
            word = AWAKE; /* abti_sleeper_cancel */
            got++;
            things--;
            goto end_done
        :: else
        fi;
#endif
        /* abti_sleeper_sleep; the system compares the word before it puts the thread to sleep. */
        do
        :: announces || word == ASLEEP ->
            !announces; /* a call of the system */
#ifdef FUTEX_DOES_NOT_COMPARE /* mutant */
            in_futex = true;
#else
            atomic {
                if
                :: word == ASLEEP -> in_futex = true
                :: else
                fi
            };
#endif
end_asleep:
            if
            :: !in_futex
            :: stray -> stray = false; in_futex = false
            fi
        :: else -> break
        od;
        atomic {
            assert(word == WOKEN); /* it has no deadline */
            word = AWAKE
        }
    od
}

active [WAKERS] proctype waker()
{
    byte me = _pid - 2;
    bool claimed;

    brings[me] = true;
#ifndef RELAXED_THING /* mutant */
    !brings[me];
#endif
    if /* sleeper_claim: a look, then a compare-and-swap, which empties the buffer */
    :: word == ASLEEP ->
        !brings[me];
        atomic {
            if
            :: word == ASLEEP -> word = WOKEN; claimed = true; claims++
            :: else
            fi
        };
#ifdef CALLS_IN_ANY_CASE /* mutant */
        claimed = true;
#endif
        if
        :: claimed -> in_futex = false; calls++ /* abti_parking_wake */
        :: else
        fi
    :: else
    fi
}

init {
    /* Nobody can do anything any more. */
    timeout ->
    assert(!(in_futex && things > 0));
    assert(calls == claims)
}
