/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For LeakSanitizer (maint/check-tools): blocks of memory to which only a ULT's stack, its values by keys, or that of
 * main points, when the program ends by exit(). They are no leaks. In the modes "lost" and "lost_by_ended" there is
 * one.
 */
#include <abt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *mode;
static ABT_pool pool;
static ABT_key key;

static int is_mode(const char *name)
{
    return strcmp(mode, name) == 0;
}

static void leave(void)
{
    puts("done");
    exit(0);
}

/* Deep enough that what stood there is written over. */
static __attribute__((noinline)) void clear_stack(void)
{
    volatile char room[4096];

    memset((char *)room, 0, sizeof(room));
}

static __attribute__((noinline)) void lose(void)
{
    void *volatile block = malloc(100);

    block = NULL;
    (void)block;
}

static void suspend(void *arg)
{
    void *volatile block = is_mode("key") ? NULL : malloc(100);

    if (is_mode("key"))
        ABT_key_set(key, malloc(100));
    ABT_self_suspend();
    free(block);
}

static void end_program(void *arg)
{
    leave();
}

static void lose_and_end(void *arg)
{
    lose();
}

static ABT_thread create(ABT_pool to, void (*func)(void *), int own)
{
    ABT_thread_attr attr;
    ABT_thread thread;

    ABT_thread_attr_create(&attr);
    if (own)
        ABT_thread_attr_set_stacksize(attr, own);
    ABT_thread_create(to, func, NULL, attr, &thread);
    ABT_thread_attr_free(&attr);
    return thread;
}

/* Main's pointer is on its stack alone, while a ULT runs. */
static void end_by_ult(ABT_pool to)
{
    void *volatile block = malloc(100);
    ABT_thread thread = create(to, end_program, 0);

    ABT_thread_free(&thread);
    free(block);
}

static void use_secondary(void)
{
    ABT_xstream es;
    ABT_pool others;

    ABT_xstream_create(ABT_SCHED_NULL, &es);
    ABT_xstream_get_main_pools(es, 1, &others);
    end_by_ult(others);
}

static void write_over(void *arg)
{
    clear_stack();
}

static void run_one(void (*func)(void *), int own)
{
    ABT_thread thread = create(pool, func, own);

    ABT_thread_free(&thread);
}

static void run_some(void)
{
    for (int i = 0; i < 99; i++)
        run_one(write_over, i % 3 * 50000);
}

int main(int argc, char **argv)
{
    ABT_xstream es;

    mode = argc > 1 ? argv[1] : "suspended";
    ABT_init(0, NULL);
    ABT_xstream_self(&es);
    ABT_xstream_get_main_pools(es, 1, &pool);
    ABT_key_create(free, &key);
    if (is_mode("suspended") || is_mode("key"))
        create(pool, suspend, 0);
    if (is_mode("own"))
        create(pool, suspend, 100000);
    if (is_mode("large"))
        create(pool, suspend, 20 << 20);
    ABT_self_yield();
    if (is_mode("exit"))
        end_by_ult(pool);
    if (is_mode("secondary"))
        use_secondary();
    if (is_mode("lost"))
        lose();
    if (is_mode("lost_by_ended"))
        run_one(lose_and_end, 0);
    clear_stack();
    if (is_mode("finalized"))
        run_some();
    if (is_mode("finalized") || is_mode("lost")) {
        ABT_key_free(&key);
        ABT_finalize();
    }
    leave();
}
