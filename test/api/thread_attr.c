/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_thread_attr_*, and the stacks and properties that ULTs get from them. */
#include "common.h"

static size_t default_size;

/* --- The attribute itself --- */

static void test_attr(enum caller who, void *arg)
{
    ABT_thread_attr attr;
    char memory[64] __attribute__((aligned(16)));
    void *addr = memory;
    size_t size = 0;

    (void)who, (void)arg;
    must(ABT_thread_attr_create(&attr));
    ok_abt(ABT_thread_attr_get_stacksize(attr, &size));
    ok(size > 0, "the default size, %zu", size);
    ok_abt(ABT_thread_attr_get_stack(attr, &addr, &size));
    ok(addr == NULL && size > 0, "no address");
    ok_abt(ABT_thread_attr_set_stacksize(attr, 12345));
    ok_abt(ABT_thread_attr_get_stacksize(attr, &size));
    is_int(size, 12345, "a size");
    ok_abt(ABT_thread_attr_set_stack(attr, memory + 8, 50));
    ok_abt(ABT_thread_attr_get_stack(attr, &addr, &size));
    ok(addr == memory + 8 && size == 50, "an address, and any size");
    ok_abt(ABT_thread_attr_set_stacksize(attr, 40));
    ok_abt(ABT_thread_attr_get_stack(attr, &addr, &size));
    ok(addr == memory + 8 && size == 40, "a new size keeps the address");
    if (!ABT_NULL) {
        for (int i = 1; i < 8; i++)
            ok_err(ABT_thread_attr_set_stack(attr, memory + i, 50), ABT_ERR_INV_ARG);
        ok_abt(ABT_thread_attr_get_stack(attr, &addr, &size));
        ok(addr == memory + 8 && size == 40, "errors store nothing");
    }
    ok_abt(ABT_thread_attr_set_stack(attr, NULL, 65536));
    ok_abt(ABT_thread_attr_get_stack(attr, &addr, &size));
    ok(addr == NULL && size == 65536, "no address again");
    ok_abt(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
    ok_abt(ABT_thread_attr_set_callback(attr, NULL, NULL));
    ok_abt(ABT_thread_attr_free(&attr));
    is_ptr(attr, ABT_THREAD_ATTR_NULL, "null after free");
}

/* --- Stacks --- */

/*
 * What a ULT does not use of its stack: a guard page and what lies below it, for a stack that does not begin on a page;
 * and the frames of those that call it, and one that goes beyond.
 */
enum { SPARED = 2 * 4096 + 1536 };

struct stack_use {
    size_t bytes; /* to use at least */
    char *frame;  /* where the ULT's frame was */
    void *addr;   /* what the ULT is told about its stack */
    size_t size;
    atomic_int runs;
};

/* Inside of the frame of the function that says this: on some processors its address is its upper end (RISC-V). */
#define IN_FRAME ((char *)__builtin_frame_address(0) - 1)

/* Touches the stack down to that address. */
static __attribute__((noinline)) char use_stack(const char *limit)
{
    volatile char page[512];

    memset((char *)page, 7, sizeof(page));
    return (char)(IN_FRAME > limit ? page[1] + use_stack(limit) + page[2] : page[0]);
}

static void run_on_stack(void *arg)
{
    struct stack_use *use = arg;

    use->frame = IN_FRAME;
    must(ABT_thread_get_stack(self(), &use->addr, &use->size));
    if (use->bytes)
        use_stack(use->frame - use->bytes);
    ABT_thread_yield();
    count_up(&use->runs);
}

/* The address of a frame may be where it ends, on s390x. */
static bool is_inside(const struct stack_use *use)
{
    return use->frame > (char *)use->addr && use->frame <= (char *)use->addr + use->size;
}

static void test_default_stack(enum caller who, void *arg)
{
    struct stack_use use = {.bytes = 0};
    ABT_thread thread = ult_in(arg, run_on_stack, &use);
    void *addr;
    size_t size = 0;

    ok_abt(ABT_thread_get_stacksize(thread, &size));
    is_int(size, default_size, "the default size, before it runs");
    must(ABT_thread_join(thread));
    is_int(use.size, default_size, "and while it runs");
    ok(is_inside(&use), "the stack is where it is said to be");
    ok_abt(ABT_thread_get_stack(thread, NULL, &size));
    ok_abt(ABT_thread_get_stack(thread, &addr, NULL));
    ok_abt(ABT_thread_get_stack(thread, NULL, NULL));
    is_int(size, default_size, "each pointer may be NULL");
    must(ABT_thread_free(&thread));
}

/* However a ULT comes to run, where it runs is what it is told. */
struct family {
    int generations;
    atomic_int strangers; /* who ran elsewhere */
};

static void have_child(void *arg)
{
    struct family *family = arg;
    struct stack_use use = {.frame = IN_FRAME};
    volatile char page[3000];
    ABT_thread thread;

    memset((char *)page, 0, sizeof(page));
    must(ABT_thread_get_stack(self(), &use.addr, &use.size));
    if (!is_inside(&use) || use.size != default_size)
        count_up(&family->strangers);
    if (--family->generations <= page[0])
        return;
    thread = ult_in(last_pool_of(self()), have_child, family);
    must(ABT_thread_free(&thread));
}

static void join_private(void *arg)
{
    struct stack_use *uses = arg;
    ABT_pool pool;
    ABT_thread thread;

    must(ABT_self_get_last_pool(&pool));
    thread = ult_in(pool, run_on_stack, &uses[0]);
    must(ABT_thread_join(thread));
    must(ABT_thread_free(&thread));
    must(ABT_thread_create(pool, run_on_stack, &uses[1], ABT_THREAD_ATTR_NULL, NULL));
    thread = ult_in(pool, run_on_stack, &uses[2]);
    must(ABT_thread_free(&thread));
}

static void test_private_pool(void)
{
    struct stack_use uses[3] = {{.bytes = default_size - SPARED}, {.bytes = default_size - SPARED}, {.bytes = 0}};
    struct family family = {.generations = 30};
    ABT_xstream xstream;
    ABT_pool pool;
    ABT_thread thread, elder;

    /* Pushed before there is an ES: from then on the pool is touched by that one alone. */
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV, ABT_TRUE, &pool));
    thread = ult_in(pool, join_private, uses);
    elder = ult_in(pool, have_child, &family);
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream));
    must(ABT_thread_join(thread));
    for (int i = 0; i < 3; i++) {
        ok(uses[i].runs == 1 && uses[i].size == default_size, "unit %d of a private pool has its stack", i);
        ok(is_inside(&uses[i]), "where it is said to be");
    }
    must(ABT_thread_free(&thread));
    must(ABT_thread_free(&elder));
    ok(family.generations == 0 && family.strangers == 0, "so has everyone in 30 generations: %d have not",
       family.strangers);
    must(ABT_xstream_free(&xstream));
}

