/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does a library do its work on all streams, and keep data on each of them? By a driver. This one keeps requests of
 * each stream in a list of that stream, without any lock, and answers them when the stream looks at events.
 *
 *   cc driver.c $(pkg-config --cflags --libs argobots) -o driver
 */
#include <abt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { STREAMS = 3, UNITS = 4 };

struct request {
    ABT_eventual done;
    struct request *next;
};

/* What the driver has on each stream. Only that stream's native thread touches it. */
struct local {
    struct request *list;
    int served;
};

static ABTX_driver driver;
static atomic_int starts, ends, served;

static int start(void *arg, void **data)
{
    (void)arg;
    *data = calloc(1, sizeof(struct local));
    starts++;
    return *data ? ABT_SUCCESS : ABT_ERR_MEM; /* not attached here, then */
}

static void end(void *data)
{
    served += ((struct local *)data)->served;
    ends++;
    free(data);
}

static ABT_bool poll_requests(void *data, ABT_bool about_to_sleep)
{
    struct local *local = data;
    struct request *request = local->list;
    ABT_bool found = request != NULL;
    (void)about_to_sleep;
    local->list = NULL;
    for (struct request *next; request; request = next) {
        next = request->next; /* the request lies on the stack of who waits */
        local->served++;
        ABT_eventual_set(request->done, NULL, 0);
    }
    return found;
}

static void asks(void *arg)
{
    struct request request;
    void *data;
    (void)arg;
    ABT_eventual_create(0, &request.done);
    /* Of the stream that the caller is on now. After a wait it may be on another one. */
    if (ABTX_driver_get_data(driver, &data) == ABT_SUCCESS && data) {
        struct local *local = data;
        request.next = local->list;
        local->list = &request;
        ABT_eventual_wait(request.done, NULL);
    }
    ABT_eventual_free(&request.done);
}

int main(int argc, char **argv)
{
    static const ABTX_driver_ops ops = {.start = start, .end = end, .poll = poll_requests};
    ABT_xstream streams[STREAMS];
    ABT_thread units[STREAMS][UNITS];

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    if (ABTX_driver_create(&ops, NULL, &driver) != ABT_SUCCESS)
        return 1;
    ABTX_driver_set_period(driver, 1000000); /* an idle stream polls each millisecond */
    ABTX_driver_attach(driver, streams[0]);  /* to one stream: start has returned */
    ABTX_driver_detach(driver, streams[0]);  /* end has returned */
    ABTX_driver_attach_all(driver);          /* to all that there are, and to those to come */
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
    for (int i = 0; i < STREAMS; i++)
        for (int j = 0; j < UNITS; j++)
            ABT_thread_create_on_xstream(streams[i], asks, NULL, ABT_THREAD_ATTR_NULL, &units[i][j]);
    for (int i = 0; i < STREAMS; i++)
        for (int j = 0; j < UNITS; j++)
            ABT_thread_free(&units[i][j]);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_free(&streams[i]); /* end, for each */
    ABTX_driver_free(&driver);
    ABT_finalize();
    printf("started %d times, ended %d times, %d requests served\n", (int)starts, (int)ends, (int)served);
    return starts != STREAMS + 1 || ends != starts || served != STREAMS * UNITS;
}
