/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ULT runs a coroutine of the program's on a stack that the library knows nothing of, above its own in memory or
 * below it, and creates and joins units there. They run on stacks with all the room that they were promised, and not on
 * the little that is left of the coroutine's.
 */
#include <sys/mman.h>
#include <ucontext.h>

#include "regress.h"
#include "sanitizers.h"

enum { COROUTINE = 32 * 1024, USED = 18 * 1024, EATEN = 10 * 1024, GUARD = 64 * 1024, HOST = 1024 * 1024, MANY = 3 };

static ABT_pool pool;
static char *stacks[2];  /* of coroutines: one below the host's stack in memory, and one above it */
static char *host_stack; /* between them */
static char *now_on;     /* the stack of the coroutine that runs */
static atomic_int ended; /* units */
static int misplaced;    /* units that ran on the coroutine's stack */
static void (*act)(void);

/* The three stacks lie in one mapping, each behind a guard. */
static void map_stacks(void)
{
    const size_t sizes[3] = {COROUTINE, HOST, COROUTINE};
    char *at = mmap(NULL, 3 * GUARD + HOST + 2 * COROUTINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *made[3];

    if (at == MAP_FAILED)
        bail_out("no stacks for coroutines");
    for (int i = 0; i < 3; i++) {
        if (mprotect(at, GUARD, PROT_NONE) != 0)
            bail_out("no guard for a stack");
        made[i] = at + GUARD;
        at = made[i] + sizes[i];
    }
    stacks[0] = made[0];
    host_stack = made[1];
    stacks[1] = made[2];
}

static void unit_main(void *arg)
{
    volatile char eaten[EATEN];

    for (int i = 0; i < EATEN; i += 256)
        eaten[i] = 1;
    if ((char *)eaten >= now_on - EATEN && (char *)eaten < now_on + COROUTINE)
        misplaced++;
    atomic_fetch_add(&ended, 1);
}

static ABT_thread create(void)
{
    ABT_thread thread = ult_in(pool, unit_main, NULL);
    return thread;
}

static void act_free(void)
{
    ABT_thread thread = create();
    must(ABT_thread_free(&thread));
}

static void act_join(void)
{
    ABT_thread thread = create();
    must(ABT_thread_join(thread));
    must(ABT_thread_free(&thread));
}

static void act_free_many(void)
{
    ABT_thread threads[MANY];

    for (int i = 0; i < MANY; i++)
        threads[i] = create();
    must(ABT_thread_free_many(MANY, threads));
}

static void act_join_many(void)
{
    ABT_thread threads[MANY];

    for (int i = 0; i < MANY; i++)
        threads[i] = create();
    must(ABT_thread_join_many(MANY, threads));
    must(ABT_thread_free_many(MANY, threads));
}

static void act_task(void)
{
    ABT_task task;

    must(ABT_task_create(pool, unit_main, NULL, &task));
    must(ABT_task_free(&task));
}

static void act_room(void)
{
    size_t room;

    if (ABTX_self_get_stack_room(&room) != ABT_ERR_FEATURE_NA)
        misplaced++;
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {
    {"thread_free", act_free},           {"thread_join", act_join}, {"thread_free_many", act_free_many},
    {"thread_join_many", act_join_many}, {"task_free", act_task},   {"self_get_stack_room", act_room},
};

static ucontext_t outside, inside;

static void coroutine_main(void)
{
    volatile char used[USED];

    used[0] = used[USED - 1] = 1;
    act();
    used[0] = 2;
}

static void run_coroutine(char *stack)
{
    now_on = stack;
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = COROUTINE;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine_main, 0);
    swapcontext(&outside, &inside);
}

static void host_main(void *arg)
{
    const char *name = arg;
    char here;

    for (unsigned i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        for (int j = 0; j < 2; j++) {
            misplaced = 0;
            act = acts[i].act;
            run_coroutine(stacks[j]);
            is_int(misplaced, 0, "%s, %s: %s the ULT's stack", name, acts[i].name,
                   stacks[j] > &here ? "above" : "below");
        }
    }
}

static void play(const char *name, ABT_pool_kind kind, ABT_pool_access access)
{
    ABT_xstream self;
    ABT_thread_attr attr;
    ABT_thread host;

    must(ABT_self_get_xstream(&self));
    must(ABT_pool_create_basic(kind, access, ABT_TRUE, &pool));
    must(ABT_xstream_set_main_sched_basic(self, ABT_SCHED_BASIC, 1, &pool));
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stack(attr, host_stack, HOST));
    must(ABT_thread_create(pool, host_main, (void *)(uintptr_t)name, attr, &host));
    must(ABT_thread_free(&host));
    must(ABT_thread_attr_free(&attr));
    host_main("the primary ULT");
}

int main(void)
{
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("the sanitizer would have to be told of the coroutine");
    regress_begin();
    map_stacks();
    must(ABT_init(0, NULL));
    play("a private pool", ABT_POOL_FIFO, ABT_POOL_ACCESS_PRIV);
    play("a shared pool", ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC);
    play("a RANDWS pool", ABT_POOL_RANDWS, ABT_POOL_ACCESS_MPMC);
    ok(atomic_load(&ended) > 0, "units have run");
    must(ABT_finalize());
    return done_testing();
}
