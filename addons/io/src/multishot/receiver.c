/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls of receivers: multishots of buffers with what a socket has brought. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include "backend.h"
#include "caller.h"
#include "multishot/buffers.h"

struct abtio_receiver {
    struct multishot multishot;
    struct abtio_buffers *pool;
    struct buffer_set *set; /* that its operation receives into, or waits for */
    struct result end;      /* an error or the end of the stream: at most one, behind the data of its operation */
};

static struct abtio_receiver *receiver_of(struct multishot *multishot)
{
    return (struct abtio_receiver *)multishot;
}

static bool receiver_prepare(struct multishot *multishot, struct channel **channel)
{
    struct abtio_receiver *receiver = receiver_of(multishot);

    receiver->set = abtioi_buffers_choose(receiver->pool, channel);
    abtioi_assert(*channel ? receiver->set->channel == *channel : !receiver->set->channel);
    if (receiver->set->num_free > 0)
        return true;
    abtioi_set_put_off(receiver->set, multishot);
    return false;
}

static void receiver_forget(struct multishot *multishot)
{
    abtioi_assert(receiver_of(multishot)->set);
    abtioi_set_forget(receiver_of(multishot)->set, multishot);
}

/* An empty one is of no use to anybody. */
static void *receiver_take(struct multishot *multishot, unsigned place, int value)
{
    struct buffer_set *set = receiver_of(multishot)->set;
    void *buf = abtioi_set_take(set, place);

    if (value > 0)
        return buf;
    abtioi_set_put(set, buf);
    return NULL;
}

static struct result *receiver_keep(struct multishot *multishot, int value, void *buf)
{
    struct result *kept = buf ? &buffer_of(buf)->result : &receiver_of(multishot)->end;

    abtioi_assert((buf != NULL) == (value > 0));
    kept->value = value;
    kept->buf = buf;
    return kept;
}

static void receiver_discard(struct multishot *multishot, struct result *result)
{
    if (result->buf)
        abtio_buffers_give_back(receiver_of(multishot)->pool, result->buf);
}

/* It takes a buffer only when there is something, so that waiters keep none. */
static ssize_t receiver_run(abtio_op *op)
{
    struct abtio_buffers *pool = op->args.out2;
    void *buf = abtioi_buffers_take(pool);

    abtioi_assert(op->args.size == pool->size);
    if (!buf)
        return -ENOBUFS;
    ssize_t result = recv(op->args.fd, buf, op->args.size, MSG_DONTWAIT);
    if (result > 0) {
        op->args.out = buf;
        return result;
    }
    if (result < 0)
        result = -errno;
    abtio_buffers_give_back(pool, buf);
    return result;
}

/* One receiver does not keep most of a pool, and the others wait. */
static unsigned enough_of(const struct abtio_buffers *pool)
{
    enum { SHARE = 8, MOST = 128 };
    unsigned enough = pool->num / SHARE;

    return enough < 1 ? 1 : enough > MOST ? MOST : enough;
}

int abtio_receiver_create(int fd, int flags, abtio_buffers *buffers, abtio_receiver **receiver)
{
    static const struct multishot_kind kind = {.many = CODE_recv_many,
                                               .one = CODE_recv_one,
                                               .prepare = receiver_prepare,
                                               .forget = receiver_forget,
                                               .take = receiver_take,
                                               .keep = receiver_keep,
                                               .discard = receiver_discard,
                                               .run = receiver_run};

    if (!abtioi_is_begun())
        return -ENOTCONN;
    if (flags != 0)
        return -EINVAL;
    struct abtio_receiver *made = malloc(sizeof(*made));
    if (!made)
        return -ENOMEM;
    made->pool = buffers;
    abtioi_multishot_init(&made->multishot, &kind, &buffers->lock, enough_of(buffers));
    made->multishot.args = (struct args){.fd = fd, .fd2 = (int)buffers->id, .in2 = buffers, .size = buffers->size};
    pthread_mutex_lock(&buffers->lock);
    buffers->num_receivers++;
    pthread_mutex_unlock(&buffers->lock);
    *receiver = made;
    return 0;
}

ssize_t abtio_receiver_recv(abtio_receiver *receiver, void **buf, abtio_deadline deadline)
{
    return multishot_get(&receiver->multishot, buf, deadline);
}

int abtio_receiver_recv_nb(abtio_receiver *receiver, void **buf, abtio_deadline deadline, abtio_op **op)
{
    return abtioi_multishot_get_nb(&receiver->multishot, buf, deadline, op);
}

int abtio_receiver_free(abtio_receiver **receiver)
{
    if (!*receiver)
        return 0;
    struct abtio_buffers *pool = (*receiver)->pool;
    ABT_bool before = put_off_cancel();
    int code = multishot_fini(&(*receiver)->multishot);
    if (code == 0) {
        free(*receiver);
        *receiver = NULL;
        pthread_mutex_lock(&pool->lock);
        abtioi_assert(pool->num_receivers > 0);
        pool->num_receivers--;
        pthread_mutex_unlock(&pool->lock);
    }
    allow_cancel(before);
    return code;
}
