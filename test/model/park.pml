/*
 * Sleeping on pools, for spin: no stream sleeps while a pool that it serves has a unit, whatever the others are busy
 * with. See "Sleeping on pools" in doc/memory-model.md; maint/check-models runs this and each of its mutants.
 *
 * Streams run units, which may take for ever. Others push units, and may take one away from those who come for it, ask a
 * stream to end, or end its sleep by a timer. One step is a section under a pool's lock, or an access without it;
 * memory is sequentially consistent. Whom a claim finds first, which the order of the list decides, is left open.
 * Sleeping itself is in sleep.pml; here a stream just sleeps as long as its word says ASLEEP.
 *
 * A mutant lacks a part of the protocol, or has it in a wrong place: it is made by defining one of the names in the
 * lines "#if..." that end with "mutant".
 */

/* Whom an instance has. Streams 0 and 1 have their own pool first and the other's behind it, stream 2 has pool 0. */
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

#define BIT(s) (1 << (s))
#define NOBODY 7

mtype = { AWAKE, ASLEEP, WOKEN };

byte size[2];       /* units in the pool */
byte num_coming[2]; /* pool->num_coming */
byte parked[2];     /* streams whose entry is in pool->parked */
byte coming[2];     /* streams whose entry says `coming` */
mtype word[3];      /* es->sleeper.word */
bool asked_to_end, time_is_up; /* of stream 0 */
#ifdef DRIVEN
bool driven = true; /* stream 0 is still to push a unit to pool 0 itself */
#endif

#define SERVES_BOTH(s) ((s) < 2)
#define FIRST(s) ((s) & 1)
#define SECOND(s) (1 - (s))
#define HAS_WORK(s) (size[FIRST(s)] > 0 || (SERVES_BOTH(s) && size[1 - FIRST(s)] > 0))

/* pool/parking.c: settle. Lock held. */
inline settle_locked(s, p) {
    if
    :: coming[p] & BIT(s) -> coming[p] = coming[p] & ~BIT(s); num_coming[p]--
    :: else
    fi
}

#ifdef TOO_SPARING /* mutant */
#define HAS_SURPLUS(p) (size[p] > num_coming[p] + 1)
#else
#define HAS_SURPLUS(p) (size[p] > num_coming[p])
#endif
#define CAN_BE_CLAIMED(s, p) ((parked[p] & BIT(s)) && word[s] == ASLEEP)

/* One that does not seek, see abti_parking, or sleeps in a hook: stream 1. */
#ifdef UNCOUNTED
#define COUNTS(s) ((s) != 1)
#else
#define COUNTS(s) true
#endif

/*
 * pool/parking.c: parking_claim_one, wait/sleeper.c: abti_sleeper_claim; only if `wanted`. Lock held. The system call that
 * follows the unlock is not here.
 */
inline parking_claim_one(p, who, wanted) {
    if
    :: wanted && CAN_BE_CLAIMED(0, p) -> who = 0
    :: wanted && CAN_BE_CLAIMED(1, p) -> who = 1
    :: wanted && CAN_BE_CLAIMED(2, p) -> who = 2
    :: else
    fi;
    if
    :: who != NOBODY ->
        word[who] = WOKEN;
        if
        :: COUNTS(who) -> coming[p] = coming[p] | BIT(who); num_coming[p]++
        :: else
        fi;
        who = NOBODY
    :: else
    fi
}

/* pool/parking.c: abti_parking_claim_surplus. Lock held. */
inline claim(p, who) {
    parking_claim_one(p, who, HAS_SURPLUS(p))
}

/* pool/parking.c: abti_parking_claim_surplus by stream `s`, which polls next. Lock held. */
inline come_or_claim(s, woken, who) {
    if
    :: HAS_SURPLUS(0) && COUNTS(s) && !(coming[0] & BIT(s)) ->
        coming[0] = coming[0] | BIT(s); num_coming[0]++;
#ifndef COMES_UNWOKEN /* mutant */
        woken = true
#endif
    :: else -> claim(0, who)
    fi
}

/* pool/parking.c: abti_parking_settle. Its own entry is not in the list, so nobody else changes `coming` meanwhile. */
inline settle(s, p) {
    if
    :: coming[p] & BIT(s) -> atomic { settle_locked(s, p) }
    :: else
    fi
}

/* pool/parking.c: abti_parking_pass: two glances, then the lock. */
inline pass(p, who) {
    if
    :: parked[p] ->
        if
        :: size[p] > 0 -> atomic { claim(p, who) }
        :: else
        fi
    :: else
    fi
}

/* run/sched.c: abti_sched_pass_wake, for one pool. */
inline pass_wake_of(s, p, who) {
#if defined(NO_PASS) /* mutant */
    settle(s, p)
#elif defined(NO_SETTLE) /* mutant */
    pass(p, who)
#elif defined(PASS_BEFORE_SETTLE) /* mutant */
    pass(p, who);
    settle(s, p)
#else
    settle(s, p);
    pass(p, who)
#endif
}

