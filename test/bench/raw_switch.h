/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The yardstick: one raw out-of-line switch between two stacks. Six callee-saved registers, no floating-point control
 * words, leaving by an indirect jump. Nothing that keeps a stack per thread can be faster.
 */
#ifndef ABT_TEST_BENCH_RAW_SWITCH_H
#define ABT_TEST_BENCH_RAW_SWITCH_H

/* Saves the caller's stack pointer in *save and goes on at `to`. */
void raw_switch(void **save, void *to);

/* A stack pointer that raw_switch can go to: entry() starts on the stack that ends at top. */
void *raw_make(void *top, void (*entry)(void));

/* Nanoseconds of one switch, the mean over n back-and-forths. */
double raw_switch_ns(long n);

/*
 * The same with control words, MXCSR and that of the x87, which each side has of its own: the floor of a switch that
 * keeps them. And to start a context, which ends at once by a jump back: the floor of whatever runs a unit on a stack
 * of its own.
 */
void raw_switch_keeping(void **save, void *to);
void raw_start_keeping(void **save, void *top, void (*entry)(void));
void raw_end_keeping(void *to);
double raw_switch_keeping_ns(long n);
double raw_start_keeping_ns(long n);

#endif
