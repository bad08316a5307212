/* ults.c over MassiveThreads. */
#ifndef ABT_TEST_BENCH_ULTS_MASSIVETHREADS_H
#define ABT_TEST_BENCH_ULTS_MASSIVETHREADS_H

#include <myth/myth.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    void (*func)(void *);
    void *arg;
    myth_thread_t thread;
} ult_t;

static inline void ult_init(int streams)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", streams);
    setenv("MYTH_NUM_WORKERS", text, 1);
    myth_init();
}

static inline void ult_fini(void)
{
    myth_fini();
}

static void *ult_start(void *arg)
{
    ult_t *ult = arg;
    ult->func(ult->arg);
    return NULL;
}

static inline void ult_create(ult_t *ult, void (*func)(void *), void *arg)
{
    ult->func = func;
    ult->arg = arg;
    ult->thread = myth_create(ult_start, ult);
}

static inline void ult_join(ult_t *ult)
{
    myth_join(ult->thread, NULL);
}

static inline void ult_yield(void)
{
    myth_yield();
}

#endif
