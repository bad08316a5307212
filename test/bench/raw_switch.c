/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw_switch.h"

#include <stdint.h>
#include <time.h>

#define SAVE                                                                                                           \
    "    pushq %rbp\n"                                                                                                 \
    "    pushq %rbx\n"                                                                                                 \
    "    pushq %r15\n"                                                                                                 \
    "    pushq %r14\n"                                                                                                 \
    "    pushq %r13\n"                                                                                                 \
    "    pushq %r12\n"                                                                                                 \
    "    movq %rsp, (%rdi)\n"
#define RESUME                                                                                                         \
    "    popq %r12\n"                                                                                                  \
    "    popq %r13\n"                                                                                                  \
    "    popq %r14\n"                                                                                                  \
    "    popq %r15\n"                                                                                                  \
    "    popq %rbx\n"                                                                                                  \
    "    popq %rbp\n"                                                                                                  \
    "    popq %rcx\n"                                                                                                  \
    "    jmp *%rcx\n"
#define FUNCTION(name, code)                                                                                           \
    __asm__(".text\n"                                                                                                  \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n"                                                                             \
            ".p2align 4\n" #name ":\n" code ".size " #name ", .-" #name "\n")

FUNCTION(raw_switch, SAVE "    movq %rsi, %rsp\n" RESUME);

/* The control words stand below the frame, and those of the other context are always loaded. */
#define STORE_WORDS                                                                                                    \
    "    stmxcsr -8(%rsp)\n"                                                                                           \
    "    fnstcw -4(%rsp)\n"
FUNCTION(raw_switch_keeping, SAVE STORE_WORDS "    ldmxcsr -8(%rsi)\n"
                                              "    fldcw -4(%rsi)\n"
                                              "    movq %rsi, %rsp\n" RESUME);
FUNCTION(raw_start_keeping, SAVE STORE_WORDS "    ldmxcsr usual_words(%rip)\n"
                                             "    fldcw 4+usual_words(%rip)\n"
                                             "    movq %rsi, %rsp\n"
                                             "    xorl %ebp, %ebp\n"
                                             "    call *%rdx\n"
                                             "    ud2\n"
                                             "usual_words: .long 0x1f80, 0x37f\n");
FUNCTION(raw_end_keeping, "    ldmxcsr -8(%rdi)\n"
                          "    fldcw -4(%rdi)\n"
                          "    movq %rdi, %rsp\n" RESUME);

void *raw_make(void *top, void (*entry)(void))
{
    uint64_t *sp = top;
    *--sp = 0; /* the entry function finds the stack as a call would leave it */
    *--sp = (uint64_t)(uintptr_t)entry;
    for (int i = 0; i < 6; i++)
        *--sp = 0;
    sp[-1] = 0x037f00001f80; /* the usual control words */
    return sp;
}

static char stack[16384] __attribute__((aligned(64)));
static void *here, *there;

/* A function for each of them, to be called directly. */
#define BOUNCE(bounce, go)                                                                                             \
    static void bounce(void)                                                                                           \
    {                                                                                                                  \
        for (;;)                                                                                                       \
            go(&there, here);                                                                                          \
    }
BOUNCE(bounce, raw_switch)
BOUNCE(bounce_keeping, raw_switch_keeping)

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline __attribute__((always_inline)) double bounces_ns(long n, void (*go)(void **, void *), void (*entry)(void))
{
    there = raw_make(stack + sizeof(stack), entry);
    double begin = now_ns();
    for (long i = 0; i < n; i++)
        go(&here, there);
    return (now_ns() - begin) / (double)n / 2;
}

double raw_switch_ns(long n)
{
    return bounces_ns(n, raw_switch, bounce);
}

double raw_switch_keeping_ns(long n)
{
    return bounces_ns(n, raw_switch_keeping, bounce_keeping);
}

static void end(void)
{
    raw_end_keeping(here);
}

double raw_start_keeping_ns(long n)
{
    double begin = now_ns();
    for (long i = 0; i < n; i++)
        raw_start_keeping(&here, stack + sizeof(stack), end);
    return (now_ns() - begin) / (double)n;
}
