/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliefs. A task, or an implicit one, calls MPI, libabtio or libabt, and waits there: its ULT leaves its stream, and
 * the hooks of the ULT (ABTX_self_add_switch_hooks) tell the post of the thread. The stream, which has nothing else to
 * run, asks its source, and makes a ULT that runs tasks of the team: a relief. So it costs nothing until somebody
 * waits. When the wait has ended the first ULT goes on at its own place, on its own thread, when the other one leaves
 * the stream or ends.
 *
 * A relief is a member of its own, with the number of the one that it relieves: what a member knows of the task that it
 * runs, and of regions below, is never moved. Only abtomp_current changes when ULTs take turns, by the hooks. To all
 * counts of tasks a relief is one member more, whose words are in a list behind those of the member (deque.next), for
 * thieves and for abtomp_tasks_are_over. The list only grows; reliefs that have ended are used again, and are freed
 * with the team.
 *
 * What each does.
 *   - A relief runs one task after another, and ends when others are ready on its stream, or after some time, so that
 *     these run, and the stream looks for messages; the stream asks for another one then. It waits for the bell as a
 *     member does, if there is no task, and ends if nobody is to be relieved any more.
 *   - A member that may run any task stands by while it has reliefs (crew_stand_by), and leaves the tasks to them.
 *   - Whatever waits on a stream with reliefs suspends its ULT (abtomp_pause_at). Where there are none a wait blocks
 *     the stream, as it always did: no ULT of a team is suspended there then.
 *   - A member leaves a region, and member 0 ends it, when its reliefs have ended.
 *
 * Nobody waits for ever for a task that nobody takes: as long as a ULT waits unseen its stream has a relief that polls
 * for tasks, or gets one. It finds all tasks but those that a running member has for itself; a member that waits has
 * none for itself (abtomp_make_bare), and those of ULTs of the same stream can be had by each other. A relief that
 * waits for what its own task has made counts as no relief that polls, so that another one is made.
 *
 * Threads that may touch these: a post, and the words of reliefs, are used on the stream only, by ULTs, hooks and the
 * source. One of them runs at a time, and libabt orders them where another thread carries the stream: a blocking region
 * of its ULT. The source gives nothing there, since tasks belong to the thread.
 */
#include "task/relief.h"

#include <stdlib.h>
#include <string.h>

enum { TURN_NS = 20000 }; /* after which a relief leaves the stream to its scheduler */

_Atomic(bool) abtomp_has_waited, abtomp_defers;

/* The stream that the thread has become by libabtomp, if it has, and the ULT that it became. */
static _Thread_local struct {
    ABT_xstream stream;
    ABT_thread ult;
    bool is_there;
} entered;

/* -- ULTs -- */

/* It leaves the stream. */
static void ult_leave(void *arg)
{
    struct abtomp_ult *ult = arg;
    ult->current = abtomp_current;
    ult->post->num_away[ult->stay]++;
    ult->post->running = NULL;
}

/* It is back, perhaps on a thread that carries the stream for a while. */
static void ult_back(void *arg)
{
    struct abtomp_ult *ult = arg;
    ult->post->num_away[ult->stay]--;
    ult->post->running = ult;
    abtomp_own_post = ult->post;
    abtomp_current = ult->current;
}

/* The calling ULT is one of the post from now on. */
static void ult_begin(struct abtomp_ult *ult, struct abtomp_post *post)
{
    *ult = (struct abtomp_ult){.post = post, .next = post->ults, .at = &post->ults};
    ult->link.hooks = (ABTX_switch_hooks){ult_leave, ult_back, ult};
    if (ult->next)
        ult->next->at = &ult->next;
    post->ults = ult;
    post->running = ult;
    (void)ABTX_self_add_switch_hooks(&ult->link);
}

static void ult_end(struct abtomp_ult *ult)
{
    (void)ABTX_self_remove_switch_hooks(&ult->link);
    *ult->at = ult->next;
    if (ult->next)
        ult->next->at = ult->at;
    ult->post->running = NULL;
}

