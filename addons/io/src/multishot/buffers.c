/* SPDX-License-Identifier: BSD-3-Clause */
#include "multishot/buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "backend.h"
#include "channel.h"

/* What the kernel takes in a group, and the groups that a ring can have of us. */
enum { MOST_BUFFERS = 32768, MOST_POOLS = 1024 };

static const size_t most_size = (size_t)1 << 30;

/* All pools, under the lock, which comes before theirs. */
static struct {
    pthread_mutex_t lock;
    struct abtio_buffers *all;
    uint64_t ids[MOST_POOLS / 64]; /* that are in use */
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The list of pools ----------------------------------------------------------------------------------------- */

/* False: there are too many. */
static bool list_add(struct abtio_buffers *pool)
{
    unsigned id = 0;

    pthread_mutex_lock(&pools.lock);
    while (id < MOST_POOLS && pools.ids[id / 64] >> id % 64 & 1)
        id++;
    if (id < MOST_POOLS) {
        pools.ids[id / 64] |= UINT64_C(1) << id % 64;
        pool->id = id;
        pool->next = pools.all;
        pools.all = pool;
    }
    pthread_mutex_unlock(&pools.lock);
    return id < MOST_POOLS;
}

static void list_remove(struct abtio_buffers *pool)
{
    pthread_mutex_lock(&pools.lock);
    struct abtio_buffers **link = &pools.all;
    abtioi_assert(pools.ids[pool->id / 64] >> pool->id % 64 & 1);
    while (*link != pool) {
        abtioi_assert(*link);
        link = &(*link)->next;
    }
    *link = pool->next;
    pools.ids[pool->id / 64] &= ~(UINT64_C(1) << pool->id % 64);
    pthread_mutex_unlock(&pools.lock);
}

/* ---- Sets ------------------------------------------------------------------------------------------------------ */

static size_t ring_size(const struct abtio_buffers *pool)
{
    enum { ENTRY = 16 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (pool->entries * (size_t)ENTRY + page - 1) / page * page;
}

static size_t set_size(const struct abtio_buffers *pool)
{
    return ring_size(pool) + pool->num * pool->stride;
}

/* Pages that nobody has written to cost nothing, so that all are made at once. */
static bool set_init(struct buffer_set *set, struct abtio_buffers *pool)
{
    abtioi_assert(!set->memory && !set->first_put_off);
    void *memory =
        mmap(NULL, set_size(pool), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return false;
    set->pool = pool;
    set->memory = memory;
    set->buffers = set->memory + ring_size(pool);
    set->last_put_off = &set->first_put_off;
    set->request.code = CODE_serve;
    set->request.args.out = set;
    return true;
}

/* What the kernel may write to stays. */
static void set_fini(struct buffer_set *set)
{
    if (!set->lost)
        munmap(set->memory, set_size(set->pool));
}

static void set_free(struct buffer_set *set)
{
    struct buffer_set **link = &set->pool->sets;

    abtioi_assert(abtioi_is_held(&set->pool->lock) && set->pool->freed && !set->asked && !set->first_put_off);
    while (*link != set)
        link = &(*link)->next;
    *link = set->next;
    set_fini(set);
    free(set);
}

/* One without a channel that can be used, or a new one. */
static struct buffer_set *set_for_channel(struct abtio_buffers *pool)
{
    struct buffer_set *set = pool->sets;

    abtioi_assert(abtioi_is_held(&pool->lock) && !pool->freed);
    while (set && (set->channel || set->lost || set->asked))
        set = set->next;
    if (set)
        return set;
    set = calloc(1, sizeof(*set));
    if (!set || !set_init(set, pool)) {
        free(set);
        return NULL;
    }
    set->next = pool->sets;
    pool->sets = set;
    return set;
}

struct buffer_set *abtioi_buffers_choose(struct abtio_buffers *pool, struct channel **channel)
{
    struct buffer_set *set = *channel ? pool->sets : NULL;

    while (set && set->channel != *channel)
        set = set->next;
    if (set)
        return set;
    set = *channel ? set_for_channel(pool) : NULL;
    if (set && abtioi_channel_add_set(*channel, set)) {
        set->channel = *channel;
        set->num_free = 0;
        for (unsigned place = 0; place < pool->num; place++) {
            if (set->used && buffer_at(set, place)->out)
                continue;
            abtioi_group_add(set, place);
            set->num_free++;
        }
        return set;
    }
    *channel = NULL;
    return &pool->plain;
}

/* ---- Buffers; the lock is held --------------------------------------------------------------------------------- */

static void *buffers_take(struct buffer_set *set, struct buffer *buffer)
{
    abtioi_assert(abtioi_is_held(&set->pool->lock) && set->num_free > 0 && !buffer->out);
    set->num_free--;
    set->used = true;
    buffer->set = set;
    buffer->out = true;
    set->pool->num_out++;
    return buffer_data(buffer);
}

void *abtioi_set_take(struct buffer_set *set, unsigned place)
{
    return buffers_take(set, buffer_at(set, place));
}

void abtioi_set_put(struct buffer_set *set, void *buf)
{
    struct buffer *buffer = buffer_of(buf);
    struct abtio_buffers *pool = set->pool;

    abtioi_assert(abtioi_is_held(&pool->lock) && buffer->out && buffer->set == set && pool->num_out > 0);
    buffer->out = false;
    pool->num_out--;
    if (set == &pool->plain) {
        buffer->result.next = set->first_free;
        set->first_free = &buffer->result;
    } else if (set->channel) {
        abtioi_group_add(set, (unsigned)((size_t)((char *)buffer - set->buffers) / pool->stride));
    } else {
        return; /* the set's next channel provides it */
    }
    set->num_free++;
    abtioi_assert(set->num_free <= pool->num);
}

void *abtioi_buffers_take(struct abtio_buffers *pool)
{
    struct buffer_set *set = &pool->plain;
    void *buf = NULL;

    pthread_mutex_lock(&pool->lock);
    struct buffer *buffer = (struct buffer *)set->first_free;
    if (buffer)
        set->first_free = buffer->result.next;
    else if (set->num_fresh < pool->num)
        buffer = buffer_at(set, set->num_fresh++);
    if (buffer)
        buf = buffers_take(set, buffer);
    pthread_mutex_unlock(&pool->lock);
    return buf;
}

/* ---- Waiters for a buffer -------------------------------------------------------------------------------------- */

void abtioi_set_put_off(struct buffer_set *set, struct multishot *multishot)
{
    abtioi_assert(abtioi_is_held(multishot->lock) && !*set->last_put_off && set->num_free == 0);
    multishot->later = NULL;
    *set->last_put_off = multishot;
    set->last_put_off = &multishot->later;
}

void abtioi_set_forget(struct buffer_set *set, const struct multishot *multishot)
{
    struct multishot **link = &set->first_put_off;

    abtioi_assert(abtioi_is_held(multishot->lock) && multishot->put_off);
    while (*link != multishot)
        link = &(*link)->later;
    *link = multishot->later;
    if (set->last_put_off == &multishot->later)
        set->last_put_off = link;
}

static struct multishot *take_all_put_off(struct buffer_set *set)
{
    struct multishot *all = set->first_put_off;

    abtioi_assert(abtioi_is_held(&set->pool->lock));
    set->first_put_off = NULL;
    set->last_put_off = &set->first_put_off;
    return all;
}

/* The lock is held. */
static void buffers_ask(struct buffer_set *set)
{
    abtioi_assert(abtioi_is_held(&set->pool->lock) && set->channel);
    if (set->asked)
        return;
    set->asked = true;
    abtioi_channel_ask(set->channel, &set->request);
}

/* All waiters try again, since the next one to get data may be any of them. */
int abtio_buffers_give_back(abtio_buffers *buffers, void *buf)
{
    struct multishot *list = NULL;

    if (!buf)
        return -EINVAL;
    pthread_mutex_lock(&buffers->lock);
    struct buffer_set *set = buffer_of(buf)->set;
    bool is_out = buffer_of(buf)->out && set->pool == buffers;
    if (is_out) {
        abtioi_set_put(set, buf);
        if (!set->channel)
            list = take_all_put_off(set);
        else if (set->first_put_off)
            buffers_ask(set);
    }
    abtioi_multishot_try_again(&buffers->lock, list, NULL);
    return is_out ? 0 : -EINVAL;
}

/* The lock is held, and released. The pool goes with its last set. */
static void leave_pool(struct abtio_buffers *pool)
{
    bool last = pool->freed && !pool->sets;
    abtioi_assert(!last || (pool->num_out == 0 && pool->num_receivers == 0));
    pthread_mutex_unlock(&pool->lock);
    if (!last)
        return;
    list_remove(pool);
    set_fini(&pool->plain);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void abtioi_set_serve(abtio_op *request, struct channel *channel)
{
    struct buffer_set *set = request->args.out;
    struct abtio_buffers *pool = set->pool;

    pthread_mutex_lock(&pool->lock);
    abtioi_assert(request->code == CODE_serve && set->asked);
    set->asked = false;
    if (!pool->freed) {
        abtioi_multishot_try_again(&pool->lock, take_all_put_off(set), set->channel ? channel : NULL);
        return;
    }
    if (set->channel)
        abtioi_channel_drop_set(set->channel, set);
    set_free(set);
    leave_pool(pool);
}

/* Of a pool that was freed the request is still to come. */
void abtioi_sets_leave(struct buffer_set **sets, bool lost)
{
    struct buffer_set *set;

    while ((set = *sets)) {
        *sets = set->later;
        pthread_mutex_lock(&set->pool->lock);
        abtioi_assert(set->channel && !set->lost);
        set->channel = NULL;
        set->lost = lost;
        abtioi_multishot_try_again(&set->pool->lock, take_all_put_off(set), NULL);
    }
}

/* ---- Begin and end --------------------------------------------------------------------------------------------- */

static unsigned power_of_two(unsigned least)
{
    unsigned power = 1;

    while (power < least)
        power *= 2;
    return power;
}

int abtio_buffers_create(size_t size, unsigned num, abtio_buffers **buffers)
{
    if (!abtioi_is_begun())
        return -ENOTCONN;
    if (size == 0 || size > most_size || num == 0 || num > MOST_BUFFERS)
        return -EINVAL;
    struct abtio_buffers *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;
    made->size = size;
    made->stride = BUFFER_LINE + (size + BUFFER_LINE - 1) / BUFFER_LINE * BUFFER_LINE;
    made->num = made->plain.num_free = num;
    made->entries = power_of_two(num);
    abtioi_assert(made->entries <= MOST_BUFFERS && made->stride % BUFFER_LINE == 0);
    pthread_mutex_init(&made->lock, NULL);
    int code = !set_init(&made->plain, made) ? -ENOMEM : list_add(made) ? 0 : -ENOSPC;
    if (code == 0) {
        *buffers = made;
        return 0;
    }
    if (made->plain.memory)
        set_fini(&made->plain);
    pthread_mutex_destroy(&made->lock);
    free(made);
    return code;
}

int abtio_buffers_free(abtio_buffers **buffers)
{
    struct abtio_buffers *pool = *buffers;

    if (!pool)
        return 0;
    pthread_mutex_lock(&pool->lock);
    pool->freed = pool->num_receivers == 0 && pool->num_out == 0;
    if (!pool->freed) {
        pthread_mutex_unlock(&pool->lock);
        return -EBUSY;
    }
    for (struct buffer_set *set = pool->sets, *next; set; set = next) {
        next = set->next;
        if (set->channel)
            buffers_ask(set);
        else if (!set->asked)
            set_free(set);
    }
    leave_pool(pool);
    *buffers = NULL;
    return 0;
}

void abtioi_buffers_end(void)
{
    pthread_mutex_lock(&pools.lock);
    for (struct abtio_buffers *pool = pools.all; pool; pool = pool->next) {
        pthread_mutex_lock(&pool->lock);
        abtioi_multishot_try_again(&pool->lock, take_all_put_off(&pool->plain), NULL);
    }
    pthread_mutex_unlock(&pools.lock);
}

void abtioi_buffers_before_fork(void)
{
    pthread_mutex_lock(&pools.lock);
}

void abtioi_buffers_after_fork(void)
{
    pthread_mutex_unlock(&pools.lock);
}

void abtioi_buffers_forget(void)
{
    pools.all = NULL;
    memset(pools.ids, 0, sizeof(pools.ids));
    pthread_mutex_init(&pools.lock, NULL);
}
