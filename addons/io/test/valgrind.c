/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three streams under valgrind, which runs one thread at a time. A stream that waited in its ring kept all others from
 * running.
 */
#include <sys/wait.h>
#include "child.h"
#include "io.h"

enum { STREAMS = 3, ROUNDS = 20, SECONDS = 100 };

static int pairs[STREAMS][2];

static void answer(void *arg)
{
    const int *pair = arg;
    char bytes[8];

    for (int i = 0; i < ROUNDS; i++) {
        if (abtio_recv_all(pair[1], bytes, sizeof(bytes), 0, ABTIO_FOREVER) != sizeof(bytes) ||
            abtio_send_all(pair[1], bytes, sizeof(bytes), 0, ABTIO_FOREVER) != sizeof(bytes))
            _exit(3);
    }
}

static void ask(void *arg)
{
    const int *pair = arg;
    char bytes[8] = "";

    for (int i = 0; i < ROUNDS; i++) {
        if (abtio_send_all(pair[0], bytes, sizeof(bytes), 0, ABTIO_FOREVER) != sizeof(bytes) ||
            abtio_recv_all(pair[0], bytes, sizeof(bytes), 0, ABTIO_FOREVER) != sizeof(bytes))
            _exit(4);
        abtio_sleep(MS / 10, ABTIO_FOREVER);
    }
}

static int run(abtio_backend backend)
{
    abtio_config config = {.backend = backend};
    ABT_xstream streams[STREAMS];
    ABT_pool pools[STREAMS];
    ABT_thread threads[2 * STREAMS];

    must(ABT_init(0, NULL));
    if (abtio_init(&config) < 0)
        return 2;
    must(ABT_self_get_xstream(&streams[0]));
    for (int i = 0; i < STREAMS; i++) {
        if (i > 0)
            must(ABT_xstream_create(ABT_SCHED_NULL, &streams[i]));
        must(ABT_xstream_get_main_pools(streams[i], 1, &pools[i]));
        make_pair(pairs[i]);
    }
    for (int i = 0; i < STREAMS; i++) {
        must(ABT_thread_create(pools[i], answer, pairs[i], ABT_THREAD_ATTR_NULL, &threads[i]));
        must(ABT_thread_create(pools[(i + 1) % STREAMS], ask, pairs[i], ABT_THREAD_ATTR_NULL, &threads[STREAMS + i]));
    }
    must(ABT_thread_free_many(2 * STREAMS, threads));
    if (abtio_finalize() != 0)
        return 5;
    for (int i = 1; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    return 0;
}

static int do_nothing_under_valgrind(void *self)
{
    execlp("valgrind", "valgrind", "-q", (char *)self, "0", (char *)NULL);
    _exit(127);
}

/* Whether it gives up before the program begins, since the compiler writes what it does not know. */
static bool valgrind_cannot_read(char *self)
{
    static char words[16384];

    return child_run(do_nothing_under_valgrind, self, words, sizeof(words)) != 0 && strstr(words, "debuginfo reader");
}

/* Its exit status, or -1: it did not end in time. */
static int run_under_valgrind(const char *self, const char *backend)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        execlp("valgrind", "valgrind", "-q", "--error-exitcode=9", self, backend, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < SECONDS * 100; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
        nap_ms(10);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

int main(int argc, char **argv)
{
    static const char *const backends[] = {"1", "2"};
    char self[4096];
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (argc > 1)
        return strcmp(argv[1], "0") == 0 ? 0 : run((abtio_backend)atoi(argv[1]));
    if (UNDER_ASAN || UNDER_TSAN || getenv("ABT_TEST_EMULATED"))
        skip_all("valgrind does not run this program");
    if (size < 0)
        bail_out("there is no /proc");
    self[size] = 0;
    if (valgrind_cannot_read(self))
        skip_all("valgrind cannot read what this compiler writes for debuggers");
    for (int i = 0; i < 2; i++) {
        int code = run_under_valgrind(self, backends[i]);
        if (code == 127)
            skip(1, "valgrind is not installed");
        else if (code == 2)
            skip(1, "there is no such backend");
        else
            is_int(code, 0, "three streams under valgrind, backend %s", backends[i]);
    }
    return done_testing();
}