/* -- Reliefs -- */

/* A relief is put at the front of the list behind its lead. */
static struct abtomp_tasks *relief_new(struct abtomp_tasks *lead)
{
    struct abtomp_member *me = abtomp_must_have(aligned_alloc(_Alignof(struct abtomp_member), sizeof(*me)));
    memset(me, 0, sizeof(*me));
    me->team = lead->member->team;
    me->num = lead->member->num;
    struct abtomp_tasks *own = abtomp_tasks_make(me, lead);
    /* relaxed: this stream alone writes it */
    struct abtomp_tasks *next = atomic_load_explicit(&lead->deque.next, memory_order_relaxed);
    atomic_store_explicit(&own->deque.next, next, memory_order_relaxed);
    /* release: pairs with the acquire in abtomp_tasks_next */
    atomic_store_explicit(&lead->deque.next, own, memory_order_release);
    return own;
}

/* A relief that begins as the implicit task of its lead has. What the last one has left in the deque it may have. */
static struct abtomp_tasks *relief_begin(struct abtomp_tasks *lead)
{
    const struct abtomp_member *member = lead->member;
    struct abtomp_tasks *own = abtomp_tasks_next(lead);
    while (own && !own->is_free)
        own = abtomp_tasks_next(own);
    if (!own)
        own = relief_new(lead);
    own->is_free = false;
    own->base = atomic_load_explicit(&own->deque.head, memory_order_relaxed); /* relaxed: a lower bound does */
    struct abtomp_member *me = own->member;
    me->icvs = member->running.has_changed ? member->first_icvs : member->icvs;
    me->league = member->league;
    me->seen = member->seen;
    me->place = member->place;
    me->partition = member->partition;
    me->view = member->view;
    return own;
}

struct relief {
    struct abtomp_post *post;
    struct abtomp_tasks *lead;
    uint64_t begun_ns;
};

static bool relief_is_over(struct abtomp_member *me, void *arg)
{
    const struct relief *relief = arg;
    ABT_bool is_alone = ABT_TRUE;
    (void)me;
    (void)ABTX_self_is_alone(&is_alone);
    if (!is_alone || relief->lead->num_polling > 0 || abtomp_now_ns() - relief->begun_ns > TURN_NS)
        return true;
    /* The last one leaves the tasks to a member that stands by. Otherwise somebody has to wait. */
    return relief->lead->stands_by ? relief->lead->num_reliefs == 1 : relief->post->num_away[ABTOMP_STAYS_UNSEEN] == 0;
}

/* What the ULT of a relief runs. The thread's own variables are not used after others have run. */
static void relief_main(void *arg)
{
    struct abtomp_post *post = arg;
    struct abtomp_tasks *lead = post->asked, *own = relief_begin(lead);
    struct abtomp_member *me = own->member;
    struct relief relief = {post, lead, abtomp_now_ns()};
    struct abtomp_await await = {
        .done = relief_is_over, .arg = &relief, .takes_any = true, .is_relief = true, .docked = lead->docked};
    struct abtomp_ult ult;
    ult_begin(&ult, post);
    abtomp_current = me;
    lead->num_reliefs++;
    post->num_reliefs++;
    abtomp_crew_await(me, own, &await);
    abtomp_make_bare(me);
    post->num_reliefs--;
    lead->num_reliefs--;
    own->is_free = true;
    ult_end(&ult);
    abtomp_crew_tell_over(me->team);
    if (lead->stands_by && lead->num_reliefs <= lead->num_polling)
        abtomp_bell_ring(me->team); /* the member itself goes on, or the last relief ends, which only waits for tasks */
}

static bool has_no_reliefs(struct abtomp_member *me, void *arg)
{
    const struct abtomp_tasks *own = arg;
    (void)me;
    return own->num_reliefs == 0;
}

