/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units that are joined before they have started run on the rest of the joiner's stack, and the primary ULT's is
 * whatever ABT_init was called on: deep in main, with a small limit, with something mapped below it, on a thread's
 * stack, or on one that the program has made itself. No unit runs past the end of it. Each case is a process, since it
 * ends in a crash when that goes wrong.
 */
#include <alloca.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "regress.h"

enum {
    KB = 1024,
    MB = 1024 * KB,
    PAGE = 4 * KB,
    UNIT_STACK = 256 * KB,
    FRAME = 96 * KB, /* what each unit uses; sanitizers need some, too */
    DEPTH = 100,     /* of units that wait for one another */
    SMALL = 512 * KB,
};

/* Uses so much more of the stack, from above, as functions do. */
#define USE_STACK(size)                                                                                                \
    do {                                                                                                               \
        volatile char *room = alloca(size);                                                                            \
        for (size_t left = (size); left > 0; left -= left < PAGE ? left : PAGE)                                        \
            room[left - 1] = 1;                                                                                        \
    } while (0)

static void descend(void *arg)
{
    int left = (int)(intptr_t)arg;
    ABT_pool pool;

    USE_STACK(FRAME);
    if (left == 0)
        return;
    must(ABT_self_get_last_pool(&pool));
    ABT_thread thread = ult_in(pool, descend, (void *)(intptr_t)(left - 1));
    must(ABT_thread_free(&thread));
}

/* The first units of a pool do not run in place: its scheduler has not begun. */
static void begin_with(ABT_pool pool)
{
    ABT_thread thread;

    for (int i = 0; i < 4; i++) {
        must(ABT_thread_create(pool, descend, NULL, ABT_THREAD_ATTR_NULL, &thread));
        must(ABT_thread_free(&thread));
    }
}

static void use_library(void)
{
    ABT_pool pools[2];
    ABT_xstream es;
    ABT_thread threads[2];

    must(ABT_init(0, NULL));
    must(ABT_self_get_xstream(&es));
    pools[0] = make_pool(ABT_POOL_ACCESS_PRIV);
    must(ABT_xstream_get_main_pools(es, 1, &pools[1]));
    begin_with(pools[1]);
    descend((void *)(intptr_t)DEPTH); /* in a pool that others may see */
    must(ABT_xstream_set_main_sched_basic(es, ABT_SCHED_DEFAULT, 1, &pools[0]));
    begin_with(pools[0]);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++)
            must(ABT_thread_create(pools[0], descend, (void *)(intptr_t)DEPTH, ABT_THREAD_ATTR_NULL, &threads[i]));
        if (round == 0) {
            must(ABT_thread_free_many(2, threads)); /* in a row */
        } else {
            must(ABT_thread_free(&threads[0]));
            must(ABT_thread_free(&threads[1]));
        }
    }
    must(ABT_finalize());
}

static void deep(void)
{
    USE_STACK(6 * MB);
    use_library();
}

static void set_limit(rlim_t size)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit))
        bail_out("getrlimit: %s", strerror(errno));
    limit.rlim_cur = size;
    if (setrlimit(RLIMIT_STACK, &limit))
        bail_out("setrlimit: %s", strerror(errno));
}

static void small_limit(void)
{
    set_limit(MB);
    USE_STACK(600 * KB);
    use_library();
}

/* The system keeps a distance from it. */
static void mapping_below(void)
{
    char *here = __builtin_frame_address(0);
    char *addr = (char *)((uintptr_t)(here - 3 * MB) & ~(uintptr_t)(PAGE - 1));

    if (mmap(addr, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != addr)
        return; /* there is something else */
    use_library();
}

/* --- Other stacks --- */

/* With pages on both sides that nobody may touch. */
static char *make_stack(void)
{
    char *low = mmap(NULL, SMALL + 2 * MB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (low == MAP_FAILED || mprotect(low + MB, SMALL, PROT_READ | PROT_WRITE))
        bail_out("no memory for a stack");
    return low + MB;
}

static ucontext_t caller, context;

static void in_context(void (*func)(void))
{
    if (getcontext(&context))
        bail_out("getcontext: %s", strerror(errno));
    context.uc_stack.ss_sp = make_stack();
    context.uc_stack.ss_size = SMALL;
    context.uc_link = &caller;
    makecontext(&context, func, 0);
    if (swapcontext(&caller, &context))
        bail_out("swapcontext: %s", strerror(errno));
}

static void coroutine(void)
{
    in_context(use_library);
}

static void on_signal(int sig)
{
    use_library();
}

static void signal_stack(void)
{
    stack_t stack = {.ss_sp = make_stack(), .ss_size = SMALL};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

    if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1))
        bail_out("no handler: %s", strerror(errno));
}

static void *thread_main(void *func)
{
    (*(void (**)(void))func)();
    return NULL;
}

static void in_thread(void (*func)(void))
{
    pthread_t thread;
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, SMALL) ||
        pthread_create(&thread, &attr, thread_main, &func) || pthread_join(thread, NULL))
        bail_out("no thread");
    pthread_attr_destroy(&attr);
}

static void small_thread(void)
{
    in_thread(use_library);
}

static void coroutine_in_thread(void)
{
    in_thread(coroutine);
}

/* Whether the child ends as it should. */
static bool ends_well(pid_t child)
{
    int status = -1;

    if (child < 0 || waitpid(child, &status, 0) != child)
        bail_out("no child: %s", strerror(errno));
    if (WIFSIGNALED(status))
        diag("signal %d", WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The child's only thread is its first one, but stands on the stack of another one. */
static void fork_and_use(void)
{
    pid_t child = fork();

    if (child == 0) {
        use_library();
        _exit(0);
    }
    if (!ends_well(child))
        _exit(1);
}

static void child_of_thread(void)
{
    in_thread(fork_and_use);
}

/* --- The cases --- */

static const struct {
    const char *what;
    void (*run)(void);
} cases[] = {
    {"on main's stack", use_library},
    {"deep in main", deep},
    {"with a small limit", small_limit},
    {"with something mapped below", mapping_below},
    {"in a context of the program's", coroutine},
    {"on a signal handler's stack", signal_stack},
    {"in a thread with a small stack", small_thread},
    {"in a context of such a thread", coroutine_in_thread},
    {"in the child of a thread with a small stack", child_of_thread},
};

int main(void)
{
    char size[16];

    regress_begin();
    snprintf(size, sizeof(size), "%d", UNIT_STACK);
    must(setenv("ABT_THREAD_STACKSIZE", size, 1));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (UNDER_TSAN && cases[i].run == signal_stack)
            continue; /* which reports every allocation in a handler */
        pid_t child = fork();
        if (child == 0) {
            cases[i].run();
            _exit(0);
        }
        ok(ends_well(child), "units in place, %s", cases[i].what);
    }
    return done_testing();
}
