/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stack overflows: each in a child process, whose last words and death are looked at.
 */
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "api/common.h"
#include "child.h"
#include "emulated.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static char words[8192]; /* what the child has said on stderr */

struct attempt {
    const char *check; /* a value of ABT_STACK_OVERFLOW_CHECK; NULL: none */
    void (*act)(void);
};

static int make_attempt(void *arg)
{
    const struct attempt *attempt = arg;

    if (attempt->check)
        setenv("ABT_STACK_OVERFLOW_CHECK", attempt->check, 1);
    else
        unsetenv("ABT_STACK_OVERFLOW_CHECK");
    attempt->act();
    return 0;
}

static int run_child(const char *check, void (*act)(void))
{
    struct attempt attempt = {check, act};

    return child_run(make_attempt, &attempt, words, sizeof(words));
}

static bool died_of(int status, int sig)
{
    return status == 128 + sig;
}

static bool said(const char *text)
{
    return strstr(words, text) != NULL;
}

/* --- The guilty --- */

static volatile int depth;

static __attribute__((noinline)) int dig(int n)
{
    volatile char frame[512];
    frame[0] = (char)n;
    frame[511] = (char)(n >> 1);
    depth = n;
    return depth < 0 ? 0 : dig(n + 1) + frame[0] + frame[511];
}

void digs_for_ever(void *arg);
void digs_for_ever(void *arg)
{
    dig(0);
}