/* run/sched.h: abti_es_pass_wake. */
inline pass_wake(s, woken, who) {
    if
    :: woken ->
        woken = false;
        pass_wake_of(s, FIRST(s), who);
        if
        :: SERVES_BOTH(s) -> pass_wake_of(s, SECOND(s), who)
        :: else
        fi
    :: else
    fi
}

/* pool/fifo.c: fifo_pop: a glance, then the lock. */
inline pop(p, got) {
    if
    :: size[p] > 0 ->
        atomic {
            if
            :: size[p] > 0 -> size[p]--; got = true
            :: else
            fi
        }
    :: else
    fi
}

/* pool/parking.c: abti_parking_enter. */
inline enter(s, p, all_empty) {
    if
    :: size[p] > 0 -> /* the glance */
        settle(s, p);
        all_empty = false
    :: else ->
        atomic {
#ifndef NO_SETTLE_ON_ENTRY /* mutant */
            settle_locked(s, p);
#endif
            parked[p] = parked[p] | BIT(s);
#ifndef NO_LOOK_ON_ENTRY /* mutant */
            all_empty = (size[p] == 0)
#endif
        }
    fi
}

/* stream/park.c: abti_es_park_on. */
inline park(s, woken, all_empty) {
#ifdef ANNOUNCES_LATE /* mutant */
    enter(s, FIRST(s), all_empty);
    if
    :: all_empty && SERVES_BOTH(s) -> enter(s, SECOND(s), all_empty)
    :: else
    fi;
    word[s] = ASLEEP;
#else
    word[s] = ASLEEP; /* wait/sleeper.c: abti_sleeper_prepare */
    enter(s, FIRST(s), all_empty);
    if
    :: all_empty && SERVES_BOTH(s) -> enter(s, SECOND(s), all_empty)
    :: else
    fi;
#endif
    if
    :: all_empty && !(s == 0 && asked_to_end) ->
        /* wait/sleeper.c: abti_sleeper_sleep */
end_asleep:
        (word[s] != ASLEEP || (s == 0 && time_is_up))
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
    /* pool/parking.c: abti_parking_leave */
    parked[0] = parked[0] & ~BIT(s);
    parked[1] = parked[1] & ~BIT(s)
}

/* stream/sched_loop.c: abti_sched_loop, stream/sched_make.c: abti_sched_pick_in_order. */
proctype stream(byte s)
{
    byte who = NOBODY;
    bool got, woken, all_empty = true;

    do
    :: pop(FIRST(s), got);
        if
        :: !got && SERVES_BOTH(s) -> pop(SECOND(s), got)
        :: else
        fi;
        if
        :: got ->
            got = false;
#ifndef NO_PASS_WAKE /* mutant */
            pass_wake(s, woken, who);
#endif
            if
            :: skip /* the unit ends */
            :: goto end_busy /* or does not: this stream does not come back to its pools */
            fi
        :: else
        fi;
#ifdef DRIVEN
        /* stream/events.c: serve_events: a driver or a timer pushes. pool/parking.c: comes_itself */
        if
        :: s == 0 && driven -> driven = false; atomic { size[0]++; come_or_claim(s, woken, who) }
        :: skip
        fi;
#endif
        if
        :: s == 0 && asked_to_end && !HAS_WORK(s) -> break /* stream/events.c: abti_sched_has_to_stop */
        :: else -> park(s, woken, all_empty)
        fi
    od;
#ifndef NO_PASS_AT_THE_END /* mutant */
    pass_wake(s, woken, who);
#endif
end_busy:
    false
}

/* Any thread. pool/fifo.c: fifo_push, pool/parking.c: abti_parking_unlock_and_wake. */
proctype pusher(byte p; byte units)
{
    byte who = NOBODY;

end_pushed:
    do
    :: units > 0 -> atomic { units--; size[p]++; claim(p, who) }
    od
}

/* ABT_pool_pop by some other thread. */
proctype taker(byte p)
{
    bool got;

    pop(p, got)
}

/* stream/sched_loop.c: offer_to_sleepers: glances, then pool/parking.c: abti_parking_offer. */
proctype offerer(byte p)
{
    byte who = NOBODY;

end_unasked:
    (parked[p] && size[p] > 0);
    atomic { parking_claim_one(p, who, true) }
}

/* stream/xstream.c: request_join, rt/self.h: abti_es_wake. */
proctype joiner()
{
    if
    :: asked_to_end = true;
        atomic {
            if
            :: word[0] == ASLEEP -> word[0] = WOKEN
            :: else
            fi
        }
    :: skip
    fi
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
#ifdef OFFERER
        run offerer(OFFERER);
#endif
#ifdef JOINER
        run joiner();
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
    assert(!(SLEEPS(0) && HAS_WORK(0)) && !(SLEEPS(1) && HAS_WORK(1)) && !(SLEEPS(2) && HAS_WORK(2)));
#ifndef MUTANT
    assert(num_coming[0] == 0 && num_coming[1] == 0)
#endif
}
