/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_TOP: the socket by which abt-top looks at a program, and who may use it. maint/check-top looks at the tool. */
#include <dirent.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "child.h"
#include "common.h"
#include "emulated.h"
#include "watchdog.h"

static char dir[] = "/tmp/abt-top-test-XXXXXX";

static struct sockaddr_un socket_of(pid_t pid)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    snprintf(name.sun_path, sizeof(name.sun_path), "%s/libabt-top.%ld", dir, (long)pid);
    return name;
}

/* Returns a connection with the program, or -1. */
static int try_connect(pid_t pid)
{
    struct sockaddr_un name = socket_of(pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0)
        return fd;
    close(fd);
    return -1;
}

static int connected(void)
{
    int fd = try_connect(getpid());

    if (fd < 0)
        bail_out("connect: %s", strerror(errno));
    return fd;
}

/* Asks, and returns the answer, which the next one of the thread overwrites; NULL: the other end has ended. */
static char *ask(int fd)
{
    static _Thread_local char text[1 << 17];
    size_t size = 0;

    if (send(fd, "?", 1, MSG_NOSIGNAL) != 1)
        return NULL;
    while (size == 0 || text[size - 1] != '\n') {
        ssize_t got = recv(fd, text + size, sizeof(text) - 1 - size, 0);
        if (got <= 0)
            return NULL;
        size += (size_t)got;
    }
    text[size - 1] = '\0';
    return text;
}

/* Nothing but the end comes. */
static bool has_ended(int fd)
{
    char byte;

    return recv(fd, &byte, 1, 0) <= 0;
}

static bool socket_is_there(void)
{
    return access(socket_of(getpid()).sun_path, F_OK) == 0;
}

static void begin(void)
{
    must(setenv("ABT_TOP", "1", 1));
    must(ABT_init(0, NULL));
}

/* --- What is told --- */

static void wait_for_eventual(void *eventual)
{
    must(ABT_eventual_wait(eventual, NULL));
}

static void *look_for_wait(void *found)
{
    int fd = connected();
    /* The walk over units is kept for a while. */
    atomic_store((atomic_bool *)found, soon(strstr(ask(fd), "\"waits_for\": \"eventual\"") != NULL));
    const char *text = ask(fd);
    ok(strncmp(text, "{\"libabt\": \"", 12) == 0 && text[strlen(text) - 1] == '}', "an answer is an object of JSON");
    ok(strstr(text, "\"streams\": [{\"rank\": 0, ") != NULL, "it has the primary ES");
    ok(strstr(text, "\"num_streams\": 2, ") != NULL, "it says how many there are");
    ok(strstr(text, ", \"waits\": {\"eventual\": 1") != NULL, "it says what how many units wait for");
    ok(strstr(text, "\"pools\": [{\"id\": 0, \"kind\": \"FIFO\", ") != NULL, "it has the pools");
    ok(!has_tool() || strstr(text, "_per_s\": ") != NULL, "it has the rates");
    close(fd);
    return NULL;
}

static void test_answer(void)
{
    ABT_eventual eventual;
    ABT_xstream xstream;
    pthread_t watcher;
    atomic_bool found;
    struct stat status;

    begin();
    ok(stat(socket_of(getpid()).sun_path, &status) == 0 && S_ISSOCK(status.st_mode), "there is a socket");
    is_int(status.st_mode & 0777, 0600, "it is for its user only");
    xstream = new_xstream();
    must(ABT_eventual_create(0, &eventual));
    ABT_thread ult = ult_in(pool_of(xstream), wait_for_eventual, eventual);
    must(pthread_create(&watcher, NULL, look_for_wait, &found));
    must(pthread_join(watcher, NULL));
    ok(atomic_load(&found), "the blocked unit is found, with what it waits for");
    must(ABT_eventual_set(eventual, NULL, 0));
    must(ABT_thread_free(&ult));
    must(ABT_eventual_free(&eventual));
    must(ABT_xstream_free(&xstream));
    must(ABT_finalize());
    ok(!socket_is_there(), "ABT_finalize removes the socket");
}

/* --- Several that watch --- */

static void test_many(void)
{
    enum { MOST = 8 };
    int fds[MOST + 1];

    begin();
    for (int i = 0; i < MOST; i++)
        fds[i] = connected();
    for (int i = 0; i < 2 * MOST; i++)
        ok(ask(fds[i % MOST]) != NULL, "watcher %d", i % MOST);
    fds[MOST] = connected();
    ok(has_ended(fds[MOST]), "one more is refused");
    close(fds[MOST]);
    close(fds[0]);
    ok(soon((fds[0] = connected(), ask(fds[0]) || (close(fds[0]), false))), "its place is free when one has gone");
    must(send(fds[1], "?", 1, MSG_NOSIGNAL) != 1); /* its answer will not be read */
    must(ABT_finalize());
    ok(has_ended(fds[2]), "those that watch see the end");
    for (int i = 0; i < MOST; i++)
        close(fds[i]);
    must(ABT_init(0, NULL));
    fds[0] = connected();
    ok(ask(fds[0]) != NULL, "after another ABT_init it can be watched again");
    close(fds[0]);
    must(ABT_finalize());
}

