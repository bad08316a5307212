/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What else may a scheduler that picks do? Begin and end its data, look at something of its own whenever the library
 * looks at events, and have a last look before its stream sleeps. This one takes orders from a mailbox.
 *
 *   cc sched_events.c $(pkg-config --cflags --libs argobots) -o sched_events
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDERS = 20 };

struct desk {
    ABT_pool pool;
    atomic_int last_looks; /* before the stream slept, or would have */
};

static atomic_int mailbox; /* how many orders lie there */
static atomic_int done;
static atomic_int last_looks;

static void works(void *arg)
{
    (void)arg;
    done++;
}

static struct desk *desk_of(ABT_sched sched)
{
    return ABTX_sched_data(sched);
}

static int init(ABT_sched sched, ABT_sched_config config)
{
    struct desk *desk = malloc(sizeof(*desk));
    (void)config;
    if (!desk)
        return ABT_ERR_MEM;
    desk->last_looks = 0;
    ABT_sched_get_pools(sched, 1, 0, &desk->pool);
    return ABT_sched_set_data(sched, desk);
}

static int free_desk(ABT_sched sched)
{
    last_looks = desk_of(sched)->last_looks;
    free(desk_of(sched));
    return ABT_SUCCESS;
}

static ABT_thread pick(ABT_sched sched)
{
    return ABTX_pool_pop_thread(desk_of(sched)->pool);
}

/* After some units, and whenever pick has found nothing: it may make units, but not wait. */
static void on_event(ABT_sched sched)
{
    for (int orders = atomic_exchange(&mailbox, 0); orders > 0; orders--)
        ABT_thread_create(desk_of(sched)->pool, works, NULL, ABT_THREAD_ATTR_NULL, NULL);
}

static ABT_bool before_sleep(ABT_sched sched)
{
    desk_of(sched)->last_looks++;
    return atomic_load(&mailbox) == 0; /* ABT_FALSE: there is something, do not sleep */
}

int main(int argc, char **argv)
{
    ABTX_sched_def def;
    ABT_sched sched;
    ABT_pool pool = ABT_POOL_NULL; /* a new one */
    ABT_xstream stream;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABTX_sched_def_create(pick, &def);
    ABTX_sched_def_set_init(def, init);
    ABTX_sched_def_set_free(def, free_desk);
    ABTX_sched_def_set_on_event(def, on_event);
    ABTX_sched_def_set_before_sleep(def, before_sleep);
    ABTX_sched_create(def, 1, &pool, ABT_SCHED_CONFIG_NULL, &sched);
    ABTX_sched_def_free(&def);
    ABT_xstream_create(sched, &stream);
    for (int i = 0; i < ORDERS; i++) {
        mailbox++;
        ABTX_xstream_wake(stream); /* what comes by another way than a push is to be told */
    }
    while (done < ORDERS)
        ABTX_self_sleep(1000000);
    ABT_xstream_free(&stream);
    ABT_sched_free(&sched);
    ABT_finalize();
    printf("%d orders are done; the stream was about to sleep: %s\n", (int)done, last_looks > 0 ? "yes" : "no");
    return done != ORDERS;
}
