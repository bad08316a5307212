/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/external.h"

#include <pthread.h>
#include <stdlib.h>
#include "lock/spin.h"
#include "os/peek.h"
#include "wait/task.h"

struct external {
    struct abti_listed_thread listed;
    struct abti_known known;
};

_Atomic(bool) abti_externals_are_wanted;

void abti_known_set_self(struct abti_known *known)
{
    /* It fails where the process has used up its keys: then nothing is known of any thread. */
    (void)abti_thread_set_word(ABTI_THREAD_KNOWN, known);
}

static struct abti_spin external_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);
static struct abti_listed_thread *externals;   /* external_lock */
static struct abti_listed_thread *own_threads; /* external_lock */
static unsigned num_unlisted;      /* external_lock: those for which there was no memory; they stay for ever */
static pthread_key_t external_key; /* its value is the record, which goes when its thread ends */

static struct external *external_of(struct abti_listed_thread *listed)
{
    return ABTI_CONTAINER_OF(listed, struct external, listed);
}

/* The calling thread. relaxed: a thread that does not see the number takes it for unknown */
static void enter_list(struct abti_listed_thread **list, struct abti_listed_thread *self)
{
    abti_store_relaxed(&self->task, abti_task_self());
    abti_spin_lock(&external_lock);
    self->at = list;
    self->next = *list;
    if (*list)
        (*list)->at = &self->next;
    *list = self;
    abti_spin_unlock(&external_lock);
}

static void leave_list(struct abti_listed_thread *thread)
{
    abti_spin_lock(&external_lock);
    *thread->at = thread->next;
    if (thread->next)
        thread->next->at = thread->at;
    abti_spin_unlock(&external_lock);
}

/* external_lock held. relaxed: the lock orders it. NULL: it is not in the list. */
static struct abti_listed_thread *find_task(struct abti_listed_thread *list, int task)
{
    while (list && abti_load_relaxed(&list->task) != task)
        list = list->next;
    return list;
}

static void external_leave(void *value)
{
    struct external *external = value;
    leave_list(&external->listed);
    abti_known_set_self(NULL);
    free(external);
}

void abti_externals_want(bool wanted)
{
    static bool has_key;
    if (wanted && !has_key)
        has_key = pthread_key_create(&external_key, external_leave) == 0;
    abti_store_relaxed(&abti_externals_are_wanted, wanted && has_key); /* relaxed: see abti_external_note */
}

void abti_external_enter(void)
{
    static struct abti_known unlisted;
    struct external *external = calloc(1, sizeof(*external));
    if (external && pthread_setspecific(external_key, external) != 0) {
        free(external);
        external = NULL;
    }
    if (external) {
        enter_list(&externals, &external->listed);
    } else {
        abti_spin_lock(&external_lock);
        num_unlisted++;
        abti_spin_unlock(&external_lock);
    }
    abti_known_set_self(external ? &external->known : &unlisted);
}

bool abti_known_is_asleep(struct abti_known *known)
{
    /* acquire: pairs with the release in abti_word_wait, so that the value is that of this word */
    _Atomic(uint32_t) *word = abti_load_acquire(&known->word);
    uint32_t value;
    /* relaxed: a racy read. The word may be stored on the stack of the thread, which may be on its way */
    return word && abti_peek(&value, word, sizeof(value)) && value == abti_load_relaxed(&known->value) &&
           abti_load_relaxed(&known->word) == word;
}

/* --- The library's own --- */

void abti_own_enter(struct abti_listed_thread *own)
{
    enter_list(&own_threads, own);
}

void abti_own_leave(struct abti_listed_thread *own)
{
    leave_list(own);
}

/* --- All others --- */

/* external_lock held. */
static void count_external(struct abti_outsiders *outsiders, struct abti_listed_thread *external)
{
    outsiders->externals++;
    outsiders->asleep += abti_known_is_asleep(&external_of(external)->known);
}

static void count_task(int task, void *outsiders_)
{
    struct abti_outsiders *outsiders = outsiders_;
    abti_spin_lock(&external_lock);
    bool known = find_task(own_threads, task) != NULL;
    struct abti_listed_thread *external = known ? NULL : find_task(externals, task);
    if (external)
        count_external(outsiders, external);
    abti_spin_unlock(&external_lock);
    if (!known && !external && !abti_task_is_foreign(task))
        outsiders->unknown++;
}

unsigned abti_externals_list(struct abti_external_note *notes, unsigned room)
{
    unsigned num = 0;
    abti_spin_lock(&external_lock);
    for (struct abti_listed_thread *external = externals; external && num < room; external = external->next) {
        struct abti_known *known = &external_of(external)->known;
        notes[num++] = (struct abti_external_note){
            .task = abti_load_relaxed(&external->task),
            .owns_as = abti_load_relaxed(&known->owns_as), /* relaxed, here as below: only shown, and compared */
            .word = abti_known_is_asleep(known) ? abti_load_relaxed(&known->word) : NULL,
        };
    }
    abti_spin_unlock(&external_lock);
    return num;
}

/* Registered threads alone, where the system does not tell more. */
static void count_externals(struct abti_outsiders *outsiders)
{
    abti_spin_lock(&external_lock);
    for (struct abti_listed_thread *external = externals; external; external = external->next)
        count_external(outsiders, external);
    abti_spin_unlock(&external_lock);
}

void abti_outsiders_count(struct abti_outsiders *outsiders)
{
    *outsiders = (struct abti_outsiders){0};
    outsiders->counted = abti_task_walk(count_task, outsiders);
    if (!outsiders->counted)
        count_externals(outsiders);
    abti_spin_lock(&external_lock);
    outsiders->externals += num_unlisted;
    abti_spin_unlock(&external_lock);
}

void abti_own_forget(void)
{
    abti_spin_forget(&external_lock, ABTI_RANK_LEAF);
    own_threads = NULL;
}

void abti_externals_forget(void)
{
    abti_own_forget();
    externals = NULL;
    num_unlisted = 0;
    if (abti_known_self)
        pthread_setspecific(external_key, NULL);
    abti_known_set_self(NULL);
}
