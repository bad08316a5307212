/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait/guest.h"

#include <pthread.h>
#include <stdlib.h>
#include "lock/spin.h"
#include "os/peek.h"
#include "wait/task.h"

struct guest {
    struct abti_known known;
    int task;                  /* the thread's number */
    struct guest *next, *prev; /* guest_lock */
};

_Atomic(bool) abti_guests_are_wanted;

void abti_known_set_self(struct abti_known *known)
{
    /* It fails where the process has used up its keys: then nothing is known of any thread. */
    (void)abti_thread_set_word(ABTI_THREAD_KNOWN, known);
}

static struct abti_spin guest_lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF);
static struct guest *guests;  /* guest_lock */
static unsigned num_unlisted; /* guest_lock: those for which there was no memory; they are guests for ever */
static struct abti_own_thread *own_threads; /* guest_lock */
static pthread_key_t guest_key;             /* its value is the guest, which leaves when its thread ends */

static void guest_leave(void *value)
{
    struct guest *guest = value;
    abti_spin_lock(&guest_lock);
    if (guest->prev)
        guest->prev->next = guest->next;
    else
        guests = guest->next;
    if (guest->next)
        guest->next->prev = guest->prev;
    abti_spin_unlock(&guest_lock);
    abti_known_set_self(NULL);
    free(guest);
}

void abti_guests_want(bool wanted)
{
    static bool has_key;
    if (wanted && !has_key)
        has_key = pthread_key_create(&guest_key, guest_leave) == 0;
    abti_store_relaxed(&abti_guests_are_wanted, wanted && has_key); /* relaxed: see abti_guest_note */
}

void abti_guest_enter(void)
{
    static struct abti_known unlisted;
    struct guest *guest = calloc(1, sizeof(*guest));
    if (guest && pthread_setspecific(guest_key, guest) != 0) {
        free(guest);
        guest = NULL;
    }
    if (guest)
        guest->task = abti_task_self();
    abti_spin_lock(&guest_lock);
    if (guest) {
        guest->next = guests;
        if (guests)
            guests->prev = guest;
        guests = guest;
    } else {
        num_unlisted++;
    }
    abti_spin_unlock(&guest_lock);
    abti_known_set_self(guest ? &guest->known : &unlisted);
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

void abti_own_enter(struct abti_own_thread *own)
{
    abti_store_relaxed(&own->task, abti_task_self()); /* relaxed: a thread that does not see it takes it for unknown */
    abti_spin_lock(&guest_lock);
    own->prev = NULL;
    own->next = own_threads;
    if (own_threads)
        own_threads->prev = own;
    own_threads = own;
    abti_spin_unlock(&guest_lock);
}

void abti_own_leave(struct abti_own_thread *own)
{
    abti_spin_lock(&guest_lock);
    if (own->prev)
        own->prev->next = own->next;
    else
        own_threads = own->next;
    if (own->next)
        own->next->prev = own->prev;
    abti_spin_unlock(&guest_lock);
}

/* --- All others --- */

/* guest_lock held. relaxed: the lock orders it. */
static bool is_own(int task)
{
    const struct abti_own_thread *own = own_threads;
    while (own && abti_load_relaxed(&own->task) != task)
        own = own->next;
    return own != NULL;
}

static void count_task(int task, void *outsiders_)
{
    struct abti_outsiders *outsiders = outsiders_;
    abti_spin_lock(&guest_lock);
    bool known = is_own(task);
    struct guest *guest = known ? NULL : guests;
    while (guest && guest->task != task)
        guest = guest->next;
    if (guest) {
        outsiders->guests++;
        outsiders->asleep += abti_known_is_asleep(&guest->known);
    }
    abti_spin_unlock(&guest_lock);
    if (!known && !guest && !abti_task_is_foreign(task))
        outsiders->unknown++;
}

unsigned abti_guests_list(struct abti_guest_note *notes, unsigned room)
{
    unsigned num = 0;
    abti_spin_lock(&guest_lock);
    for (struct guest *guest = guests; guest && num < room; guest = guest->next) {
        struct abti_known *known = &guest->known;
        notes[num++] = (struct abti_guest_note){
            .task = guest->task,
            .owns_as = abti_load_relaxed(&known->owns_as), /* relaxed, here as below: only shown, and compared */
            .word = abti_known_is_asleep(known) ? abti_load_relaxed(&known->word) : NULL,
        };
    }
    abti_spin_unlock(&guest_lock);
    return num;
}

/* Guests alone, where the system does not tell more. */
static void count_guests(struct abti_outsiders *outsiders)
{
    abti_spin_lock(&guest_lock);
    for (struct guest *guest = guests; guest; guest = guest->next) {
        outsiders->guests++;
        outsiders->asleep += abti_known_is_asleep(&guest->known);
    }
    abti_spin_unlock(&guest_lock);
}

void abti_outsiders_count(struct abti_outsiders *outsiders)
{
    *outsiders = (struct abti_outsiders){0};
    outsiders->counted = abti_task_walk(count_task, outsiders);
    if (!outsiders->counted)
        count_guests(outsiders);
    abti_spin_lock(&guest_lock);
    outsiders->guests += num_unlisted;
    abti_spin_unlock(&guest_lock);
}

void abti_own_forget(void)
{
    abti_spin_forget(&guest_lock, ABTI_RANK_LEAF);
    own_threads = NULL;
}

void abti_guests_forget(void)
{
    abti_own_forget();
    guests = NULL;
    num_unlisted = 0;
    if (abti_known_self)
        pthread_setspecific(guest_key, NULL);
    abti_known_set_self(NULL);
}