void abtomp_reliefs_end_slow(struct abtomp_member *me, struct abtomp_tasks *own, uint32_t docked)
{
    struct abtomp_await await = {.done = has_no_reliefs, .arg = own, .takes_any = true, .docked = docked};
    abtomp_bell_ring(me->team);
    abtomp_crew_await(me, own, &await);
}

void abtomp_reliefs_free(struct abtomp_tasks *own)
{
    struct abtomp_tasks *relief = own->lead == own ? abtomp_tasks_next(own) : NULL;
    while (relief) {
        struct abtomp_tasks *next = abtomp_tasks_next(relief);
        abtomp_member_free(relief->member);
        relief = next;
    }
}

/* -- The source -- */

/* Whom a ULT that is away is relieved as. NULL: there is nothing to do for it, or others run its members. */
static struct abtomp_tasks *lead_of(const struct abtomp_ult *ult)
{
    const struct abtomp_member *me = ult->current;
    bool is_away = ult->stay == ABTOMP_STAYS_UNSEEN || ult->stay == ABTOMP_STAYS_RELIEVED;
    if (!is_away || !me || me->spread || me->team->level == 0)
        return NULL;
    /* relaxed: this stream has made them */
    struct abtomp_tasks *own = atomic_load_explicit(&me->tasks, memory_order_relaxed);
    return own ? own->lead : NULL;
}

/* Whether somebody looks for tasks. It is woken if the one that is away has some that nobody else sees. */
static bool is_served(const struct abtomp_ult *ult, const struct abtomp_tasks *lead)
{
    struct abtomp_member *me = ult->current;
    const struct abtomp_tasks *own =
        atomic_load_explicit(&me->tasks, memory_order_relaxed); /* relaxed: as in lead_of */
    if (lead->num_polling == 0)
        return false;
    if (abtomp_deque_num_kept(&own->deque) > 0)
        abtomp_bell_ring(me->team);
    return true;
}

/* relaxed, both: they are hints */
static void note_wait(void)
{
    atomic_store_explicit(&abtomp_has_waited, true, memory_order_relaxed);
    atomic_store_explicit(&abtomp_defers, true, memory_order_relaxed);
}

/*
 * The stream has nothing to run. For a ULT that waits unseen there is always a relief that looks for tasks. A member
 * that stands by is relieved, too, but not while another one waits for what its own task has made: else each such wait
 * would have one more upon it.
 */
static ABT_bool ask_post(void *arg, struct abtx_work *work)
{
    struct abtomp_post *post = arg;
    const uint32_t *num_away = post->num_away;
    if (num_away[ABTOMP_STAYS_UNSEEN] == 0 && (num_away[ABTOMP_STAYS_RELIEVED] == 0 || num_away[ABTOMP_STAYS_TIED] > 0))
        return ABT_FALSE;
    if (!pthread_equal(post->thread, pthread_self()))
        return ABT_FALSE;
    for (const struct abtomp_ult *ult = post->ults; ult; ult = ult->next) {
        struct abtomp_tasks *lead = lead_of(ult);
        if (!lead || is_served(ult, lead))
            continue;
        if (ult->stay == ABTOMP_STAYS_UNSEEN && ult->current->running.is_explicit && !abtomp_tasks_may_wait())
            note_wait();
        post->asked = lead;
        work->func = relief_main;
        work->arg = post;
        return ABT_TRUE;
    }
    return ABT_FALSE;
}

/* -- Posts -- */

/* Stacks are as large as those of the members' threads, and stay with the thread. */
static bool source_begin(struct abtomp_post *post, ABT_xstream stream)
{
    size_t size = abtomp_env.stack_size;
    pthread_attr_t thread;
    if (size == 0 && pthread_attr_init(&thread) == 0) {
        (void)pthread_attr_getstacksize(&thread, &size);
        pthread_attr_destroy(&thread);
    }
    return ABTX_source_open(ask_post, post, size, stream, &post->source) == ABT_SUCCESS;
}

