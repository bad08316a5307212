/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machine contexts: registers and floating-point control words survive every kind of switch, the old context is
 * published only when it is complete and left, stacks are aligned, and a back trace ends at the entry frame.
 */
#include <fenv.h>
#include <float.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/time.h>

#include "arch/cpu.h"
#include "arch/ctx.h"
#include "base/atomic.h"
#include "base/build.h"
#include "tap.h"

#ifdef __SANITIZE_THREAD__
enum { UNDER_TSAN = 1 };
#else
enum { UNDER_TSAN = 0 };
#endif

#if __has_include(<execinfo.h>)
#include <execinfo.h>
enum { HAS_TRACES = 1 };
#else
enum { HAS_TRACES = 0 };

static int backtrace(void **frames, int size)
{
    return size;
}
#endif

#define ok_trace(right, ...) (HAS_TRACES ? (void)ok(right, __VA_ARGS__) : skip(1, "the C library has no back traces"))

enum { STACK = 65536 };

static char stacks[3][STACK] __attribute__((aligned(64)));

static void *top_of(int i)
{
    return stacks[i] + STACK;
}

static bool lies_in(const void *p, int i)
{
    return (const char *)p >= stacks[i] && (const char *)p < stacks[i] + STACK;
}

/* --- Registers, in plain C --- */

/* More numbers than there are callee-saved registers, of each kind, for as many as there are to be in use. */
#define EACH_NUMBER(f)                                                                                                 \
    f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(18) f(19)

typedef uint64_t lanes __attribute__((vector_size(16)));

static volatile uint64_t words[20];
static volatile double reals[20];
static volatile lanes vectors[20];

static void fill_numbers(uint64_t first)
{
    for (unsigned i = 0; i < 20; i++) {
        words[i] = (first + i) * 0x0101010101010101;
        reals[i] = (double)(first + i) / 8;
        vectors[i] = (lanes){first + i, ~(first + i)};
    }
}

/* Calls f with numbers from `first` on in registers; true if they are there afterwards. */
static __attribute__((noinline)) bool keeps_numbers(int (*f)(void), uint64_t first)
{
    bool kept = true;

    fill_numbers(first);
#define TAKE_NUMBER(i)                                                                                                 \
    uint64_t word##i = words[i];                                                                                       \
    double real##i = reals[i];                                                                                         \
    lanes vector##i = vectors[i];
#define CHECK_NUMBER(i)                                                                                                \
    kept = kept && word##i == words[i] && real##i == reals[i] && vector##i[0] == vectors[i][0] &&                      \
           vector##i[1] == vectors[i][1];
    EACH_NUMBER(TAKE_NUMBER)
    f();
    fill_numbers(first);
    EACH_NUMBER(CHECK_NUMBER)
    return kept;
}

/* --- What depends on the processor --- */

#ifdef __x86_64__

enum { HAS_PRECISION = 1, HAS_FLUSH = 1 };

static void set_precision(bool full)
{
    uint16_t word;

    __asm__ volatile("fnstcw %0" : "=m"(word));
    word = (uint16_t)(full ? word | 0x300u : word & ~0x300u);
    __asm__ volatile("fldcw %0" : : "m"(word));
}

static void set_flush(bool on)
{
    uint32_t word;

    __asm__ volatile("stmxcsr %0" : "=m"(word));
    word = on ? word | 0x8000u : word & ~0x8000u;
    __asm__ volatile("ldmxcsr %0" : : "m"(word));
}

