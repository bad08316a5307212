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

#endif