/*
 * Whether the caller is the first ULT of a program that has one stream: nobody else runs what is made there. Other
 * streams of a program may share pools, and then reliefs would move to other threads.
 */
static bool is_first_of_one(void)
{
    ABT_bool is_primary = ABT_FALSE;
    int num = 0;
    return ABT_self_is_primary(&is_primary) == ABT_SUCCESS && is_primary == ABT_TRUE &&
           ABT_xstream_get_num(&num) == ABT_SUCCESS && num == 1;
}

static void stream_enter(bool polls)
{
    if (ABTX_xstream_enter(ABT_SCHED_NULL, &entered.stream) != ABT_SUCCESS)
        return;
    entered.is_there = true;
    (void)ABT_self_get_thread(&entered.ult);
    if (!polls)
        (void)ABTX_xstream_set_spin(entered.stream, 0);
}

/*
 * Members beyond the processors enter one after the other: thousands of them at once would take the processors from the
 * one that has a lock of libabt, or of the system, and from the one that makes the threads.
 */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void abtomp_stream_in_child(void)
{
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* The thread of the member becomes a stream. Without memory it does not. */
static void member_enter(const struct abtomp_member *me)
{
    bool polls = me->num < abtomp_env.num_procs; /* for work, before it sleeps */
    if (!polls)
        pthread_mutex_lock(&turn);
    stream_enter(polls);
    if (!polls)
        pthread_mutex_unlock(&turn);
}

/* Finds the stream of the caller. It must be its own ULT, and not one that the program has made there. */
static bool find_stream(const struct abtomp_member *me, ABT_xstream *stream)
{
    ABT_thread self;
    if (!entered.is_there)
        member_enter(me);
    if (!entered.is_there)
        return is_first_of_one() && ABT_xstream_self(stream) == ABT_SUCCESS;
    *stream = entered.stream;
    return ABT_self_get_thread(&self) == ABT_SUCCESS && self == entered.ult;
}

void abtomp_post_begin(struct abtomp_tasks *own)
{
    const struct abtomp_member *me = own->member;
    ABT_xstream stream = ABT_XSTREAM_NULL;
    if (abtomp_own_post || me->spread || me->team->level == 0 || !find_stream(me, &stream))
        return;
    struct abtomp_post *post = calloc(1, sizeof(*post));
    if (!post)
        return;
    post->thread = pthread_self();
    if (!source_begin(post, stream)) {
        free(post);
        return;
    }
    ult_begin(&post->first, post);
    abtomp_own_post = post;
    own->uses_program_stream = !entered.is_there;
}

/* -- Waits of members without tasks -- */

/* Of libabtmpi. NULL: it is not there. */
int ABTMPI_Suspends(void) __attribute__((weak));

/* Where nobody has set up libabt, and there is no such MPI, a program need not pay for streams before it has tasks. */
bool abtomp_expects_waits(void)
{
    return ABT_initialized() == ABT_SUCCESS || (ABTMPI_Suspends && ABTMPI_Suspends());
}

void abtomp_expect_waits(struct abtomp_member *me)
{
    ABT_thread self;
    if (entered.is_there || ABT_self_get_thread(&self) != ABT_SUCCESS) /* ULTs of the program have others to run */
        (void)abtomp_tasks_of(me);
}

static void post_end(struct abtomp_post *post)
{
    if (!post)
        return;
    ult_end(&post->first);
    ABTX_source_close(post->source);
    free(post);
    abtomp_own_post = NULL;
}

void abtomp_program_stream_end(struct abtomp_tasks *own)
{
    own->uses_program_stream = false;
    post_end(abtomp_own_post);
}

void abtomp_stream_leave(void)
{
    post_end(abtomp_own_post);
    if (entered.is_there)
        (void)ABTX_xstream_leave(&entered.stream);
    entered.is_there = false;
}
