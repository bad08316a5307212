/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/top.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/assert.h"
#include "os/wakefd.h"
#include "rt/rt.h"
#include "stream/helper.h"
#include "watch/topshot.h"

/* The clients that watch at the same time, the socket that they connect to, and the end. */
enum { TOP_CLIENTS = 8, TOP_LISTEN = TOP_CLIENTS, TOP_WAKE, TOP_FDS };

/* So long an answer may wait until it is read; then the other end is given up. */
enum { TOP_SEND_SECONDS = 2 };

/* The thread's while there is one; otherwise of the callers of start and stop. */
static struct {
    bool on;
    pthread_t thread;
    struct abti_wakefd wake;
    struct pollfd fds[TOP_FDS]; /* fd -1: none */
    struct sockaddr_un name;
} top;

static void top_forget(void);

/* Its lock is held while the streams may be in another mode than the usual one: a fork waits for the end of that. */
static struct abti_helper top_helper = {.working = ABTI_SPIN_INIT(ABTI_RANK_HELPER), .in_child = top_forget};

/* --- The socket --- */

static void top_name_socket(void)
{
    const char *dir = secure_getenv("XDG_RUNTIME_DIR");
    size_t room = sizeof(top.name.sun_path);
    top.name = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!dir || *dir != '/' ||
        (size_t)snprintf(top.name.sun_path, room, "%s/libabt-top.%ld", dir, (long)getpid()) >= room)
        snprintf(top.name.sun_path, room, "/tmp/libabt-top.%ld", (long)getpid());
}

/* The file has its mode from the beginning, as the socket has it. 0 or an errno code. */
static int top_bind_socket(int fd)
{
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fchmod(fd, S_IRUSR | S_IWUSR) != 0)
        return errno;
    (void)unlink(top.name.sun_path); /* of a program that had this number and was killed */
    if (bind(fd, (const struct sockaddr *)&top.name, sizeof(top.name)) != 0)
        return errno;
    if (chmod(top.name.sun_path, S_IRUSR | S_IWUSR) == 0 && listen(fd, TOP_CLIENTS) == 0)
        return 0;
    int err = errno;
    unlink(top.name.sun_path);
    return err;
}

static int top_open_socket(void)
{
    abti_assert(!top.on && top.fds[TOP_LISTEN].fd < 0);
    top_name_socket();
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0)
        return errno;
    int err = top_bind_socket(fd);
    if (err != 0)
        close(fd);
    else
        top.fds[TOP_LISTEN].fd = fd;
    return err;
}

static void top_close_fds(void)
{
    for (int i = 0; i <= TOP_LISTEN; i++) {
        if (top.fds[i].fd >= 0)
            close(top.fds[i].fd);
        top.fds[i].fd = -1;
    }
    abti_wakefd_close(&top.wake);
}

/* --- Those that watch --- */

/* The process at the other end has this process's user. */
static bool top_is_own_user(int fd)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == 0 && cred.uid == geteuid();
}

static void top_take_client(void)
{
    abti_assert(top.on && top.fds[TOP_LISTEN].fd >= 0);
    struct timeval patience = {.tv_sec = TOP_SEND_SECONDS};
    int fd = accept(top.fds[TOP_LISTEN].fd, NULL, NULL), place = 0;
    if (fd < 0)
        return;
    while (place < TOP_CLIENTS && top.fds[place].fd >= 0)
        place++;
    if (place == TOP_CLIENTS || !top_is_own_user(fd) || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0) {
        close(fd);
        return;
    }
    top.fds[place] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static bool top_send_all(int fd, const char *text, size_t size)
{
    abti_assert(fd >= 0 && text);
    while (size > 0) {
        ssize_t done = send(fd, text, size, MSG_NOSIGNAL);
        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            text += done;
            size -= (size_t)done;
        }
    }
    return true;
}

/* Without memory there is no answer, which the other end sees as the end. */
static bool top_answer(int fd)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return false;
    abti_spin_lock(&top_helper.working);
    abti_topshot_print(fp);
    abti_spin_unlock(&top_helper.working);
    bool whole = !ferror(fp);
    whole = fclose(fp) == 0 && whole && top_send_all(fd, text, size);
    free(text);
    return whole;
}

static void top_serve_client(struct pollfd *client)
{
    abti_assert(client >= top.fds && client < top.fds + TOP_CLIENTS && client->fd >= 0);
    char questions[64]; /* more than one at a time have one answer */
    ssize_t got = recv(client->fd, questions, sizeof(questions), 0);
    if ((got < 0 && errno == EINTR) || (got > 0 && top_answer(client->fd)))
        return;
    close(client->fd);
    client->fd = -1;
}

/* --- The thread --- */

static void *top_main(void *unused)
{
    (void)unused;
    for (;;) {
        if (poll(top.fds, TOP_FDS, -1) < 0)
            continue;
        if (top.fds[TOP_WAKE].revents)
            return NULL;
        if (top.fds[TOP_LISTEN].revents)
            top_take_client();
        for (int i = 0; i < TOP_CLIENTS; i++) {
            if (top.fds[i].fd >= 0 && top.fds[i].revents)
                top_serve_client(&top.fds[i]);
        }
    }
}

static void top_forget(void)
{
    if (top.on)
        top_close_fds(); /* so that watchers of the parent see its end */
    top.on = false;
    abti_topshot_forget();
}

static int top_start(void)
{
    abti_assert(!top.on);
    int err = -abti_wakefd_open(&top.wake);
    if (err != 0)
        return err;
    for (int i = 0; i < TOP_FDS; i++)
        top.fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    top.fds[TOP_WAKE].fd = top.wake.wait_fd;
    err = top_open_socket();
    if (err == 0) {
        top.on = true;
        err = abti_helper_register(&top_helper) ? abti_helper_start(&top.thread, top_main) : ENOMEM;
        if (err == 0)
            return 0;
        top.on = false;
        unlink(top.name.sun_path);
    }
    top_close_fds();
    return err;
}

void abti_top_start(void)
{
    if (!abti_rt.config.top)
        return;
    errno = top_start();
    if (errno != 0)
        fprintf(stderr, "libabt: ABT_TOP has no effect: %s: %m\n", top.name.sun_path);
}

void abti_top_stop(void)
{
    if (!top.on)
        return;
    unlink(top.name.sun_path);
    abti_wakefd_signal(top.wake.signal_fd);
    pthread_join(top.thread, NULL);
    top_close_fds();
    top.on = false;
    abti_topshot_forget();
}