/* Calls f with known values in all callee-saved registers; true if they are there afterwards. */
static __attribute__((noinline)) bool keeps_registers(int (*f)(void))
{
    uint64_t in[5] = {0x1111111111111111, 0x2222222222222222, 0x3333333333333333, 0x4444444444444444,
                      0x5555555555555555};
    uint64_t out[5];
    void *args[3] = {(void *)(uintptr_t)f, in, out}, **at = args;

    /* r15 holds the stack pointer to compare. */
    __asm__ volatile("movq %%rax, %%rdi\n\t"
                     "leaq -128(%%rsp), %%rax\n\t" /* the compiler's red zone */
                     "xchgq %%rsp, %%rax\n\t"
                     "andq $-16, %%rsp\n\t"
                     "subq $32, %%rsp\n\t"
                     "movq %%rax, 0(%%rsp)\n\t"
                     "movq %%rdi, 8(%%rsp)\n\t"
                     "movq %%rbp, 16(%%rsp)\n\t"
                     "movq 8(%%rdi), %%rax\n\t"
                     "movq 0(%%rax), %%rbx\n\t"
                     "movq 8(%%rax), %%rbp\n\t"
                     "movq 16(%%rax), %%r12\n\t"
                     "movq 24(%%rax), %%r13\n\t"
                     "movq 32(%%rax), %%r14\n\t"
                     "movq %%rsp, %%r15\n\t"
                     "call *(%%rdi)\n\t"
                     "cmpq %%rsp, %%r15\n\t"
                     "je 1f\n\t"
                     "ud2\n"
                     "1: movq 8(%%rsp), %%rdi\n\t"
                     "movq 16(%%rdi), %%rax\n\t"
                     "movq %%rbx, 0(%%rax)\n\t"
                     "movq %%rbp, 8(%%rax)\n\t"
                     "movq %%r12, 16(%%rax)\n\t"
                     "movq %%r13, 24(%%rax)\n\t"
                     "movq %%r14, 32(%%rax)\n\t"
                     "movq 16(%%rsp), %%rbp\n\t"
                     "movq 0(%%rsp), %%rsp\n\t"
                     : "+a"(at)
                     :
                     : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                       "memory", "cc");
    return !memcmp(in, out, sizeof(in));
}

/* Fills the callee-saved registers with other values; the compiler saves them around it. */
static __attribute__((noinline)) void spoil_registers(void)
{
    __asm__ volatile("movq $-1, %%rbx\n\tmovq $-1, %%r12\n\tmovq $-1, %%r13\n\tmovq $-1, %%r14\n\tmovq $-1, %%r15"
                     :
                     :
                     : "rbx", "r12", "r13", "r14", "r15");
}

#else

enum { HAS_PRECISION = 0 };

static void set_precision(bool full)
{
}

#ifdef __powerpc64__

#include "ppc64.h" /* also CR, and vector registers that this is not built for */

#else

static bool keeps_registers(int (*f)(void))
{
    return keeps_numbers(f, 1000);
}

static int nothing(void)
{
    return 0;
}

static void spoil_registers(void)
{
    int (*volatile f)(void) = nothing;
    keeps_numbers(f, 1);
}

#endif

#ifdef __aarch64__

enum { HAS_FLUSH = 1 };

