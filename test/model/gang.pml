/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping in the list of a gang, for spin: no thief sleeps while a pool that it steals from has a unit, whatever the
 * others are busy with. See "Sleeping in a gang" in doc/memory-model.md; maint/check-models runs this and each of its
 * mutants. What is said at the top of park.pml holds here, too. A section under a pool's lock is several steps here, since
 * one looks at the gang in between: others that take that lock wait.
 */

/* All streams steal from both pools. Stream 0 has pool 0 for its own, stream 1 pool 1, and a third one has pool 0. */
#ifndef STREAMS
#define STREAMS 2
#endif
/* Units that are pushed to pool 0, and to pool 1. */
#ifndef UNITS0
#define UNITS0 1
#endif
#ifndef UNITS1
#define UNITS1 1
#endif
/* ENOUGH_COMING. */
#ifndef ENOUGH
#define ENOUGH 2
#endif

#define BIT(s) (1 << (s))
#define NOBODY 7

mtype = { AWAKE, ASLEEP, WOKEN };

byte size[2];    /* units in the pool */
bool locked[2];  /* pool->lock, of a thread that is in several steps */
bool linked[2];  /* the deputy is in pool->parked */
byte in_list;    /* streams whose entry is in gang->sleepers */
byte coming;     /* streams whose entry says `coming` */
byte num_coming; /* gang->num_coming */
mtype word[3];   /* es->sleeper.word */
bool time_is_up; /* of stream 0 */

#define FIRST(s) ((s) & 1)
#define OWNER(p) (p)
#define HAS_WORK (size[0] > 0 || size[1] > 0)
#define NEEDS_MORE(p) (num_coming < size[p] && num_coming < ENOUGH)

/* pool/gang.c: gang_settle. Lock held. */
inline settle_locked(s) {
    if
    :: coming & BIT(s) -> coming = coming & ~BIT(s); num_coming--
    :: else
    fi
}

/* pool/gang.c: gang_pick. Lock held. */
inline pick(s, woke) {
    in_list = in_list & ~BIT(s);
    if
    :: word[s] == ASLEEP -> word[s] = WOKEN; coming = coming | BIT(s); num_coming++; woke = true
    :: else
    fi
}

/*
 * pool/parking.c: parking_claim_one, with abti_gang_claim_locked for the owner and then for the others. The pool's lock is
 * held; the first two are looks without the gang's, and what follows is a section under it.
 */
inline claim(p, woke, own, more) {
    if
    :: linked[p] ->
        own = (in_list & BIT(OWNER(p))) > 0;
        more = NEEDS_MORE(p);
        atomic {
            woke = false;
            if
            :: own && (in_list & BIT(OWNER(p))) -> pick(OWNER(p), woke)
            :: else
            fi;
            do
            :: more && !woke && (in_list & BIT(0)) -> pick(0, woke)
            :: more && !woke && (in_list & BIT(1)) -> pick(1, woke)
            :: more && !woke && (in_list & BIT(2)) -> pick(2, woke)
            :: else -> break
            od;
#ifdef UNLINKS_EARLY /* mutant */
            linked[p] = false;
#else
            if
            :: (own || more) && in_list == 0 -> linked[p] = false
            :: else
            fi;
#endif
            own = false; more = false; woke = false
        }
    :: else
    fi
}

/* pick/sched.c: abti_sched_pass_wake, for one pool: two racy looks, then the lock (abti_parking_pass). */
inline pass(p, woke, own, more) {
    if
    :: linked[p] ->
        if
        :: size[p] > 0 ->
            atomic { !locked[p]; locked[p] = true };
            claim(p, woke, own, more);
            locked[p] = false
        :: else
        fi
    :: else
    fi
}

/* pool/gang.c: abti_gang_settle. */
inline settle(s) {
    if
    :: coming & BIT(s) -> atomic { settle_locked(s) }
    :: else
    fi
}

/* pick/sched.h: abti_es_pass_wake. */
inline pass_wake(s, woken, woke, own, more) {
    if
    :: woken ->
        woken = false;
#ifdef PASSES_BEFORE_SETTLING /* mutant */
        pass(0, woke, own, more);
        pass(1, woke, own, more);
        settle(s)
#else
#ifndef NEVER_SETTLES /* mutant */
        settle(s);
#endif
#ifndef NEVER_PASSES /* mutant */
        pass(0, woke, own, more);
        pass(1, woke, own, more)
#endif
#endif
    :: else
    fi
}

