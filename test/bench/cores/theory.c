/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works of which theory says what they cost on many cores, for the tests of the simulator (test/tools/cores.c):
 *
 *   theory WORK THREADS REPEATS
 *
 *   alone      each thread adds to a word of its own            no transfers
 *   pingpong   two threads by turns, a word                     two transfers a round
 *   counter    all add to one word                              at most one transfer an addition
 *   ticket     a ticket lock, held by all in turn
 *   barrier    a counter of arrivals and a round that all look at    threads times a constant
 *   sleep      each sleeps for a millisecond, at the same time
 *   wake       all by turns, and who waits sleeps
 *   large      one thread walks over 4 MiB again and again      a fetch a line
 *
 * It prints nanoseconds of one operation, over all threads, by the clock that the program sees.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include "marks.h"

enum { MAX_THREADS = 256, LINE = 128, LARGE = 4 << 20 };

static struct {
    _Alignas(LINE) _Atomic(long) word;
} own[MAX_THREADS], shared, turn, served, arrived, rounds;
static _Alignas(LINE) long guarded;
static long num, repeats;

static void do_alone(long me)
{
    for (long i = 0; i < repeats; i++)
        atomic_fetch_add(&own[me].word, 1);
}

static void do_pingpong(long me)
{
    for (long i = 0; i < repeats; i++) {
        while (atomic_load_explicit(&turn.word, memory_order_acquire) % num != me)
            ;
        atomic_store_explicit(&turn.word, turn.word + 1, memory_order_release);
    }
}

static void do_counter(long me)
{
    for (long i = 0; i < repeats; i++)
        atomic_fetch_add(&shared.word, 1);
}

static void do_ticket(long me)
{
    for (long i = 0; i < repeats; i++) {
        long mine = atomic_fetch_add(&turn.word, 1);
        while (atomic_load_explicit(&served.word, memory_order_acquire) != mine)
            relax();
        guarded++;
        atomic_store_explicit(&served.word, mine + 1, memory_order_release);
    }
}

static void do_barrier(long me)
{
    for (long i = 0; i < repeats; i++) {
        long round = atomic_load(&rounds.word);
        if (atomic_fetch_add(&arrived.word, 1) % num == num - 1)
            atomic_store(&rounds.word, round + 1);
        while (atomic_load_explicit(&rounds.word, memory_order_acquire) == round)
            relax();
    }
}

static void do_sleep(long me)
{
    for (long i = 0; i < repeats; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void do_wake(long me)
{
    _Atomic(int) *word = (_Atomic(int) *)&turn.word;
    for (long i = 0; i < repeats; i++) {
        for (int now; (now = atomic_load(word)) % num != me;)
            syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
        atomic_fetch_add(word, 1);
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    }
}

static void do_large(long me)
{
    static volatile char bytes[LARGE];
    for (long i = 0; me == 0 && i < repeats; i++)
        (void)bytes[i * 64 % LARGE];
}

static const struct {
    const char *name;
    void (*work)(long me);
} works[] = {{"alone", do_alone},     {"pingpong", do_pingpong}, {"counter", do_counter}, {"ticket", do_ticket},
             {"barrier", do_barrier}, {"sleep", do_sleep},       {"wake", do_wake},       {"large", do_large}};
static size_t chosen;

static void *run(void *arg)
{
    long me = (long)arg;
    meet(num);
    if (me == 0)
        begin();
    meet(num);
    works[chosen].work(me);
    meet(num);
    if (me == 0)
        end(works[chosen].name, num, (double)repeats * (double)num);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    while (chosen < sizeof(works) / sizeof(works[0]) && argc == 4 && strcmp(works[chosen].name, argv[1]) != 0)
        chosen++;
    if (argc != 4 || chosen == sizeof(works) / sizeof(works[0]))
        return 2;
    num = atol(argv[2]);
    repeats = atol(argv[3]);
    for (long i = 1; i < num; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    run(NULL);
    for (long i = 1; i < num; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
