/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The n-th request for memory, a mapping or a thread fails, for each n: the call says so, nothing is lost, and what
 * comes later works.
 */
#include "../../../test/fault/fault.h"
#include "io.h"

static int run_wrong, listener;
static struct sockaddr_in address;

/* A client that has connected gets its server or an end, whichever request fails; nothing is accepted twice. */
static void use_acceptor(void)
{
    abtio_acceptor *acceptor = NULL;
    char byte;
    int client = socket(AF_INET, SOCK_STREAM, 0);

    int code = abtio_acceptor_create(listener, 0, &acceptor);
    run_wrong += code != 0 && code != -ENOMEM;
    run_wrong += connect(client, (struct sockaddr *)&address, sizeof(address)) != 0;
    if (code == 0) {
        abtio_op *op;
        int fd = abtio_acceptor_accept(acceptor, ABTIO_FOREVER);
        run_wrong += fd < 0 && fd != -ENOMEM && fd != -EAGAIN;
        if (fd >= 0)
            close(fd);
        if (abtio_acceptor_accept_nb(acceptor, ABTIO_FOREVER, &op) == 0)
            abtio_op_free(&op);
        run_wrong += abtio_acceptor_free(&acceptor) != 0;
    }
    int left = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (left >= 0)
        close(left);
    run_wrong += read(client, &byte, 1) > 0;
    close(client);
}

/* One that is to come is received, or there is an error and it is still in the socket. */
static void receive_one(abtio_receiver *receiver, abtio_buffers *buffers, const int fds[2])
{
    void *buf;
    char byte;

    run_wrong += write(fds[0], "r", 1) != 1;
    ssize_t n = abtio_receiver_recv(receiver, &buf, ABTIO_FOREVER);
    if (n == 1)
        run_wrong += *(char *)buf != 'r' || abtio_buffers_give_back(buffers, buf) != 0;
    else
        run_wrong += (n != -ENOMEM && n != -EAGAIN) || recv(fds[1], &byte, 1, MSG_DONTWAIT) != 1;
}

static void use_receiver(const int fds[2])
{
    abtio_buffers *buffers = NULL;
    abtio_receiver *receiver = NULL;
    abtio_op *op;
    void *buf;

    int code = abtio_buffers_create(100, 2, &buffers);
    run_wrong += (code != 0 && code != -ENOMEM) || (code == 0) != (buffers != NULL);
    if (code != 0)
        return;
    code = abtio_receiver_create(fds[1], 0, buffers, &receiver);
    run_wrong += (code != 0 && code != -ENOMEM) || (code == 0) != (receiver != NULL);
    if (code == 0) {
        receive_one(receiver, buffers, fds);
        receive_one(receiver, buffers, fds);
        if (abtio_receiver_recv_nb(receiver, &buf, ABTIO_FOREVER, &op) == 0)
            abtio_op_free(&op);
    }
    run_wrong += abtio_receiver_free(&receiver) != 0 || abtio_buffers_free(&buffers) != 0;
}

static void use(void *arg)
{
    int *fds = arg;
    char byte;
    abtio_op *op = NULL;

    run_wrong += abtio_register_memory(fds, sizeof(int)) != 0 || abtio_register_file(fds[0]) != 0;
    ssize_t n = abtio_send(fds[0], "x", 1, 0, ABTIO_FOREVER);
    run_wrong += n != 1 && n != -ENOMEM && n != -EAGAIN;
    if (n == 1) {
        n = abtio_recv(fds[1], &byte, 1, 0, ABTIO_FOREVER);
        run_wrong += n != 1 && n != -ENOMEM && n != -EAGAIN;
        if (n != 1 && recv(fds[1], &byte, 1, MSG_DONTWAIT) != 1)
            run_wrong++; /* nothing has been received */
    }
    int code = abtio_recv_nb(fds[1], &byte, 1, 0, ABTIO_FOREVER, &op);
    run_wrong += code != 0 && code != -ENOMEM && code != -EAGAIN;
    run_wrong += (code == 0) != (op != NULL);
    if (code == 0) {
        code = abtio_cancel(op);
        n = abtio_op_wait(op);
        run_wrong += n != -ECANCELED && n != -EAGAIN;
        abtio_op_free(&op);
    }
    use_acceptor();
    use_receiver(fds);
    code = abtio_blocking(NULL, NULL, 0); /* it is late, and asks for a thread all the same */
    run_wrong += code != -ETIMEDOUT && code != -EAGAIN && code != -ENOMEM;
    run_wrong += abtio_unregister_memory(fds) != 0 || abtio_unregister_file(fds[0]) != 0;
}

/* All of the library's life with the n-th request failing. Whether there was such a request. */
static bool life(abtio_backend backend, unsigned n, enum fault_mode mode, int *refused)
{
    abtio_config config = {.backend = backend};
    int fds[2];

    make_pair(fds);
    run_wrong = 0;
    fault_arm(n, mode);
    int code = abtio_init(&config);
    if (code == 0)
        use(fds);
    bool failed = fault_disarm();
    *refused += code != 0;
    if (code == 0) {
        use(fds);
        run_wrong += abtio_finalize() != 0;
    } else {
        run_wrong += code != -ENOMEM && code != -EAGAIN && code != -ENOSYS;
    }
    close(fds[0]);
    close(fds[1]);
    return failed;
}

int main(void)
{
    watchdog_begin(0);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    listen_on_loopback(listener, 8, &address);
    if (!fault_is_possible())
        skip_all("requests cannot be failed here");
    for (int backend = ABTIO_BACKEND_AUTO; backend <= ABTIO_BACKEND_THREADS; backend++) {
        for (int mode = FAULT_ONE; mode <= FAULT_FROM; mode++) {
            int wrong = 0, refused = 0;
            unsigned n = 0;
            bool failed;
            must(ABT_init(0, NULL));
            int before = open_descriptors();
            do {
                n++;
                failed = life((abtio_backend)backend, n, (enum fault_mode)mode, &refused);
                if (run_wrong)
                    diag("backend %d, mode %d, request %u: %d wrong", backend, mode, n, run_wrong);
                wrong += run_wrong;
            } while (failed && n < 400);
            is_int(wrong, 0, "backend %d: each of %u requests failed, and %d begins", backend, n - 1, refused);
            ok(n > 2 && n < 400, "there were some");
            must(ABT_finalize());
            ok(open_descriptors() <= before, "no descriptor is left");
        }
    }
    return done_testing();
}