/* pool/randws.c: randws_pop, abti_randws_steal: a racy look, then the lock. */
inline pop(p, got) {
    if
    :: size[p] > 0 ->
        atomic {
            !locked[p];
            if
            :: size[p] > 0 -> size[p]--; got = true
            :: else
            fi
        }
    :: else
    fi
}

/* pool/gang.c: abti_gang_finds_empty. */
inline look(p, all_empty) {
    if
    :: linked[p] -> all_empty = (size[p] == 0)
    :: else ->
#ifndef NEVER_LINKS /* mutant */
        atomic { !locked[p]; linked[p] = true; all_empty = (size[p] == 0) }
#else
        all_empty = (size[p] == 0)
#endif
    fi
}

inline look_at_both(s, all_empty) {
#ifndef NEVER_LOOKS /* mutant */
    look(FIRST(s), all_empty);
    if
    :: all_empty -> look(1 - FIRST(s), all_empty)
    :: else
    fi
#else
    skip
#endif
}

/* stream/park.c: abti_es_park_on. */
inline park(s, woken, all_empty) {
    word[s] = ASLEEP; /* wait/sleeper.c: abti_sleeper_prepare */
#ifdef LOOKS_FIRST /* mutant */
    look_at_both(s, all_empty);
    atomic { settle_locked(s); in_list = in_list | BIT(s) };
#else
    atomic { settle_locked(s); in_list = in_list | BIT(s) }; /* pool/gang.c: abti_gang_enter */
    look_at_both(s, all_empty);
#endif
    if
    :: all_empty ->
end_asleep:
        (word[s] != ASLEEP || (s == 0 && time_is_up)) /* wait/sleeper.c: abti_sleeper_sleep */
    :: else
    fi;
    d_step { /* the exchange in abti_sleeper_sleep, abti_sleeper_cancel */
        if
        :: s == 0 -> time_is_up = false
        :: else
        fi;
#ifdef FORGETS_WAKE /* mutant */
        woken = (word[s] == WOKEN);
#else
        woken = (word[s] == WOKEN || (woken && !all_empty));
#endif
        word[s] = AWAKE;
        all_empty = true
    };
    in_list = in_list & ~BIT(s) /* pool/gang.c: abti_gang_leave */
}

/* stream/sched_loop.c: abti_sched_loop, stream/sched_randws.c: randws_pick. */
proctype stream(byte s)
{
    bool got, woken, all_empty = true, woke, own, more;

    do
    :: pop(FIRST(s), got);
        if
        :: !got -> pop(1 - FIRST(s), got)
        :: else
        fi;
        if
        :: got ->
            got = false;
            pass_wake(s, woken, woke, own, more);
            if
            :: skip /* the unit ends */
            :: goto end_busy /* or does not: this stream does not come back to its pools */
            fi
        :: else -> park(s, woken, all_empty)
        fi
    od;
end_busy:
    false
}

/* Any thread. pool/make.c: abti_pool_push_slow, abti_pool_end_push. */
proctype pusher(byte p; byte units)
{
    bool woke, own, more;

end_pushed:
    do
    :: units > 0 ->
        atomic { !locked[p]; locked[p] = true; units--; size[p]++ };
        claim(p, woke, own, more);
        locked[p] = false
    od
}

/* ABT_pool_pop by some other thread. */
proctype taker(byte p)
{
    bool got;

    pop(p, got)
}

#define SLEEPS(s) (word[s] == ASLEEP)

init {
    atomic {
        word[0] = AWAKE; word[1] = AWAKE; word[2] = AWAKE;
        run stream(0);
        run stream(1);
#if STREAMS > 2
        run stream(2);
#endif
        run pusher(0, UNITS0);
        run pusher(1, UNITS1);
#ifdef TAKER
        run taker(TAKER);
#endif
#ifdef TIMER
        if
        :: time_is_up = true
        :: skip
        fi
#endif
    };
    /* Nobody can do anything any more. The second is about the bookkeeping alone: mutants are caught by the first. */
    timeout ->
    assert(!((SLEEPS(0) || SLEEPS(1) || SLEEPS(2)) && HAS_WORK));
#ifndef MUTANT
    assert(num_coming == 0)
#endif
}
