/* SPDX-License-Identifier: BSD-3-Clause */
/* Back-traces of bare contexts: they begin at the caller of the switch and end at the entry frame. */
#include "arch/cpu.h"
#include "rt/libunwind.h"
#include "watch/unwind.h"
#include "tap.h"

enum { STACK = 65536 };

static char stack[STACK] __attribute__((aligned(64)));
static abti_ctx main_ctx, other_ctx;

/* What is printed of other_ctx; the caller frees it. */
static char *trace(const char *end)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);

    if (!fp)
        bail_out("open_memstream");
    struct abti_calls calls;
    abti_unwind_ctx(other_ctx, end, &calls);
    abti_unwind_print(fp, &calls);
    fclose(fp);
    return text;
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* The lines name these functions, in this order, one after the other, and no more of them. */
static void check_trace(const char *what, const char *const *names, int num)
{
    char *text = trace(stack + STACK), *at = text;
    bool in_order = true;

    for (int i = 0; i < num && in_order; i++) {
        char *line = at;
        at = strchr(line, '\n');
        in_order = at != NULL;
        if (in_order) {
            *at++ = '\0';
            in_order = strstr(line, names[i]) != NULL;
        }
    }
    if (abti_libunwind())
        ok(in_order && *at == '\0', "%s: %d calls and no more", what, num);
    else
        is_str(text, "", "%s: nothing is printed", what);
    free(text);
}

/* The compiler must not make a jump of a call that comes before this. */
static void stay(void)
{
    __asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void inner_call(void)
{
    abti_ctx_switch(&other_ctx, main_ctx);
    stay();
}

static __attribute__((noinline)) void middle_call(void)
{
    inner_call();
    stay();
}

static void entry_call(void)
{
    middle_call();
    stay();
}

static void nested_call(void *arg)
{
    middle_call();
    stay();
}

/* Starts from a frame with a distinct name, so that a trace that goes too far shows. */
static __attribute__((noinline)) void starter_call(void)
{
    abti_ctx_start(&main_ctx, stack + STACK, entry_call, NULL, NULL);
    stay();
}

static abti_ctx nester_ctx;

static void nester_call(void)
{
    abti_ctx_in_place(&nester_ctx, NULL, nested_call);
    stay();
}

static void caller_call(void)
{
    abti_ctx_call_on(&nester_ctx, NULL, nested_call, stack + STACK / 2);
    stay();
}

static void restarter_call(void)
{
    abti_ctx_restart(stack + STACK, entry_call, NULL, NULL);
}

static void test_started(void)
{
    static const char *const names[] = {"inner_call", "middle_call", "entry_call", "abti_ctx_start"};

    starter_call();
    check_trace("started", names, 4);
}

static void test_made(void)
{
    static const char *const before[] = {"abti_ctx_first"};
    static const char *const after[] = {"inner_call", "middle_call", "entry_call", "abti_ctx_first"};

    other_ctx = abti_ctx_make(stack + STACK, entry_call);
    check_trace("made", before, 1);
    abti_ctx_switch(&main_ctx, other_ctx);
    check_trace("made and started", after, 4);
}

static void test_restarted(void)
{
    static const char *const names[] = {"inner_call", "middle_call", "entry_call", "abti_ctx_restart"};

    abti_ctx_start(&main_ctx, stack + STACK / 2, restarter_call, NULL, NULL);
    check_trace("restarted", names, 4);
}

static void test_nested(void)
{
    static const char *const inner[] = {"inner_call", "middle_call", "nested_call", "abti_ctx_in_place"};
    static const char *const outer[] = {"nester_call", "abti_ctx_start"};

    abti_ctx_start(&main_ctx, stack + STACK, nester_call, NULL, NULL);
    check_trace("nested", inner, 4);
    other_ctx = nester_ctx;
    check_trace("that nests", outer, 2);
}

static void test_called_elsewhere(void)
{
    static const char *const inner[] = {"inner_call", "middle_call", "nested_call", "abti_ctx_call_on"};
    static const char *const outer[] = {"caller_call", "abti_ctx_start"};

    abti_ctx_start(&main_ctx, stack + STACK, caller_call, NULL, NULL);
    check_trace("called on another stack", inner, 4);
    other_ctx = nester_ctx;
    check_trace("that calls", outer, 2);
}

static abti_ctx leave_for_main(void *room, void *a, void *b)
{
    return main_ctx;
}

static int then_goes_away(void *room)
{
    abti_ctx_switch(&other_ctx, main_ctx);
    return 0;
}

static void leaver_call(void)
{
    abti_ctx_leave(&other_ctx, NULL, NULL, leave_for_main);
    stay();
}

static void waiter_call(void)
{
    abti_ctx_wait(&other_ctx, NULL, NULL, leave_for_main, then_goes_away);
    stay();
}

static void test_leave(void)
{
    static const char *const leaver[] = {"leaver_call", "abti_ctx_start"};
    static const char *const waiter[] = {"abti_ctx_wait", "waiter_call", "abti_ctx_start"};
    static const char *const then[] = {"then_goes_away", "abti_ctx_wait", "waiter_call", "abti_ctx_start"};

    abti_ctx_start(&main_ctx, stack + STACK, leaver_call, NULL, NULL);
    check_trace("left", leaver, 2);
    abti_ctx_start(&main_ctx, stack + STACK, waiter_call, NULL, NULL);
    check_trace("waits", waiter, 3);
    abti_ctx_switch(&main_ctx, other_ctx);
    check_trace("has waited", then, 4);
}

static void test_bounds(void)
{
    char *text;

    starter_call();
    text = trace(other_ctx);
    is_int(count_lines(text), 0, "no room for any call");
    free(text);
    text = trace(NULL);
    is_int(count_lines(text), abti_libunwind() ? 4 : 0, "an unknown end");
    free(text);
}

int main(void)
{
    abti_cpu_init();
    if (!abti_libunwind())
        skip_all("%s is not installed", ABTI_LIBUNWIND_FILE);
    test_started();
    test_made();
    test_restarted();
    test_nested();
    test_called_elsewhere();
    test_leave();
    test_bounds();
    return done_testing();
}