/* All kinds of sizes, also odd ones, also many at a time. */
static void test_sizes(enum caller who, void *arg)
{
    const size_t sizes[] = {16384, 16385, 20000, 33333, 65535, 65536, 65537, 100001, 1 << 20, (1 << 20) + 7};
    enum { N = sizeof(sizes) / sizeof(sizes[0]) };
    struct stack_use uses[N];
    ABT_thread threads[N];
    ABT_thread_attr attr;

    memset(uses, 0, sizeof(uses));
    must(ABT_thread_attr_create(&attr));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            uses[i].bytes = sizes[i] - SPARED;
            must(ABT_thread_attr_set_stacksize(attr, sizes[i]));
            ok_abt(ABT_thread_create(arg, run_on_stack, &uses[i], attr, &threads[i]));
        }
        ok_abt(ABT_thread_free_many(N, threads));
    }
    for (int i = 0; i < N; i++) {
        ok(uses[i].runs == 3 && uses[i].size >= sizes[i] && is_inside(&uses[i]), "a stack of %zu bytes: %zu", sizes[i],
           uses[i].size);
    }
    must(ABT_thread_attr_free(&attr));
}

static void test_own_stack(enum caller who, void *arg)
{
    enum { SIZE = 65536 };
    ABT_thread_attr attr, copy;
    ABT_thread thread;
    char *memory = NULL;
    void *addr = NULL;
    size_t size = 0;

    must(posix_memalign((void **)&memory, 64, SIZE + 64));
    must(ABT_thread_attr_create(&attr));
    for (int offset = 0; offset <= 56; offset += 8) {
        struct stack_use use = {.bytes = SIZE - 12000};
        must(ABT_thread_attr_set_stack(attr, memory + offset, SIZE - (size_t)offset / 3));
        ok_abt(ABT_thread_create(arg, run_on_stack, &use, attr, &thread));
        must(ABT_thread_get_stack(thread, &addr, &size));
        ok(addr == memory + offset && size == SIZE - (size_t)offset / 3, "the stack is the user's");
        must(ABT_thread_get_attr(thread, &copy));
        must(ABT_thread_attr_get_stack(copy, &addr, &size));
        ok(addr == memory + offset && size == SIZE - (size_t)offset / 3, "an attribute made of the ULT says so");
        must(ABT_thread_attr_free(&copy));
        must(ABT_thread_join(thread));
        ok(use.frame > memory + offset && use.frame < memory + offset + SIZE, "and it has run there");
        must(ABT_thread_revive(arg, run_on_stack, &use, &thread));
        must(ABT_thread_free(&thread));
        is_int(use.runs, 2, "and again");
        ok_abt(ABT_thread_create(arg, run_on_stack, &use, attr, NULL));
        wait_for(use.runs == 3);
        /* The memory is in use until the unnamed ULT has left it. */
        thread = ult_in(arg, do_nothing, NULL);
        must(ABT_thread_free(&thread));
    }
    must(ABT_thread_attr_free(&attr));
    nap_ms(1);
    free(memory);
}