/* --- While much happens --- */

static void yield_twice(void *arg)
{
    ABT_self_yield();
    ABT_self_yield();
}

static atomic_bool busy_ends;
static atomic_int answers;

static void *ask_again_and_again(void *arg)
{
    int fd = connected();

    while (!atomic_load(&busy_ends)) {
        if (ask(fd))
            atomic_fetch_add(&answers, 1);
    }
    close(fd);
    return NULL;
}

static void test_busy(void)
{
    enum { UNITS = 20, WATCHERS = 2 };
    pthread_t watchers[WATCHERS];
    ABT_thread units[UNITS];

    begin();
    atomic_store(&busy_ends, false);
    for (int i = 0; i < WATCHERS; i++)
        must(pthread_create(&watchers[i], NULL, ask_again_and_again, NULL));
    for (double end = now() + (is_emulated() ? 0.3 : 1.0); now() < end || atomic_load(&answers) < 10;) {
        ABT_xstream xstream = new_xstream();
        for (int i = 0; i < UNITS; i++)
            must(ABT_thread_create(pool_of(i % 2 ? xstream : own_xstream()), yield_twice, NULL, ABT_THREAD_ATTR_NULL,
                                   &units[i]));
        for (int i = 0; i < UNITS; i++)
            must(ABT_thread_free(&units[i]));
        must(ABT_xstream_free(&xstream));
    }
    atomic_store(&busy_ends, true);
    for (int i = 0; i < WATCHERS; i++)
        must(pthread_join(watchers[i], NULL));
    pass("%d answers while streams and units come and go", atomic_load(&answers));
    must(ABT_finalize());
}

/* --- Other processes --- */

/* As a user who may not connect, and then as one whom the file would let. */
static int connect_as_nobody(void *pid)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 3;
    int fd = try_connect(*(pid_t *)pid);
    if (fd < 0)
        return errno == EACCES ? 1 : 4;
    return ask(fd) ? 5 : 2;
}

static void test_other_user(void)
{
    pid_t pid = getpid();

    if (geteuid() != 0) {
        skip(2, "only root can become another user");
        return;
    }
    begin();
    must(chmod(dir, 0755));
    is_int(child_run(connect_as_nobody, &pid, NULL, 0), 1, "another user may not connect");
    must(chmod(socket_of(pid).sun_path, 0666));
    is_int(child_run(connect_as_nobody, &pid, NULL, 0), 2, "nor is answered if the file lets it");
    must(ABT_finalize());
}

/* A child of a fork lives on while its parent ends. */
static void test_fork(void)
{
    int fds[2], watcher;
    char byte;

    begin();
    watcher = connected();
    ok(ask(watcher) != NULL, "a program that is watched");
    must(pipe(fds));
    pid_t child = fork();
    if (child == 0) {
        close(fds[1]);
        _exit(read(fds[0], &byte, 1) == 0 && try_connect(getpid()) < 0 ? ABT_finalize() : 1);
    }
    close(fds[0]);
    ok(ask(watcher) != NULL, "goes on to be watched after a fork");
    must(ABT_finalize());
    ok(has_ended(watcher), "its end is seen while its child lives");
    close(watcher);
    begin();
    close(fds[1]);
    int status = -1;
    must(waitpid(child, &status, 0) != child);
    is_int(status, 0, "the child cannot be watched, and ends");
    ok(socket_is_there(), "which leaves the parent's socket alone");
    must(ABT_finalize());
}

/* --- Where it cannot be --- */

static int init_and_finalize(void *arg)
{
    must(setenv("XDG_RUNTIME_DIR", "/nonexistent", 1));
    begin();
    must(ABT_finalize());
    return 0;
}

static void test_no_place(void)
{
    char words[4096];

    is_int(child_run(init_and_finalize, NULL, words, sizeof(words)), 0, "without a place for the socket all goes on");
    ok(strncmp(words, "libabt: ABT_TOP has no effect: /nonexistent/libabt-top.", 55) == 0, "which is reported: %s",
       words);
}

static void test_off(void)
{
    must(unsetenv("ABT_TOP"));
    must(ABT_init(0, NULL));
    ok(!socket_is_there(), "there is no socket unless that is asked for");
    must(ABT_finalize());
}

int main(void)
{
    want_tool();
    watchdog_begin(0);
    if (!mkdtemp(dir))
        bail_out("mkdtemp");
    must(setenv("XDG_RUNTIME_DIR", dir, 1));
    test_off();
    test_answer();
    test_many();
    test_busy();
    if (is_emulated()) {
        skip(1, "children of a fork cannot make threads here, nor tells the emulator who is at the other end");
    } else {
        test_other_user();
        test_fork();
        test_no_place();
    }
    must(rmdir(dir));
    return done_testing();
}
