/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where tasks are that are ready: the deque of a member, and the box of the team.
 *
 * Deques. A thread that moves `split` holds the lock, and so does one that reads a public entry, so that the lock
 * orders what a task is with the thread that takes it. Thieves take the oldest tasks, which are the largest in most
 * programs; they look at num_public before.
 *
 * The owner's part. The owner pops without a fence: it stores the lower `top`, then reads `split`; below that it goes
 * for the lock. A thief that exposes the owner's tasks stores the higher `split`, has the kernel make each thread of
 * the process pass a barrier (membarrier), then reads `top`. The owner's pops before its barrier are seen in `top`: if
 * one went below the new split, the thief takes that back. Those after it see the new split, and wait for the lock. A
 * pop that finds nothing may have met a split that was taken back: it looks at it again when it has seen that nothing
 * is public, which is stored after that.
 *
 * The owner may be away for long, in a task or in the program, so that each time before that as many tasks are public
 * as there are other members, and a fourth of them at least. Then half of them become public, and half of the public
 * ones its own again when it has none: between two times the owner makes or runs a part of its tasks.
 *
 * The box is a heap, so that the time of a put and a take grows with the logarithm of the number of tasks. A member
 * that may not run any task looks through it.
 */
#include "task/tasks.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Few in builds with assertions, as in other tables: so tests see them grow, and tasks of a full deque in the box. */
enum { FIRST_ENTRIES = ABTOMP_BUILD_ASSERT ? 2 : 1024, MOST_ENTRIES = ABTOMP_BUILD_ASSERT ? 16 : 1 << 24 };

bool abtomp_deque_init(struct abtomp_deque *deque)
{
    deque->entries = malloc(FIRST_ENTRIES * sizeof(deque->entries[0]));
    deque->mask = FIRST_ENTRIES - 1;
    atomic_init(&deque->top, ABTOMP_COUNT_START);
    atomic_init(&deque->split, ABTOMP_COUNT_START);
    atomic_init(&deque->head, ABTOMP_COUNT_START);
    return deque->entries != NULL;
}

/* relaxed: the lock is held */
static uint32_t head_locked(const struct abtomp_deque *deque)
{
    return atomic_load_explicit(&deque->head, memory_order_relaxed);
}

bool abtomp_deque_grow(struct abtomp_deque *deque)
{
    bool has_room = true;
    abtomp_mutex_lock(&deque->lock);
    uint32_t num = deque->mask + 1, head = head_locked(deque), top = abtomp_deque_top(deque);
    if (top - head >= num) {
        struct abtomp_task **entries = num < MOST_ENTRIES ? malloc(2 * num * sizeof(entries[0])) : NULL;
        has_room = entries != NULL;
        if (has_room) {
            for (uint32_t i = head; i != top; i++)
                entries[i & (2 * num - 1)] = deque->entries[i & deque->mask];
            free(deque->entries);
            deque->entries = entries;
            deque->mask = 2 * num - 1;
        }
    }
    abtomp_mutex_unlock(&deque->lock);
    return has_room;
}

/* relaxed: the lock is held */
static uint32_t split_locked(const struct abtomp_deque *deque)
{
    return atomic_load_explicit(&deque->split, memory_order_relaxed);
}

/* release: pairs with the acquire in abtomp_deque_pop_public, where the split is read again. The lock is held */
static void set_num_public(struct abtomp_deque *deque, uint32_t split)
{
    atomic_store_explicit(&deque->num_public, split - head_locked(deque), memory_order_release);
}

/* relaxed: the lock and the barriers of expose_locked order it */
static void set_split(struct abtomp_deque *deque, uint32_t split)
{
    atomic_store_explicit(&deque->split, split, memory_order_relaxed);
}

