/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions. */
#include "omp.h"

#include "gomp.h"

/* How many members a region of `me` has. `num` is what the program says, 0 if nothing. */
static int count_members(const struct abtomp_member *me, unsigned num)
{
    const struct abtomp_icvs *icvs = &me->icvs;
    if (num == 1 || me->team->active_level >= icvs->max_active_levels)
        return 1;
    unsigned most = ABTOMP_MOST_MEMBERS;
    if (num == 0)
        num = (unsigned)abtomp_num_threads(me);
    if (icvs->dynamic && most > (unsigned)abtomp_env.num_procs)
        most = (unsigned)abtomp_env.num_procs;
    if (most > (unsigned)icvs->thread_limit)
        most = (unsigned)icvs->thread_limit;
    return (int)(num < most ? num : most);
}

/* The team for a region of `me`, which member 0 then begins. */
static struct abtomp_team *team_for(struct abtomp_member *me, unsigned num)
{
    int members = count_members(me, num);
    struct abtomp_team *team = members > 1 ? abtomp_team_get(me, members) : NULL;
    if (team) {
        team->active_level = me->team->active_level + 1;
        return team;
    }
    team = abtomp_team_alone(me);
    if (!team)
        abtomp_fail("out of memory");
    team->active_level = me->team->active_level;
    return team;
}

static void begin_region(struct abtomp_member *me, void (*fn)(void *), void *data, unsigned num)
{
    struct abtomp_team *team = team_for(me, num);
    struct abtomp_member *first = team->members[0];
    team->fn = fn;
    team->data = data;
    if (team->num > 1)
        abtomp_team_release(team);
    else if (atomic_load_explicit(&team->has_shared, memory_order_relaxed)) /* relaxed: this thread alone uses it */
        abtomp_shares_reset(team);
    abtomp_member_begin(first);
    abtomp_current = first;
}

/* The region of which the caller is member 0 ends. */
static void end_region(struct abtomp_member *first)
{
    struct abtomp_team *team = first->team;
    if (team->num > 1)
        abtomp_team_gather(team);
    abtomp_current = team->parent;
}

void GOMP_parallel(void (*fn)(void *), void *data, unsigned num, unsigned flags)
{
    (void)flags; /* how threads are bound */
    begin_region(abtomp_self(), fn, data, num);
    fn(data);
    end_region(abtomp_current);
}

/* As compilers before gcc 4.9 have it: the program itself calls what member 0 runs. */
void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned num)
{
    begin_region(abtomp_self(), fn, data, num);
}

void GOMP_parallel_end(void)
{
    end_region(abtomp_current);
}
