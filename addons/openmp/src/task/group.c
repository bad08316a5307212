/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Task groups and reductions of tasks. The program describes reductions by words: number of variables [0], size of one
 * member's copies [1], alignment [2], allocator [3], the next description [4], two words of the runtime [5] and [6],
 * and from [7] on three words for each variable, of which the first is its address and the second the place of its
 * copy. The runtime replaces [2] by where the copies are.
 */
#include "loop/share.h"
#include "ompt/tool.h"
#include "task/tasks.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 0, SIZE = 1, ALIGNMENT = 2, COPIES = 2, NEXT = 4, END = 6, VARIABLES = 7, WORDS_EACH = 3 };

void abtomp_group_begin(struct abtomp_member *me, uintptr_t *reductions)
{
    struct abtomp_group *group = abtomp_must_have(malloc(sizeof(*group)));
    *group = (struct abtomp_group){.outer = me->group,
                                   .reductions = reductions,
                                   .member = me,
                                   .tasks = {.made = ABTOMP_COUNT_START, .ended = ABTOMP_COUNT_START},
                                   .is_construct = reductions != NULL};
    me->group = group;
    if (abtomp_is_observed() && !group->is_construct)
        abtomp_tool_scope(me, ompt_sync_region_taskgroup, ompt_scope_begin);
}

/* Makes the copies of all members, which are zeros. */
void abtomp_reductions_make(uintptr_t *reductions, int num)
{
    for (uintptr_t *each = reductions; each; each = (uintptr_t *)each[NEXT]) {
        uintptr_t size = each[SIZE] * (uintptr_t)num, align = each[ALIGNMENT];
        void *copies = NULL;
        if (posix_memalign(&copies, align < sizeof(void *) ? sizeof(void *) : align, size > 0 ? size : 1) != 0)
            abtomp_fail("out of memory");
        memset(copies, 0, size);
        each[COPIES] = (uintptr_t)copies;
        each[END] = (uintptr_t)copies + size;
    }
}

void abtomp_reductions_free(const uintptr_t *reductions)
{
    for (const uintptr_t *each = reductions; each; each = (const uintptr_t *)each[NEXT])
        free((void *)each[COPIES]);
}

/* Where the copies of each description are. */
struct abtomp_copies {
    size_t num;
    struct {
        uintptr_t begin, end;
    } of[];
};

static struct abtomp_copies *note_copies(const uintptr_t *reductions)
{
    size_t num = 0;
    for (const uintptr_t *each = reductions; each; each = (const uintptr_t *)each[NEXT])
        num++;
    struct abtomp_copies *copies = abtomp_must_have(malloc(sizeof(*copies) + num * sizeof(copies->of[0])));
    copies->num = 0;
    for (const uintptr_t *each = reductions; each; each = (const uintptr_t *)each[NEXT]) {
        copies->of[copies->num].begin = each[COPIES];
        copies->of[copies->num++].end = each[END];
    }
    return copies;
}

struct abtomp_copies *abtomp_reductions_begin(struct abtomp_member *me, uintptr_t *reductions)
{
    abtomp_reductions_make(reductions, me->team->num);
    abtomp_group_begin(me, reductions);
    return note_copies(reductions);
}

void abtomp_reductions_join(struct abtomp_member *me, uintptr_t *reductions, const struct abtomp_copies *copies)
{
    uintptr_t *each = reductions;
    for (size_t i = 0; copies && each && i < copies->num; i++) {
        each[COPIES] = copies->of[i].begin;
        each[END] = copies->of[i].end;
        each = (uintptr_t *)each[NEXT];
    }
    abtomp_group_begin(me, reductions);
}

void abtomp_copies_free(struct abtomp_copies *copies)
{
    for (size_t i = 0; copies && i < copies->num; i++)
        free((void *)copies->of[i].begin);
    free(copies);
}

/* -- Of task groups -- */

static bool tasks_have_ended(struct abtomp_member *me, void *arg)
{
    const struct abtomp_group *group = arg;
    (void)me;
    return abtomp_count_is_zero(&group->tasks);
}

static bool await_group(struct abtomp_member *me)
{
    struct abtomp_group *group = me->group;
    if (group && !tasks_have_ended(me, group)) {
        struct abtomp_await await = {.done = tasks_have_ended, .arg = group, .group = group, .count = &group->tasks};
        abtomp_crew_await(me, abtomp_tasks_of(me), &await);
    }
    if (group) {
        me->group = group->outer;
        free(group);
    }
    return true;
}

void abtomp_group_await(struct abtomp_member *me)
{
    if (abtomp_is_observed() && me->group && !me->group->is_construct)
        (void)abtomp_tool_sync(me, ompt_sync_region_taskgroup, await_group);
    else
        (void)await_group(me);
}

void abtomp_group_reduce(struct abtomp_member *me, uintptr_t *reductions)
{
    abtomp_reductions_make(reductions, me->team->num);
    if (me->group)
        me->group->reductions = reductions;
}

/*
 * -- Of work-sharing constructs: one member has put the copies together, and calls this like all others then --
 *
 * In a cancelled region members do not wait for each other: some come to a construct when others have left it already.
 * So the tasks of the member, which may be run by others and use its group and its description, are waited for here.
 * The copies stay as long as the region (abtomp_cancel_clear), since tasks of others use them, too.
 */

void abtomp_reductions_end(struct abtomp_member *me, bool is_cancelled)
{
    const uintptr_t *reductions = me->group ? me->group->reductions : NULL;
    abtomp_group_await(me);
    if (is_cancelled)
        return;
    abtomp_barrier(me);
    if (me->num == 0)
        abtomp_reductions_free(reductions);
}

/* -- The copies -- */

/*
 * Finds the variable that is, or has a copy, at that address. True: its original, and the place of the caller's copy.
 */
static bool find_copy(uintptr_t *reductions, const struct abtomp_member *me, uintptr_t at, uintptr_t *copy,
                      uintptr_t *original)
{
    for (const uintptr_t *each = reductions; each; each = (const uintptr_t *)each[NEXT]) {
        const uintptr_t *variable = &each[VARIABLES];
        bool is_copy = at >= each[COPIES] && at < each[END];
        uintptr_t place = is_copy ? (at - each[COPIES]) % each[SIZE] : 0;
        for (uintptr_t i = 0; i < each[COUNT]; i++, variable += WORDS_EACH) {
            if (is_copy ? variable[1] != place : variable[0] != at)
                continue;
            *copy = each[COPIES] + (uintptr_t)me->num * each[SIZE] + variable[1];
            *original = variable[0];
            return true;
        }
    }
    return false;
}

void abtomp_reductions_find(struct abtomp_member *me, size_t num, size_t num_originals, void **addresses)
{
    for (size_t i = 0; i < num; i++) {
        uintptr_t copy = 0, original = 0;
        bool is_found = false;
        for (struct abtomp_group *group = me->group; group && !is_found; group = group->outer)
            is_found = find_copy(group->reductions, me, (uintptr_t)addresses[i], &copy, &original);
        if (!is_found)
            abtomp_fail("a task has in_reduction of a variable that no task group reduces");
        addresses[i] = (void *)copy;
        if (i < num_originals)
            addresses[num + i] = (void *)original;
    }
}
