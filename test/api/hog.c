/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream that does not come to its event check is named by a dump, with the unit that holds it up. */
#include <signal.h>
#include <unistd.h>

#include "text.h"

static atomic_bool stop, running;

static void hog(void *arg)
{
    atomic_store(&running, true);
    while (!atomic_load(&stop))
        continue;
}

static void count_call(ABT_bool timed_out, void *calls)
{
    is_int(timed_out, ABT_TRUE, "the time is up");
    atomic_fetch_add((atomic_int *)calls, 1);
}

/* What a dump says of a stream that is held up. */
static void test_named(void)
{
    struct text text;
    ABT_xstream stream = new_xstream();
    ABT_thread thread;
    atomic_int calls = 0;
    char line[64];

    text_open(&text);
    atomic_store(&stop, false);
    atomic_store(&running, false);
    thread = ult_in(pool_of(stream), hog, NULL);
    wait_for(atomic_load(&running));
    for (int i = 0; i < 2; i++) {
        must(ABT_info_trigger_print_all_thread_stacks(text.fp, 0.05, count_call, &calls));
        wait_for(atomic_load(&calls) == i + 1);
    }
    is_int(count_in(&text, "execution stream 1 has not checked its events in time"), 2, "the stream is named");
    is_int(count_in(&text, "execution stream 0 has not"), 0, "and no other");
    snprintf(line, sizeof(line), "\nULT %p", (void *)thread);
    is_int(count_in(&text, line), 4, "and the unit that holds it up");
    atomic_store(&stop, true);
    must(ABT_thread_free(&thread));
    must(ABT_xstream_free(&stream));
    text_close(&text);
}

/* --- The only stream --- */

struct reader {
    int fd;
    char text[1 << 16];
};

/* Reads what stderr is given up to the end of a dump, and lets the primary ULT go on. */
static void *read_dump(void *arg)
{
    struct reader *reader = arg;

    for (size_t size = 0; !strstr(reader->text, "==== end of");) {
        ssize_t got = read(reader->fd, reader->text + size, sizeof(reader->text) - 1 - size);
        if (got <= 0)
            break;
        size += (size_t)got;
    }
    atomic_store(&stop, true);
    return NULL;
}

static void test_only_stream(void)
{
    static struct reader reader;
    pthread_t native;
    int fds[2], before = dup(STDERR_FILENO);

    if (pipe(fds) || dup2(fds[1], STDERR_FILENO) < 0)
        bail_out("pipe");
    reader.fd = fds[0];
    atomic_store(&stop, false);
    must(pthread_create(&native, NULL, read_dump, &reader));
    raise(SIGUSR2);
    hog(NULL);
    pthread_join(native, NULL);
    dup2(before, STDERR_FILENO);
    ok(strstr(reader.text, "execution stream 0 has not checked its events in time"), "the only stream is named");
    ok(strstr(reader.text, "primary ULT"), "with its unit");
    close(fds[0]);
    close(fds[1]);
    close(before);
}

/* --- The program's own use of the signal --- */

static atomic_int asked;

static void count_asked(int number)
{
    atomic_fetch_add(&asked, 1);
}

int main(void)
{
    struct sigaction action = {.sa_handler = count_asked}, after;

    setenv("ABT_PRINT_RAW_STACK", "0", 1);
    setenv("ABT_DUMP_SIGNAL", "SIGUSR2", 1);
    sigaction(SIGUSR2, &action, NULL);
    must(ABT_init(0, NULL));
    test_named();
    test_only_stream();
    is_int(atomic_load(&asked), 1, "the handler that was there before is called, too");
    must(ABT_finalize());
    sigaction(SIGUSR2, NULL, &after);
    ok(after.sa_handler == count_asked, "and the former handler is there again");
    return done_testing();
}
