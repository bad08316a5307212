/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/stranded.h"

#include <stdio.h>
#include <stdlib.h>
#include "idle/driver.h"
#include "os/clock.h"
#include "pool/blocked.h"
#include "rt/rt.h"
#include "watch/waits.h"

/* How often it polls, and after how many polls blocked units are reported although others could still run. */
enum { POLL_NS = 1000000000, PATIENCE = 5, MOST_LINES = 50 };

/* ABT_finalize's, which is called by one thread at a time. */
static struct {
    uint64_t due_ns;
    unsigned polls;
    ABTX_driver driver; /* NULL: there was no memory for it */
    bool reported;
} stranded;

struct census {
    unsigned blocked, lines;
    bool others; /* that run, or will */
};

/* Not the units that ABT_finalize itself is made of. */
static bool is_of_user(const struct abti_unit_note *note)
{
    return note->kind != ABTI_KIND_PRIMARY && note->kind != ABTI_KIND_ENTERED && note->kind != ABTI_KIND_MAIN_SCHED &&
           note->state != ABT_THREAD_STATE_TERMINATED;
}

static bool is_stranded(const struct abti_unit_note *note)
{
    return is_of_user(note) && note->state == ABT_THREAD_STATE_BLOCKED && !note->has_deadline;
}

static bool count_unit(const struct abti_unit_note *note, void *arg)
{
    struct census *census = arg;
    census->blocked += is_stranded(note);
    census->others |= is_of_user(note) && !is_stranded(note);
    return true;
}

static bool print_stranded(const struct abti_unit_note *note, void *arg)
{
    struct census *census = arg;
    if (!is_stranded(note) || census->lines == MOST_LINES)
        return census->lines < MOST_LINES;
    census->lines++;
    abti_waits_print(stderr, note);
    return true;
}

/* One line for all of them, and one for each. */
static void tell_stranded(struct census *census, const char *what)
{
    fprintf(stderr, "libabt: ABT_finalize: %u blocked work unit%s, %s\n", census->blocked,
            census->blocked == 1 ? "" : "s", what);
    abti_registry_walk(print_stranded, census);
    if (census->lines < census->blocked)
        fprintf(stderr, "libabt:   and %u more\n", census->blocked - census->lines);
    stranded.reported = true;
    if (abti_rt.config.check == ABTI_CHECK_ABORT)
        abort();
}

ABT_bool abti_stranded_poll(void *data, ABT_bool about_to_sleep)
{
    struct census census = {0};
    (void)data, (void)about_to_sleep;
    uint64_t now = abti_clock_mono_ns();
    if (stranded.reported || now < stranded.due_ns)
        return ABT_FALSE;
    stranded.due_ns = now + POLL_NS;
    stranded.polls++;
    abti_registry_walk(count_unit, &census);
    if (census.blocked > 0 && (!census.others || stranded.polls >= PATIENCE))
        tell_stranded(&census, "which the primary execution stream waits for; nobody has woken them for a second");
    return ABT_FALSE;
}

static void free_driver(void)
{
    if (stranded.driver)
        abti_driver_free(stranded.driver);
    stranded.driver = NULL;
}

void abti_stranded_watch(abti_es *es)
{
    stranded.due_ns = abti_clock_mono_ns() + POLL_NS;
    stranded.polls = 0;
    stranded.reported = false;
    const ABTX_driver_ops ops = {.poll = abti_stranded_poll, .any_thread = ABT_TRUE};
    if (abti_driver_create(&ops, NULL, &stranded.driver) != ABT_SUCCESS)
        return;
    abti_store_relaxed(&stranded.driver->period_ns, POLL_NS); /* relaxed: it is a setting */
    if (abti_driver_attach(stranded.driver, es) != ABT_SUCCESS)
        free_driver();
}

static bool any_is_blocked(void)
{
    bool any = false;
    abti_spin_lock(&abti_rt.lock);
    for (abti_pool *pool = abti_rt.pools; pool && !any; pool = pool->next)
        any = abti_pool_num_blocked(pool) > 0;
    abti_spin_unlock(&abti_rt.lock);
    return any;
}

void abti_stranded_end(void)
{
    struct census census = {0};
    free_driver();
    if (stranded.reported || !any_is_blocked())
        return;
    abti_registry_walk(count_unit, &census);
    if (census.blocked > 0)
        tell_stranded(&census, "which never end, since several schedulers share their pools");
}
