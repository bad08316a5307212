/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

static const struct {
    const char *name;
    const struct step *steps;
} areas[] = {
    {"units", unit_steps},     {"life", life_steps},       {"switches", switch_steps}, {"pools", pool_steps},
    {"scheds", sched_steps},   {"objects", object_steps},  {"events", event_steps},    {"time", time_steps},
    {"streams", stream_steps}, {"entered", entered_steps}, {"drivers", driver_steps},  {"hooks", hook_steps},
    {"forks", fork_steps},     {"words", word_steps},      {"queries", query_steps},   {"io", io_steps},
};
enum { NUM_AREAS = sizeof(areas) / sizeof(areas[0]), MAX_KINDS = 64 };

static const struct step *kinds[MAX_KINDS];
static bool is_chosen[MAX_KINDS];
static int num_kinds;
static unsigned allowed;

static void kinds_collect(void)
{
    if (num_kinds > 0)
        return;
    for (int area = 0; area < NUM_AREAS; area++)
        for (const struct step *step = areas[area].steps; step->name; step++) {
            expect(num_kinds < MAX_KINDS);
            is_chosen[num_kinds] = true;
            kinds[num_kinds++] = step;
        }
}

const char *steps_name(int kind)
{
    return kinds[kind]->name;
}

int steps_num(void)
{
    kinds_collect();
    return num_kinds;
}

void steps_list(void)
{
    for (int area = 0; area < NUM_AREAS; area++) {
        printf("%s:", areas[area].name);
        for (const struct step *step = areas[area].steps; step->name; step++)
            printf(" %s", step->name);
        printf("\n");
    }
}

void steps_allow(unsigned asks)
{
    allowed = asks;
}

static bool name_choose(const char *name, bool chosen)
{
    bool found = false;

    for (int area = 0, kind = 0; area < NUM_AREAS; area++)
        for (const struct step *step = areas[area].steps; step->name; step++, kind++)
            if (strcmp(step->name, name) == 0 || strcmp(areas[area].name, name) == 0) {
                is_chosen[kind] = chosen;
                found = true;
            }
    return found;
}

bool steps_choose(const char *names, bool only)
{
    char copy[1024], *rest = copy, *name;
    bool known = true;

    kinds_collect();
    if (only)
        memset(is_chosen, 0, sizeof(is_chosen));
    snprintf(copy, sizeof(copy), "%s", names);
    while ((name = strsep(&rest, ",")) != NULL)
        if (*name && !name_choose(name, only)) {
            fprintf(stderr, "no step and no area is called %s\n", name);
            known = false;
        }
    return known;
}

/* A kind is drawn from all, so that a seed whose other kinds are left out takes nearly the same steps. */
void steps_take(struct actor *actor, int num)
{
    if (actor->depth > MAX_DEPTH)
        return;
    for (int i = 0; i < num; i++) {
        int kind = (int)dice(actor, (unsigned)steps_num());
        unsigned asks = kinds[kind]->asks;
        if (!is_chosen[kind] || (asks & ~(BY_ULT | LEAF) & ~allowed) || ((asks & BY_ULT) && actor->external) ||
            (!(asks & LEAF) && actor->is_leaf))
            continue;
        watch_step_begun(kind);
        kinds[kind]->take(actor);
        watch_step_ended(kind);
    }
}