/* Attributes are copied: what becomes of them later changes nothing. */
static void test_copied(void)
{
    ABT_pool pool = own_pool();
    ABT_thread_attr attr;
    ABT_thread thread;
    ABT_bool flag = ABT_TRUE;
    ABT_unit_id id;
    size_t size = 0;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 50000));
    must(ABT_thread_attr_set_migratable(attr, ABT_FALSE));
    must(ABT_thread_create(pool, do_nothing, NULL, attr, &thread));
    must(ABT_thread_attr_set_stacksize(attr, 90000));
    must(ABT_thread_attr_set_migratable(attr, ABT_TRUE));
    must(ABT_thread_attr_free(&attr));
    must(ABT_thread_get_stacksize(thread, &size));
    ok(size >= 50000 && size < 90000, "the size at creation: %zu", size);
    must(ABT_thread_is_migratable(thread, &flag));
    is_int(flag, ABT_FALSE, "the flag at creation");
    must(ABT_thread_get_id(thread, &id));
    must(ABT_thread_is_migratable(thread, &flag));
    is_int(flag, ABT_FALSE, "and still when more is known of the unit");
    must(ABT_thread_set_migratable(thread, ABT_TRUE));
    must(ABT_thread_is_migratable(thread, &flag));
    is_int(flag, ABT_TRUE, "until it is changed");
    must(ABT_thread_free(&thread));
}

static void callback(ABT_thread thread, void *arg)
{
    count_up(arg);
}

/* get_attr gives all of it; what it gives makes a ULT with the same properties. */
static void test_get_attr(enum caller who, void *arg)
{
    ABT_pool pool = pool_of(arg), parked = new_pool(ABT_POOL_FIFO, ABT_FALSE);
    ABT_thread_attr attr, copy = ABT_THREAD_ATTR_NULL;
    ABT_thread thread, task;
    ABT_bool flag = ABT_FALSE;
    atomic_int calls = 0;
    size_t size = 0;

    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 40960));
    must(ABT_thread_attr_set_callback(attr, callback, &calls));
    must(ABT_thread_create(pool, do_nothing, NULL, attr, &thread));
    must(ABT_thread_join(thread));
    ok_abt(ABT_thread_get_attr(thread, &copy));
    must(ABT_thread_attr_get_stacksize(copy, &size));
    ok(size >= 40960 && size < 50000, "size %zu", size);
    must(ABT_thread_free(&thread));
    must(ABT_thread_attr_set_stack(copy, NULL, 0));
    must(ABT_thread_attr_set_stacksize(copy, 40960));
    must(ABT_thread_create(parked, do_nothing, NULL, copy, &thread));
    must(ABT_thread_is_migratable(thread, &flag));
    is_int(flag, ABT_TRUE, "migratable");
    must(ABT_thread_migrate_to_pool(thread, pool));
    must(ABT_pool_pop_thread(parked, &thread));
    must(ABT_pool_push_thread(pool, thread));
    must(ABT_thread_free(&thread));
    must(ABT_thread_attr_free(&copy));
    must(ABT_thread_attr_free(&attr));

    must(ABT_task_create(pool, do_nothing, NULL, &task));
    if (!ABT_NULL || ver20)
        is_int(ABT_thread_get_attr(task, &copy), ver20 ? ABT_SUCCESS : ABT_ERR_INV_THREAD, "a tasklet's");
    must(ABT_thread_get_stacksize(task, &size));
    is_int(size, 0, "a tasklet has no stack");
    must(ABT_task_free(&task));
    must(ABT_pool_free(&parked));
}

int main(void)
{
    ABT_xstream xstream;
    ABT_thread_attr attr = ABT_THREAD_ATTR_NULL;

    need_cancel_and_migrate();
    must(ABT_init(0, NULL));
    ok_abt(ABT_thread_attr_create(&attr));
    ok(attr && attr != ABT_THREAD_ATTR_NULL, "an attribute");
    must(ABT_thread_attr_get_stacksize(attr, &default_size));
    must(ABT_thread_attr_free(&attr));
    xstream = new_xstream();
    call_as_each(test_attr, NULL);
    call_as_each(test_default_stack, pool_of(xstream));
    test_private_pool();
    call_as_each(test_sizes, pool_of(xstream));
    call_as_each(test_own_stack, pool_of(xstream));
    test_copied();
    call_as_each(test_get_attr, xstream);
    must(ABT_xstream_free(&xstream));
    ok_abt(ABT_finalize());
    return done_testing();
}
