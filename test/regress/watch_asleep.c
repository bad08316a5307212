/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog and dumps sent a signal to a stream's thread that slept in the system, which ended the sleep; and the
 * watchdog, which looked for the unit's name after that, found none any more, and told of nothing.
 */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include "child.h"
#include "emulated.h"
#include "regress.h"

enum { SLEEP_SECONDS = 3, NUM_WAYS = 5 };

static char words[65536]; /* what the child has said on stderr */
static const char *setting, *value;
static atomic_int num_begun, num_cut;

/* --- Ways to sleep. Each returns 0 if nobody has cut it short --- */

static int by_nanosleep(void)
{
    struct timespec time = {SLEEP_SECONDS, 0};

    return nanosleep(&time, NULL);
}

static int by_poll(void)
{
    return poll(NULL, 0, SLEEP_SECONDS * 1000);
}

static int by_select(void)
{
    struct timeval time = {SLEEP_SECONDS, 0};

    return select(0, NULL, NULL, NULL, &time);
}

static int by_epoll(void)
{
    struct epoll_event event;
    int fd = epoll_create1(0);
    int code = epoll_wait(fd, &event, 1, SLEEP_SECONDS * 1000);

    close(fd);
    return code;
}

static int by_semaphore(void)
{
    struct timespec time;
    sem_t sem;

    sem_init(&sem, 0, 0);
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += SLEEP_SECONDS;
    int code = sem_timedwait(&sem, &time);
    int error = errno;
    sem_destroy(&sem);
    return code == -1 && error == ETIMEDOUT ? 0 : -1;
}

static int (*const ways[NUM_WAYS])(void) = {by_nanosleep, by_poll, by_select, by_epoll, by_semaphore};

static void sleep_so(void *way)
{
    atomic_fetch_add(&num_begun, 1);
    if (ways[(uintptr_t)way]())
        atomic_fetch_add(&num_cut, 1);
}

/* --- The children. Their codes are how many sleeps were cut short --- */

static int sleep_in_all_ways(void (*meanwhile)(void))
{
    ABT_xstream streams[NUM_WAYS];
    ABT_thread units[NUM_WAYS];

    setenv(setting, value, 1);
    must(ABT_init(0, NULL));
    for (int i = 0; i < NUM_WAYS; i++) {
        must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
        must(ABT_thread_create_on_xstream(streams[i], sleep_so, (void *)(uintptr_t)i, ABT_THREAD_ATTR_NULL, &units[i]));
    }
    meanwhile();
    for (int i = 0; i < NUM_WAYS; i++) {
        must(ABT_thread_free(&units[i]));
        must(ABT_xstream_free(&streams[i]));
    }
    must(ABT_finalize());
    return num_cut;
}

static void do_nothing_more(void)
{
}

static void ask_for_dump(void)
{
    while (atomic_load(&num_begun) < NUM_WAYS)
        continue;
    poll(NULL, 0, 200); /* so that they sleep: else the dump may come too early, and finds nothing to cut short */
    raise(SIGUSR1);
}

static int be_watched(void *unused)
{
    (void)unused;
    return sleep_in_all_ways(do_nothing_more);
}

static int be_dumped(void *unused)
{
    (void)unused;
    return sleep_in_all_ways(ask_for_dump);
}

/* --- */

static int count(const char *text)
{
    int num = 0;

    for (const char *at = words; (at = strstr(at, text)); at++)
        num++;
    return num;
}

int main(void)
{
    regress_begin();
    if (access("/proc/self/task", R_OK))
        skip_all("the system does not tell which threads sleep");
    if (is_emulated())
        skip_all("the emulator's children of a fork cannot make threads");
    setting = "ABT_WATCHDOG";
    value = "200";
    is_int(child_run(be_watched, NULL, words, sizeof(words)), 0, "the watchdog cuts no sleep short");
    ok(count("has kept stream") >= NUM_WAYS, "it tells of all: %d", count("has kept stream"));
    ok(count("sleeps in the system") >= NUM_WAYS, "and that they sleep: %d", count("sleeps in the system"));
    setting = "ABT_DUMP_SIGNAL";
    value = "USR1";
    is_int(child_run(be_dumped, NULL, words, sizeof(words)), 0, "a dump cuts no sleep short");
    ok(count("sleeps in the system") > 0, "and tells of sleepers: %d", count("sleeps in the system"));
    return done_testing();
}