static void set_flush(bool on)
{
    uint64_t word;

    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    word = on ? word | 1u << 24 : word & ~(UINT64_C(1) << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
}

#else

enum { HAS_FLUSH = 0 };

static void set_flush(bool on)
{
}

#endif
#endif

#ifdef ABTI_X86_MXCSR_DEFAULT

enum { NUM_FPU_MODES = 2 };

static void set_fpu_mode(int mode)
{
    abti_x86_fpu_mode = (unsigned char)mode;
    diag("control words %s", mode ? "always loaded" : "compared first");
}

#else

enum { NUM_FPU_MODES = 1 };

static void set_fpu_mode(int mode)
{
}

#endif

/* What the last entry function saw; checked on the main stack. */
static struct {
    bool aligned, on_stack;
    int mode;  /* rounding */
    bool full; /* precision */
    int frames;
} seen;

static abti_ctx main_ctx, other_ctx, third_ctx;

static __attribute__((noinline)) bool is_aligned(void)
{
    /* The compiler aligns this by the stack pointer it believes in; an SSE store faults when that is wrong. */
    typedef float vector_of_4 __attribute__((vector_size(16)));
    volatile vector_of_4 vector = {1, 2, 3, 4};
    uintptr_t stack = _Alignof(max_align_t) - 1; /* as the ABI aligns it */

    return ((uintptr_t)__builtin_frame_address(0) & stack) == 0 && (uintptr_t)&vector % _Alignof(vector_of_4) == 0;
}

/* 1/3 in the x87's precision in force. */
static __attribute__((noinline)) long double third(void)
{
    volatile long double one = 1, three = 3;

    return one / three;
}

static void look_around(int stack)
{
    void *frames[64];
    void *here = abti_cpu_sp(); /* ASan may keep variables elsewhere, and a frame may begin at the top */

    seen.aligned = is_aligned();
    seen.on_stack = lies_in(here, stack);
    seen.mode = fegetround();
    seen.full = third() == 1.0L / 3.0L; /* the compiler may leave this to run time, where it depends on the rounding */
    seen.frames = backtrace(frames, 64);
}

static void check_fresh(const char *how)
{
    ok(seen.aligned, "%s: the stack is aligned", how);
    ok(seen.on_stack, "%s: it is the right one", how);
    is_int(seen.mode, FE_TONEAREST, "%s: rounds to nearest", how);
    ok(seen.full, "%s: full x87 precision", how);
    ok_trace(seen.frames > 0 && seen.frames < 10, "%s: the back trace ends, after %d frames", how, seen.frames);
}

/* Control words unlike those of a new context, if contexts have any. */
static void be_strange(void)
{
    fesetround(FE_UPWARD);
    set_precision(false);
}

static bool is_strange(void)
{
    return fegetround() == FE_UPWARD && (!HAS_PRECISION || third() != 1.0L / 3.0L);
}

static void be_normal(void)
{
    fesetround(FE_TONEAREST);
    set_precision(true);
}

/* --- switch, start --- */

static int switch_to_main(void)
{
    return abti_ctx_switch(&other_ctx, main_ctx);
}

/* A partner that is resumed again and again. */
static void partner(void)
{
    look_around(0);
    for (;;) {
        spoil_registers();
        be_strange();
        if (!keeps_numbers(switch_to_main, 2000) || !is_strange())
            seen.mode = -1;
        be_normal();
    }
}

static int start_partner(void)
{
    return abti_ctx_start(&main_ctx, top_of(0), partner, NULL, NULL);
}

static int switch_to_partner(void)
{
    return abti_ctx_switch(&main_ctx, other_ctx);
}

static void test_switch(void)
{
    be_normal();
    ok(keeps_registers(start_partner), "start: the registers are kept");
    check_fresh("start");
    ok(fegetround() == FE_TONEAREST && third() == 1.0L / 3.0L, "start: the control words are kept");
    seen.mode = FE_TONEAREST;
    ok(keeps_registers(switch_to_partner), "switch: the registers are kept");
    ok(fegetround() == FE_TONEAREST && third() == 1.0L / 3.0L, "switch: the control words are kept");
    be_strange();
    ok(keeps_registers(switch_to_partner), "switch with strange control words: the registers are kept");
    ok(is_strange(), "switch: strange control words are kept");
    be_normal();
    is_int(seen.mode, FE_TONEAREST, "switch: the partner's, too");
    is_int(switch_to_partner(), 0, "switch gives 0");
}

static void test_made(void)
{
    be_strange();
    other_ctx = abti_ctx_make(top_of(0), partner);
    memset(&seen, 0, sizeof(seen));
    ok(keeps_registers(switch_to_partner), "make: the registers are kept");
    check_fresh("make");
    ok(is_strange(), "make: strange control words are kept");
    be_normal();
}

/* A signal's frame may come between any two instructions of a switch, on either stack. */
static _Atomic(long) signals;

static void on_signal(int number)
{
    atomic_fetch_add(&signals, 1);
}

static void test_signals(void)
{
    enum { SIGNALS = 2000 };
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    long lost = 0;

    be_normal();
    other_ctx = abti_ctx_make(top_of(0), partner);
    switch_to_partner();
    seen.mode = FE_TONEAREST;
    atomic_store(&signals, 0);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (atomic_load(&signals) < SIGNALS) {
        switch_to_partner();
        lost += fegetround() != FE_TONEAREST || third() != 1.0L / 3.0L;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    is_int(lost, 0, "control words are kept while signals come");
    is_int(seen.mode, FE_TONEAREST, "the partner's, too");
}

/* --- after: on the new stack, when the old context is complete --- */

static struct {
    int calls;
    bool on_new_stack, saved, aligned;
    int stack; /* where it is to run, -1: on the main stack */
    abti_ctx *save;
} after_seen;

static void after(void *arg)
{
    void *here = abti_cpu_sp(); /* ASan may keep variables elsewhere, and a frame may begin at the top */
    bool on_some = lies_in(here, 0) || lies_in(here, 1) || lies_in(here, 2);

    after_seen.calls++;
    after_seen.on_new_stack = after_seen.stack < 0 ? !on_some : lies_in(here, after_seen.stack);
    after_seen.saved = after_seen.save ? *after_seen.save != NULL : true;
    after_seen.aligned = is_aligned() && arg == &after_seen;
}

static void expect_after(int stack, abti_ctx *save)
{
    memset(&after_seen, 0, sizeof(after_seen));
    after_seen.stack = stack;
    after_seen.save = save;
    if (save)
        *save = NULL;
}

static void check_after(const char *how)
{
    is_int(after_seen.calls, 1, "%s: after() was called once", how);
    ok(after_seen.on_new_stack, "%s: on the new stack", how);
    ok(after_seen.saved, "%s: with the old context saved", how);
    ok(after_seen.aligned, "%s: the stack aligned, with its argument", how);
}

static int switch_after_to_partner(void)
{
    return abti_ctx_switch_after(&main_ctx, other_ctx, after, &after_seen);
}

static _Atomic(uint8_t) stored;

static int switch_store_to_partner(void)
{
    return abti_ctx_switch_store(&main_ctx, other_ctx, 0xa5, &stored);
}

static int start_after(void)
{
    return abti_ctx_start(&main_ctx, top_of(0), partner, after, &after_seen);
}

static void jumper(void)
{
    be_strange();
    abti_ctx_jump(main_ctx);
}

static void jumper_after(void)
{
    be_strange();
    abti_ctx_jump_after(main_ctx, after, &after_seen);
}

static int start_jumper(void)
{
    return abti_ctx_start(&main_ctx, top_of(1), jumper, NULL, NULL);
}

static int start_jumper_after(void)
{
    return abti_ctx_start(&main_ctx, top_of(1), jumper_after, NULL, NULL);
}

static void last_of_all(void)
{
    look_around(2);
    abti_ctx_jump(main_ctx);
}

static void restarter(void)
{
    be_strange();
    abti_ctx_restart(top_of(2), last_of_all, NULL, NULL);
}

static void restarter_after(void)
{
    be_strange();
    abti_ctx_restart(top_of(2), last_of_all, after, &after_seen);
}

static int start_restarter(void)
{
    return abti_ctx_start(&main_ctx, top_of(1), restarter, NULL, NULL);
}

static int start_restarter_after(void)
{
    return abti_ctx_start(&main_ctx, top_of(1), restarter_after, NULL, NULL);
}

static void test_after(void)
{
    expect_after(0, &main_ctx);
    ok(keeps_registers(start_after), "start with after: the registers are kept");
    check_after("start");
    expect_after(0, &main_ctx);
    ok(keeps_registers(switch_after_to_partner), "switch_after: the registers are kept");
    check_after("switch_after");
    ok(fegetround() == FE_TONEAREST && third() == 1.0L / 3.0L, "switch_after: the control words are kept");
    ok(keeps_registers(switch_store_to_partner), "switch_store: the registers are kept");
    ok(fegetround() == FE_TONEAREST && third() == 1.0L / 3.0L, "switch_store: the control words are kept");
    is_int(stored, 0xa5, "switch_store: it has stored");
}

static void test_ends(void)
{
    ok(keeps_registers(start_jumper), "jump: the registers are kept");
    ok(fegetround() == FE_TONEAREST && third() == 1.0L / 3.0L, "jump: the control words are kept");
    expect_after(-1, NULL);
    ok(keeps_registers(start_jumper_after), "jump_after: the registers are kept");
    ok(fegetround() == FE_TONEAREST, "jump_after: the control words are kept");
    check_after("jump_after");

    memset(&seen, 0, sizeof(seen));
    ok(keeps_registers(start_restarter), "restart: the registers are kept");
    check_fresh("restart");
    memset(&seen, 0, sizeof(seen));
    expect_after(2, NULL);
    ok(keeps_registers(start_restarter_after), "restart with after: the registers are kept");
    check_fresh("restart with after");
    check_after("restart");
}

/* --- nest --- */

static void *nest_arg;
static bool nest_below, nest_switches, nest_elsewhere;
static void *outer_frame;

static void nested(void *arg)
{
    void *here = abti_cpu_sp(); /* ASan may keep variables elsewhere, and a frame may begin at the top */

    nest_arg = arg;
    nest_below = nest_elsewhere ? lies_in(here, 2) : here < outer_frame;
    look_around(0);
    spoil_registers();
    be_strange();
    if (nest_switches) {
        /* Away, and back from another context, before it returns. */
        abti_ctx_switch(&third_ctx, other_ctx);
        if (!is_strange())
            nest_arg = NULL;
    }
}

static int nest(void)
{
    void *here = abti_cpu_sp(); /* ASan may keep variables elsewhere, and a frame may begin at the top */

    outer_frame = here;
    if (nest_elsewhere)
        return abti_ctx_call_on(&main_ctx, &seen, nested, top_of(2));
    return abti_ctx_in_place(&main_ctx, &seen, nested);
}

static void nested_jumps(void *arg)
{
    be_strange();
    abti_ctx_jump(main_ctx);
}

static int nest_and_jump(void)
{
    return abti_ctx_in_place(&main_ctx, NULL, nested_jumps);
}

/* Resumes what was nested on the main stack. */
static void sends_back(void)
{
    for (;;)
        abti_ctx_switch(&other_ctx, third_ctx);
}

static bool flushes(void)
{
    volatile double tiny = DBL_MIN;

    return tiny / 2 == 0;
}

/* The caller has one word or the other as the last one had not. */
static void test_nest_words(const char *how)
{
    static const struct {
        bool flush, full;
    } steps[] = {{false, true}, {true, true}, {false, true}, {false, false}, {false, true}, {true, false}};
    bool kept = true;

    for (int i = 0; i < 24; i++) {
        bool flush = steps[i % 6].flush, full = steps[i % 6].full;
        set_flush(flush);
        set_precision(full);
        nest();
        kept = kept && (!HAS_FLUSH || flushes() == flush) && (!HAS_PRECISION || (third() == 1.0L / 3.0L) == full);
    }
    set_flush(false);
    be_normal();
    ok(kept, "%s: each control word is the caller's again", how);
}

static void test_nest(void)
{
    int most = ABTI_BUILD_FCONTEXT ? 6 : 64; /* written in C, the function is a frame like any other */
    for (int i = 0; i < 3; i++) {
        const char *how = i == 0 ? "nest" : i == 1 ? "nest with switches" : "call on another stack";
        nest_switches = i == 1;
        nest_elsewhere = i == 2;
        other_ctx = abti_ctx_make(top_of(1), sends_back);
        nest_arg = NULL;
        memset(&seen, 0, sizeof(seen));
        ok(keeps_registers(nest), "%s: the registers are kept", how);
        is_ptr(nest_arg, &seen, "%s: the argument comes through, and its control words are kept", how);
        ok(nest_below, "%s: it runs where it should", how);
        ok(seen.aligned, "%s: the stack is aligned", how);
        is_int(seen.mode, FE_TONEAREST, "%s: rounds to nearest", how);
        ok(seen.full, "%s: full x87 precision", how);
        ok(fegetround() == FE_TONEAREST && third() == 1.0L / 3.0L, "%s: the control words are kept", how);
        be_strange();
        is_int(nest(), 0, "%s gives 0", how);
        ok_trace(seen.frames > 0 && seen.frames < most, "%s: the back trace ends there, after %d frames", how,
                 seen.frames);
        ok(is_strange(), "%s: strange control words are kept", how);
        be_normal();
        if (!nest_switches)
            test_nest_words(how);
    }
    nest_elsewhere = false;
    ok(keeps_registers(nest_and_jump), "a nested context that ends by a jump: the registers are kept");
    ok(fegetround() == FE_TONEAREST && third() == 1.0L / 3.0L, "and the control words");
}

/* --- leave, wait --- */

static struct {
    void *room;
    bool right_args, aligned, saved;
    int thens;
    bool calls_below;
    bool begins_normal;
    bool traces;                         /* not from keeps_registers, whose frame no unwinder knows */
    int frames, then_frames, own_frames; /* of back traces in leaves(), then() and the caller */
} left;

static int count_frames(void)
{
    void *frames[64];

    return backtrace(frames, 64);
}

static abti_ctx leaves(void *room, void *a, void *b)
{
    left.room = room;
    left.right_args = a == &left && b == &seen;
    left.aligned = is_aligned() && ((uintptr_t)room & 7) == 0;
    left.saved = main_ctx != NULL;
    if (left.traces)
        left.frames = count_frames();
    memset(room, 0x5a, ABTI_CTX_ROOM);
    spoil_registers();
    return other_ctx;
}

static bool is_room_kept(const unsigned char *room)
{
    for (int i = 0; i < ABTI_CTX_ROOM; i++) {
        if (room[i] != 0x5a)
            return false;
    }
    return true;
}

static void scribble(void *arg)
{
    volatile char bytes[512];

    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = 0x33;
}

/* Another context, which looks at the room while its owner is away, and may use the free rest of the owner's stack. */
static void visitor(void)
{
    left.begins_normal = !is_strange();
    for (;;) {
        void *top = (void *)(((uintptr_t)main_ctx - ABTI_CTX_BELOW) & ~(uintptr_t)15);
        if (left.calls_below)
            abti_ctx_call_on(&third_ctx, NULL, scribble, top);
        if (!is_room_kept(left.room))
            left.room = NULL;
        spoil_registers();
        be_strange();
        abti_ctx_switch(&other_ctx, main_ctx);
        be_normal();
    }
}

static int then(void *room)
{
    left.aligned = left.aligned && is_aligned();
    left.thens += room == left.room && is_room_kept(room);
    if (left.traces)
        left.then_frames = count_frames();
    spoil_registers();
    return 17;
}

/* Does not return, but begins the visitor at once. */
static abti_ctx leaves_to_begin(void *room, void *a, void *b)
{
    (void)leaves(room, a, b);
    abti_ctx_restart(top_of(1), visitor, NULL, NULL);
}

static int leave(void)
{
    return abti_ctx_leave(&main_ctx, &left, &seen, leaves);
}

static int wait_result;

static int wait(void)
{
    wait_result = abti_ctx_wait(&main_ctx, &left, &seen, leaves, then);
    return 0;
}

static int wait_and_begin(void)
{
    if (left.traces)
        left.own_frames = count_frames();
    wait_result = abti_ctx_wait(&main_ctx, &left, &seen, leaves_to_begin, then);
    return 0;
}

static void test_leave(void)
{
    int (*const ways[])(void) = {leave, wait, wait_and_begin};
    static const char *const names[] = {"leave", "wait", "wait, and begin"};
    for (int i = 0; i < 3; i++) {
        const char *how = names[i];
        other_ctx = abti_ctx_make(top_of(1), visitor);
        memset(&left, 0, sizeof(left));
        left.calls_below = ways[i] != leave; /* the room of leave may lie below the context */
        main_ctx = NULL;
        ok(keeps_registers(ways[i]), "%s: the registers are kept", how);
        ok(fegetround() == FE_TONEAREST && third() == 1.0L / 3.0L, "%s: the control words are kept", how);
        ok(left.right_args && left.saved, "%s: the arguments come through, the context is saved", how);
        ok(left.aligned, "%s: the stack is aligned", how);
        ok(left.room != NULL, "%s: the room stays", how);
        be_strange();
        left.traces = true;
        ways[i]();
        left.traces = false;
        ok(is_strange(), "%s: strange control words are kept", how);
        be_normal();
    }
    ok(left.begins_normal, "what begins meanwhile has the usual control words");
    is_int(wait_result, 17, "wait gives what then() gives");
    is_int(left.thens, 2, "which finds the room as it was left");
    ok_trace(left.frames > 2, "a back trace leads on from leaves()");
    ok_trace(left.then_frames == left.own_frames + 2, "and from then(), by abti_ctx_wait to the caller: %d frames, %d",
             left.then_frames, left.own_frames);
    is_int(leave(), 0, "leave gives 0");
}

/* --- A context that after() publishes is resumed by another thread at once --- */

enum { PASSES = 100000 };

static _Atomic(abti_ctx) published;
static abti_ctx travelling, homes[2];
static atomic_int passes;
static __thread int me;

static void publish(void *arg)
{
    /* release: pairs with the acquire of the thread that takes it */
    abti_store_release(&published, *(abti_ctx *)arg);
}

static __attribute__((noinline)) abti_ctx *home_now(void)
{
    return &homes[me];
}

static void traveller(void)
{
    double sum = 0;
    long expected = 0;

    for (int i = 0; i < PASSES; i++) {
        sum += i;
        expected += i;
        abti_ctx_switch_after(&travelling, *home_now(), publish, &travelling);
    }
    if (sum == (double)expected)
        atomic_store(&passes, 1);
    else
        atomic_store(&passes, 2);
    abti_ctx_jump(*home_now());
}

static void *travel_agent(void *number)
{
    me = (int)(intptr_t)number;
    while (!atomic_load(&passes)) {
        abti_ctx traveller_ctx = atomic_exchange(&published, NULL);
        if (traveller_ctx)
            abti_ctx_switch(home_now(), traveller_ctx);
    }
    return NULL;
}

static void test_publish(void)
{
    pthread_t other;

    atomic_store(&published, abti_ctx_make(top_of(2), traveller));
    pthread_create(&other, NULL, travel_agent, (void *)(intptr_t)1);
    travel_agent((void *)(intptr_t)0);
    pthread_join(other, NULL);
    is_int(atomic_load(&passes), 1, "a context travels between two threads %d times", PASSES);
}

int main(void)
{
    void *frames[4];

    backtrace(frames, 4); /* loads what it needs now, not on a small stack */
    abti_cpu_init();
    for (int mode = 0; mode < NUM_FPU_MODES; mode++) {
        set_fpu_mode(mode);
        test_switch();
        test_made();
        test_after();
        test_ends();
        test_nest();
        test_leave();
        test_signals();
    }
    if (UNDER_TSAN)
        skip(1, "TSan knows nothing of bare contexts");
    else
        test_publish();
    return done_testing();
}