static void overflow_on_primary(void)
{
    ABT_thread ult;
    must(ABT_init(0, NULL));
    must(ABT_thread_create(pool_of(own_xstream()), digs_for_ever, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
}

static void digs_unnamed(void *arg)
{
    dig(0);
}

static void overflow_of_static(void)
{
    ABT_thread ult;
    must(ABT_init(0, NULL));
    must(ABT_thread_create(pool_of(own_xstream()), digs_unnamed, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
}

static int find_program(struct dl_phdr_info *info, size_t size, void *base)
{
    *(uintptr_t *)base = info->dlpi_addr;
    return 1; /* it is the first */
}

/* What addr2line is to be given. */
static size_t static_code(void)
{
    uintptr_t base = 0;
    dl_iterate_phdr(find_program, &base);
    return (uintptr_t)digs_unnamed - base;
}

static void overflow_on_secondary(void)
{
    ABT_thread ult;
    must(ABT_init(0, NULL));
    ABT_xstream es = new_xstream();
    must(ABT_thread_create_on_xstream(es, digs_for_ever, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
}

static void joins_a_digger(void *arg)
{
    ABT_thread ult;
    must(ABT_thread_create(pool_of(own_xstream()), digs_for_ever, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
}

static void overflow_nested(void)
{
    ABT_thread ult;
    must(ABT_init(0, NULL));
    must(ABT_thread_create(pool_of(own_xstream()), joins_a_digger, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
}

static void overflow_of_own_stack(void)
{
    ABT_thread ult;
    ABT_thread_attr attr;
    must(ABT_init(0, NULL));
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stacksize(attr, 300000));
    must(ABT_thread_create(pool_of(own_xstream()), digs_for_ever, NULL, attr, &ult));
    must(ABT_thread_free(&ult));
}

static void users_handler(int sig)
{
    static const char text[] = "the user's handler\n";
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        _exit(3);
    exit(7); /* so that coverage is counted; nothing of the C library's has been interrupted */
}

/* Before the library's own handler. */
static void handled(void (*overflow)(void))
{
    signal(SIGSEGV, users_handler);
    signal(SIGABRT, users_handler);
    overflow();
}

static void overflow_on_primary_handled(void)
{
    handled(overflow_on_primary);
}

static void overflow_on_secondary_handled(void)
{
    handled(overflow_on_secondary);
}

static void overflow_nested_handled(void)
{
    handled(overflow_nested);
}

static void overflow_of_own_stack_handled(void)
{
    handled(overflow_of_own_stack);
}

static void info_handler(int sig, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    users_handler(sig);
}

static void overflow_with_info_handler(void)
{
    struct sigaction action = {.sa_sigaction = info_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    overflow_on_secondary();
}

static void ignored_signal(void)
{
    signal(SIGSEGV, SIG_IGN);
    must(ABT_init(0, NULL));
    raise(SIGSEGV);
    exit(8);
}

static void other_fault(void *arg)
{
    *(volatile int *)arg = 1;
}

static void other_fault_on_primary(void)
{
    ABT_thread ult;
    must(ABT_init(0, NULL));
    must(ABT_thread_create(pool_of(own_xstream()), other_fault, (void *)8, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
}

static void sent_signal(void)
{
    must(ABT_init(0, NULL));
    raise(SIGSEGV);
}

static void handler_restored(void)
{
    struct sigaction now;
    signal(SIGSEGV, users_handler);
    must(ABT_init(0, NULL));
    must(ABT_finalize());
    sigaction(SIGSEGV, NULL, &now);
    _exit(now.sa_handler == users_handler ? 0 : 1);
}

/* Writes below its stack, at the word where a canary is. */
static void tramples(void *arg)
{
    void *low;
    size_t size;
    ABT_thread self;
    ABT_thread_attr attr;
    must(ABT_self_get_thread(&self));
    must(ABT_thread_get_attr(self, &attr));
    must(ABT_thread_attr_get_stack(attr, &low, &size));
    must(ABT_thread_attr_free(&attr));
    memset(low, 0x11, 16);
}

static void trample_on_user_stack(void);

static void trample_handled(void)
{
    handled(trample_on_user_stack);
}

static char user_stack[65536] __attribute__((aligned(64)));

static void trample_on_user_stack(void)
{
    ABT_thread ult;
    ABT_thread_attr attr;
    must(ABT_init(0, NULL));
    must(ABT_thread_attr_create(&attr));
    must(ABT_thread_attr_set_stack(attr, user_stack, sizeof(user_stack)));
    must(ABT_thread_create(pool_of(own_xstream()), tramples, NULL, attr, &ult));
    must(ABT_thread_free(&ult));
}

static void no_trample(void)
{
    ABT_thread ult;
    must(ABT_init(0, NULL));
    must(ABT_thread_create(pool_of(own_xstream()), do_nothing, NULL, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_thread_free(&ult));
    must(ABT_finalize());
}

/* --- Other units, other places --- */

void jumps_far(void *arg);
void jumps_far(void *arg)
{
    volatile char frame[8 << 20]; /* far beyond any guard */
    frame[0] = 1;
    depth = frame[0];
}

static void run_jumper(ABT_thread_attr attr)
{
    ABT_thread ult;
    ABT_xstream es = new_xstream();
    must(ABT_thread_create_on_xstream(es, jumps_far, NULL, attr, &ult));
    must(ABT_thread_free(&ult));
}

static void jump_on_secondary(void)
{
    must(ABT_init(0, NULL));
    run_jumper(ABT_THREAD_ATTR_NULL);
}

static void jump_off_user_stack(void)
{
    ABT_thread_attr attr;
    must(ABT_init(0, NULL));
    must(ABT_thread_attr_create(&attr));
    char *memory = mmap(NULL, 16 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + (15 << 20), 1 << 20, PROT_READ | PROT_WRITE))
        _exit(3);
    must(ABT_thread_attr_set_stack(attr, memory + (15 << 20), 1 << 20));
    run_jumper(attr);
}

static void run_tasklet(bool secondary, void (*func)(void *))
{
    ABT_task task;
    must(ABT_init(0, NULL));
    ABT_xstream es = secondary ? new_xstream() : own_xstream();
    must(ABT_task_create(pool_of(es), func, NULL, &task));
    must(ABT_task_free(&task));
}

static void tasklet_on_primary(void)
{
    run_tasklet(false, digs_for_ever);
}

static void tasklet_on_secondary(void)
{
    run_tasklet(true, digs_for_ever);
}

static void frees_task(void *arg)
{
    ABT_task *task = arg;
    must(ABT_task_free(task));
}

/* A ULT waits for it, so that it is called in its place. */
static void tasklet_that_is_joined(void)
{
    ABT_task task;
    ABT_thread ult;
    must(ABT_init(0, NULL));
    must(ABT_thread_create(pool_of(own_xstream()), frees_task, &task, ABT_THREAD_ATTR_NULL, &ult));
    must(ABT_task_create(pool_of(own_xstream()), digs_for_ever, NULL, &task));
    must(ABT_thread_free(&ult));
}

static void tasklet_that_jumps(void)
{
    run_tasklet(false, jumps_far);
}

void digs_in_region(void *arg);
void digs_in_region(void *arg)
{
    must(ABTX_blocking_begin());
    digs_for_ever(arg);
    must(ABTX_blocking_end());
}

void jumps_in_region(void *arg);
void jumps_in_region(void *arg)
{
    must(ABTX_blocking_begin());
    jumps_far(arg);
    must(ABTX_blocking_end());
}

static void run_in_region(bool secondary, void (*func)(void *))
{
    must(ABT_init(0, NULL));
    ABT_xstream es = secondary ? new_xstream() : own_xstream();
    ABT_thread ult = ult_in(pool_of(es), func, NULL);
    must(ABT_thread_free(&ult));
}

static void region_on_primary(void)
{
    run_in_region(false, digs_in_region);
}

static void region_on_secondary(void)
{
    run_in_region(true, jumps_in_region);
}

/* It cannot hand its stream over. */
static void region_of_tasklet(void)
{
    run_tasklet(true, digs_in_region);
}

#pragma weak makecontext /* some C libraries have no such contexts */
#pragma weak getcontext
#pragma weak swapcontext

static ucontext_t coroutine, resumed;
static char coroutine_stack[65536] __attribute__((aligned(64)));

static void *volatile nowhere = (void *)8;

static void faults_there(void)
{
    other_fault(nowhere);
}

static void calls_coroutine(void *arg)
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = coroutine_stack;
    coroutine.uc_stack.ss_size = sizeof(coroutine_stack);
    makecontext(&coroutine, faults_there, 0);
    swapcontext(&resumed, &coroutine);
}

static void fault_in_coroutine(void)
{
    run_in_region(false, calls_coroutine);
}

/* --- */

static void check_report(const char *how, int status, const char *remedy)
{
    ok(died_of(status, SIGSEGV), "%s: the signal takes its course", how);
    ok(said("stack overflow in ULT"), "%s: it is reported", how);
    ok(said("digs_for_ever"), "%s: with the entry function", how);
    ok(said(remedy), "%s: and what raises it", how);
}

static void test_pages(void)
{
    check_report("by default", run_child(NULL, overflow_on_primary), "ABT_THREAD_STACKSIZE");
    check_report("auto", run_child("auto", overflow_on_primary), "ABT_THREAD_STACKSIZE");
    check_report("mprotect", run_child("mprotect", overflow_on_primary), "ABT_THREAD_STACKSIZE");
    check_report("mprotect_strict", run_child("mprotect_strict", overflow_on_primary), "ABT_THREAD_STACKSIZE");
    check_report("secondary stream", run_child(NULL, overflow_on_secondary), "ABT_THREAD_STACKSIZE");
    check_report("nested", run_child(NULL, overflow_nested), "ABT_THREAD_STACKSIZE");
    check_report("stack of its own", run_child(NULL, overflow_of_own_stack), "ABT_thread_attr_set_stacksize");
    ok(said("bytes for a size of 300000;"), "stack of its own: the size is told");
}

/*
 * A static function, whose name the loader does not know, is named by the place in its file, which is the same in each
 * run. The range of the stack is as long as the line says.
 */
static void test_static(void)
{
    unsigned long long low = 0, high = 1;
    size_t bytes = 0, size = 0, code = 0;
    int status = run_child(NULL, overflow_of_static);
    const char *at = strstr(words, ", function "), *range = strstr(words, "its stack is ");
    ok(died_of(status, SIGSEGV) && at && range, "static function: it is reported");
    if (!at || !range)
        return;
    int found = sscanf(at, ", function %*[^+ ]+0x%zx", &code);
    ok(found == 1 && code == static_code(), "by its place in the program: %s", words);
    found = sscanf(range, "its stack is %llx to %llx, %zu bytes for a size of %zu;", &low, &high, &bytes, &size);
    ok(found == 4 && high - low == bytes && size <= bytes, "the range of the stack has as many bytes as it says");
}

/* `unit` is "ULT" or "tasklet", `where` what else is told of it. */
static void check_words(const char *how, void (*act)(void), const char *unit, const char *func, const char *where)
{
    char begin[64];
    int status = run_child(NULL, act);
    snprintf(begin, sizeof(begin), "stack overflow in %s", unit);
    ok(died_of(status, SIGSEGV), "%s: the signal takes its course", how);
    ok(said(begin) && said(func) && said(where), "%s: what runs is told: %s", how, words);
}

/* Whether the handler reads the stack pointer: with contexts of the C library it does not know where that is. */
static bool reads_stack_pointer(void)
{
    ABT_bool own = ABT_FALSE;
    must(ABT_init(0, NULL));
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_FCONTEXT, &own));
    must(ABT_finalize());
    return own;
}

/* What jumps over the guard, or leaves a stack that is not the unit's own. */
static void test_far_places(void)
{
    if (!reads_stack_pointer()) {
        skip(14, "the stack pointer of a fault is not known");
        return;
    }
    check_words("a frame jumps over the guard", jump_on_secondary, "ULT", "jumps_far", "on stream 1");
    ok(said("bytes below it"), "and how far");
    check_words("out of the user's memory", jump_off_user_stack, "ULT", "jumps_far", "ABT_thread_attr_set_stack");
    check_words("tasklet of a secondary stream", tasklet_on_secondary, "tasklet", "digs_for_ever", "on stream 1");
    ok(said("ABT_SCHED_STACKSIZE"), "and what raises it");
    check_words("tasklet with a large frame", tasklet_that_jumps, "tasklet", "jumps_far", "bytes below it");
    check_words("the same of a secondary stream", region_on_secondary, "ULT", "jumps_in_region",
                "in a blocking region");
    check_words("region of a tasklet", region_of_tasklet, "tasklet", "digs_in_region", "in a blocking region");
}

static void test_places(void)
{
    check_words("tasklet", tasklet_on_primary, "tasklet", "digs_for_ever", "on stream 0");
    check_words("tasklet that is joined", tasklet_that_is_joined, "tasklet", "digs_for_ever", "ABT_SCHED_STACKSIZE");
    check_words("blocking region", region_on_primary, "ULT", "digs_in_region", "in a blocking region");
}

static void check_handled(const char *how, int status)
{
    ok(status == 7, "%s: a handler of the user's comes after the report", how);
    ok(said("stack overflow in ULT") && said("the user's handler"), "%s: both have spoken", how);
}

/* qemu itself tells of a signal that ends a program. */
static bool is_silent(void)
{
    return !words[0] || (is_emulated() && !strncmp(words, "qemu: uncaught", 14) && !said("libabt"));
}

static void test_passing_on(void)
{
    check_handled("primary stream", run_child(NULL, overflow_on_primary_handled));
    check_handled("secondary stream", run_child(NULL, overflow_on_secondary_handled));
    check_handled("nested", run_child(NULL, overflow_nested_handled));
    check_handled("stack of its own", run_child(NULL, overflow_of_own_stack_handled));
    check_handled("a handler that is told more", run_child(NULL, overflow_with_info_handler));
    int status = run_child(NULL, other_fault_on_primary);
    ok(died_of(status, SIGSEGV), "another fault takes its course");
    ok(is_silent(), "without a word");
    if (!makecontext) {
        skip(1, "the C library has no makecontext");
    } else {
        status = run_child(NULL, fault_in_coroutine);
        ok(died_of(status, SIGSEGV) && is_silent(), "so does one on a stack of the program's own");
    }
    status = run_child(NULL, sent_signal);
    ok(died_of(status, SIGSEGV) && is_silent(), "so does a signal that was sent");
    status = run_child(NULL, ignored_signal);
    ok(status == 8 && !words[0], "unless it is ignored");
    status = run_child(NULL, handler_restored);
    ok(status == 0, "finalize restores the handler");
    status = run_child("none", other_fault_on_primary);
    ok(died_of(status, SIGSEGV) && is_silent(), "no guards");
}

static void test_canaries(void)
{
    int status = run_child("canary", trample_on_user_stack);
    ok(died_of(status, SIGABRT), "a broken canary aborts");
    ok(said("stack overflow in ULT"), "and says why");
    check_handled("canary", run_child("canary", trample_handled));
    status = run_child("canary", no_trample);
    ok(status == 0, "a whole one does not");
    status = run_child(NULL, trample_on_user_stack);
    ok(status == 0, "no canary in the user's memory unless asked for");
}

int main(void)
{
    if (SANITIZED)
        skip_all("sanitizers have handlers of their own");
    test_pages();
    test_static();
    test_places();
    test_far_places();
    test_passing_on();
    test_canaries();
    return done_testing();
}