void abtomp_deque_publish(struct abtomp_deque *deque, uint32_t others)
{
    abtomp_mutex_lock(&deque->lock);
    uint32_t split = split_locked(deque), public = split - head_locked(deque);
    uint32_t own = (uint32_t)abtomp_deque_num_kept(deque), num = (own + 1) / 2;
    if (public + num < others)
        num = others - public < own ? others - public : own;
    set_split(deque, split + num);
    set_num_public(deque, split + num);
    abtomp_mutex_unlock(&deque->lock);
}

void abtomp_deque_bare(struct abtomp_deque *deque)
{
    abtomp_mutex_lock(&deque->lock);
    set_split(deque, abtomp_deque_top(deque));
    set_num_public(deque, abtomp_deque_top(deque));
    abtomp_mutex_unlock(&deque->lock);
}

/* Each running thread of the process passes a full barrier. False: the system refuses that, or libabt has not asked. */
static bool pass_barriers(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static void expose_locked(struct abtomp_deque *deque, uint32_t split, uint32_t to)
{
    set_num_public(deque, to);
    set_split(deque, to);
    if (!pass_barriers())
        abtomp_fail("the system no longer has membarrier");
    /* acquire: pairs with the release in abtomp_deque_push: the entries below are there */
    uint32_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
    if ((int32_t)(top - to) >= 0)
        return;
    to = (int32_t)(top - split) > 0 ? top : split;
    set_split(deque, to);
    set_num_public(deque, to);
}

void abtomp_deque_expose(struct abtomp_deque *deque)
{
    static _Atomic(bool) has_asked; /* libabt has, which it does once. relaxed, both: each caller finds it out */
    if (!atomic_load_explicit(&has_asked, memory_order_relaxed)) {
        if (!pass_barriers())
            return;
        atomic_store_explicit(&has_asked, true, memory_order_relaxed);
    }
    abtomp_mutex_lock(&deque->lock);
    int32_t kept = abtomp_deque_num_kept(deque);
    uint32_t split = split_locked(deque);
    if (kept > 0)
        expose_locked(deque, split, split + ((uint32_t)kept + 1) / 2);
    abtomp_mutex_unlock(&deque->lock);
}

/*
 * The owner has no task of its own: it takes back the newest public one, and more if one is left for each other member,
 * and half of all. There is no number of members between regions, but it is constant as long as there is a task.
 */
struct abtomp_task *abtomp_deque_pop_public(struct abtomp_deque *deque, uint32_t base, const int *num_members)
{
    struct abtomp_task *task = NULL;
    /* acquire: pairs with the release in set_num_public: if tasks have been given back, the split says so */
    if (atomic_load_explicit(&deque->num_public, memory_order_acquire) == 0 && abtomp_deque_num_kept(deque) == 0)
        return NULL;
    abtomp_mutex_lock(&deque->lock);
    uint32_t top = abtomp_deque_top(deque), split = split_locked(deque), public = split - head_locked(deque);
    int32_t above = (int32_t)(split - base);
    bool has_kept = top != split;
    if (has_kept || (public > 0 && above > 0)) {
        uint32_t others = (uint32_t)*num_members - 1;
        uint32_t back = public > 2 * others ? (public + 1) / 2 : public > others ? public - others : 1;
        if (!has_kept)
            split -= back < (uint32_t)above ? back : (uint32_t)above;
        set_split(deque, split);
        set_num_public(deque, split);
        task = deque->entries[--top & deque->mask];
        atomic_store_explicit(&deque->top, top, memory_order_relaxed); /* relaxed: the lock orders it */
    }
    abtomp_mutex_unlock(&deque->lock);
    return task;
}

uint32_t abtomp_deque_steal(struct abtomp_deque *deque, struct abtomp_task **tasks, uint32_t most,
                            bool (*may)(const struct abtomp_task *task, const void *arg), const void *arg)
{
    uint32_t num = 0;
    if (abtomp_deque_num_public(deque) == 0)
        return 0;
    abtomp_mutex_lock(&deque->lock);
    uint32_t head = head_locked(deque), split = split_locked(deque);
    uint32_t half = (split - head + 1) / 2;
    while (num < most && num < half && may(deque->entries[(head + num) & deque->mask], arg)) {
        tasks[num] = deque->entries[(head + num) & deque->mask];
        num++;
    }
    /* release: pairs with the acquire in abtomp_deque_num: the entries have been read */
    atomic_store_explicit(&deque->head, head + num, memory_order_release);
    set_num_public(deque, split);
    abtomp_mutex_unlock(&deque->lock);
    return num;
}

/* -- The box -- */

static bool is_before(const struct abtomp_boxed *a, const struct abtomp_boxed *b)
{
    return a->priority != b->priority ? a->priority > b->priority : (int32_t)(a->number - b->number) < 0;
}

/* Puts the entry where that at `at` was, or below or above that, where its place is. */
static void settle_boxed(struct abtomp_boxed *heap, uint32_t num, uint32_t at, struct abtomp_boxed entry)
{
    for (uint32_t child; (child = 2 * at + 1) < num; at = child) {
        child += child + 1 < num && is_before(&heap[child + 1], &heap[child]);
        if (is_before(&entry, &heap[child]))
            break;
        heap[at] = heap[child];
    }
    for (uint32_t parent; at > 0 && is_before(&entry, &heap[parent = (at - 1) / 2]); at = parent)
        heap[at] = heap[parent];
    heap[at] = entry;
}

/* relaxed: the lock is held */
static uint32_t num_boxed_locked(const struct abtomp_box *box)
{
    return atomic_load_explicit(&box->num, memory_order_relaxed);
}

static void grow_box(struct abtomp_box *box)
{
    enum { FIRST_ROOM = ABTOMP_BUILD_ASSERT ? 1 : 16 };
    box->room = box->room > 0 ? 2 * box->room : FIRST_ROOM;
    box->heap = abtomp_must_have(realloc(box->heap, box->room * sizeof(box->heap[0])));
}

void abtomp_box_put_locked(struct abtomp_team *team, struct abtomp_task *task)
{
    struct abtomp_box *box = &team->box;
    uint32_t num = num_boxed_locked(box);
    if (num == box->room)
        grow_box(box);
    settle_boxed(box->heap, num, num, (struct abtomp_boxed){task, task->priority, box->count++});
    atomic_store_explicit(&box->num, num + 1, memory_order_relaxed); /* relaxed: a hint, and the lock is held */
}

void abtomp_box_put(struct abtomp_team *team, struct abtomp_task *task)
{
    abtomp_mutex_lock(&team->box_lock);
    abtomp_box_put_locked(team, task);
    abtomp_mutex_unlock(&team->box_lock);
}

/* Where the first entry is that may be taken; num: there is none. */
static uint32_t find_boxed(const struct abtomp_boxed *heap, uint32_t num,
                           bool (*may)(const struct abtomp_task *task, const void *arg), const void *arg)
{
    uint32_t best = num;
    if (num > 0 && may(heap[0].task, arg))
        return 0;
    for (uint32_t i = 1; i < num; i++)
        if ((best == num || is_before(&heap[i], &heap[best])) && may(heap[i].task, arg))
            best = i;
    return best;
}

struct abtomp_task *abtomp_box_take(struct abtomp_team *team,
                                    bool (*may)(const struct abtomp_task *task, const void *arg), const void *arg)
{
    struct abtomp_task *task = NULL;
    abtomp_mutex_lock(&team->box_lock);
    struct abtomp_boxed *heap = team->box.heap;
    uint32_t num = num_boxed_locked(&team->box), at = find_boxed(heap, num, may, arg);
    if (at < num) {
        task = heap[at].task;
        if (at < --num)
            settle_boxed(heap, num, at, heap[num]);
        atomic_store_explicit(&team->box.num, num, memory_order_relaxed); /* relaxed: as in abtomp_box_put_locked */
    }
    abtomp_mutex_unlock(&team->box_lock);
    return task;
}
