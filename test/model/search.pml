/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searching for what is made when it is asked for, for spin: no stream sleeps while an owner has tasks that nobody has
 * asked it for, or has published some, though those who have taken tasks may not come back for long. See
 * stream/source.h; maint/check-models runs this and each of its mutants. Each step is one access, or a section under the
 * source's lock: what the sources have between two of them is a seq_cst fence.
 */

/* Streams that take tasks. */
#ifndef THIEVES
#define THIEVES 2
#endif
/* What the owner has to give. It has one deque. */
#ifndef TASKS
#define TASKS 2
#endif
/* SEARCH_PATIENT. */
#ifndef ENOUGH
#define ENOUGH 1
#endif

mtype = { BUSY, IDLE, WOKEN };

byte left = TASKS; /* private tasks of the owner */
byte published;    /* its public ones */
bool unasked = true, request;
mtype state[THIEVES];
bool searches[THIEVES];
byte idle, searching;

/* stream/source_search.c: claim_search. */
inline claim(claimed) {
    atomic {
        if
        :: searching < ENOUGH -> searching++; claimed = true
        :: else
        fi
    }
}

/* abti_source_wake_one, and wake_idler. */
inline wake_one() {
    if
    :: idle == 0
    :: else ->
        claim(claimed);
        if
        :: claimed ->
            atomic {
                claimed = false;
                if
                :: state[0] == IDLE -> state[0] = WOKEN; searches[0] = true; idle--
                :: state[1] == IDLE -> state[1] = WOKEN; searches[1] = true; idle--
#if THIEVES > 2
                :: state[2] == IDLE -> state[2] = WOKEN; searches[2] = true; idle--
#endif
                :: else
#ifndef UNCOUNTS_LATE /* mutant */
                    -> searching--
#else
                    -> claimed = true
#endif
                fi
            }
#ifdef UNCOUNTS_LATE
            if
            :: claimed -> searching--; claimed = false
            :: else
            fi
#endif
        :: else
        fi
    fi
}

inline end_search(t) {
    if
    :: searches[t] -> searches[t] = false; searching--
    :: else
    fi
}

/* fork/workers.c: steal_from, of which deque.c says what is atomic. */
inline steal(found) {
    atomic {
        if
        :: published > 0 -> published--; found = true
        :: else
        fi
    };
    if
    :: found && published > 0 -> wake_one()
    :: else
    fi
}

/* ask_of and abti_deque_ask. */
inline ask() {
    atomic {
        if
        :: unasked -> unasked = false; request = true
        :: else
        fi
    }
}

/* Looks, and asks, unless the deque has published lately. */
inline look(found) {
    steal(found);
    if
    :: !found -> ask()
    :: true
    fi
}

active [THIEVES] proctype thief() {
    byte me = _pid;
    bool found, alone, had_searched, claimed;
    state[me] = BUSY;
again:
    found = false;
    alone = false;
    look(found);
    if
    :: !found ->
        /* may_search */
        if
        :: !searches[me] -> claim(claimed); searches[me] = claimed; claimed = false
        :: else
        fi;
        if
        :: searches[me] -> look(found)
        :: else
        fi
    :: else
    fi;
    if
    :: !found ->
        /* become_idle, and ask_idle */
#ifdef COUNTS_EARLY /* mutant */
        alone = searching == 0 || (searching == 1 && searches[me]);
#endif
        end_search(me);
        atomic { state[me] = IDLE; idle++ };
#ifndef COUNTS_EARLY
        alone = searching == 0;
#endif
#ifdef NEVER_ALONE /* mutant */
        alone = false;
#endif
        steal(found);
        if
        :: !found && alone -> ask()
        :: else
        fi
    :: else
    fi;
    if
    :: found ->
        /* set_busy_locked: leave_idle and leave_search */
        atomic {
            if
            :: state[me] == IDLE -> idle--
            :: else
            fi;
            state[me] = BUSY
        };
#ifdef RESIGNS_UNSEEN /* mutant */
        alone = false;
#endif
        had_searched = searches[me] || alone;
        end_search(me);
#ifndef HANDS_NOTHING_OVER /* mutant */
        if
        :: had_searched && searching == 0 -> wake_one()
        :: else
        fi;
#endif
        had_searched = false;
        if
        :: goto again
        :: goto runs /* for ever */
        fi
    :: else
    fi;
end_sleeps:
    state[me] == WOKEN;
    state[me] = BUSY;
    goto again;
runs:
    skip
}

/* It forks now and then. */
active proctype owner() {
    bool claimed;
    do
    :: atomic { left > 0 && request -> request = false; left--; published++ };
        unasked = true;
        wake_one()
    :: timeout ->
        /* all that is asleep has nothing to run, unless all have been given some */
        assert(idle == 0 || (left == 0 && published == 0));
        break
    od
}
