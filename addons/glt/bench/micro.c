/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function of GLT called NUMBER times: micro FUNCTION NUMBER. The difference of two numbers, counted by callgrind,
 * gives the instructions of a call. Compiled for libabt directly (DIRECT), header-only (FASTGLT) and with the shared
 * library.
 */
#ifdef DIRECT
#include "direct.h"
#else
#include <glt.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

static volatile int sink;
static GLT_ult ults[BATCH];
static GLT_tasklet tasklets[BATCH];

static void nothing(void *arg)
{
    (void)arg;
}

/* Units are made in batches, to a thread whose number the compiler does not know. */
static void ult(int number)
{
    int dest = sink;

    for (int done = 0; done < number; done += BATCH) {
        for (int i = 0; i < BATCH; i++)
            glt_ult_create_to(nothing, NULL, &ults[i], dest);
        for (int i = 0; i < BATCH; i++)
            glt_ult_join(&ults[i]);
    }
}

static void tasklet(int number)
{
    int dest = sink;

    for (int done = 0; done < number; done += BATCH) {
        for (int i = 0; i < BATCH; i++)
            glt_tasklet_create_to(nothing, NULL, &tasklets[i], dest);
        for (int i = 0; i < BATCH; i++)
            glt_tasklet_join(&tasklets[i]);
    }
}

static void yield(int number)
{
    for (int i = 0; i < number; i++)
        glt_yield();
}

static void mutex(int number)
{
    GLT_mutex mutex;

    glt_mutex_create(&mutex);
    for (int i = 0; i < number; i++) {
        glt_mutex_lock(mutex);
        glt_mutex_unlock(mutex);
    }
    glt_mutex_free(&mutex);
}

static void thread_num(int number)
{
    for (int i = 0; i < number; i++)
        sink = glt_get_thread_num();
    sink = 0;
}

static void num_threads(int number)
{
    for (int i = 0; i < number; i++) {
        sink = glt_get_num_threads();
        __asm__ volatile("" ::: "memory");
    }
    sink = 0;
}

static void handles(int number)
{
    for (int i = 0; i < number; i++) {
        GLT_ult *room = glt_ult_malloc(4);
        sink = room != NULL;
        free(room);
    }
    sink = 0;
}

static const struct {
    const char *name;
    void (*run)(int number);
} functions[] = {{"ult", ult},
                 {"tasklet", tasklet},
                 {"yield", yield},
                 {"mutex", mutex},
                 {"thread_num", thread_num},
                 {"num_threads", num_threads},
                 {"malloc", handles},
                 {"init", NULL}};

int main(int argc, char **argv)
{
    size_t num = sizeof(functions) / sizeof(functions[0]);

    if (argc != 3)
        return 2;
    glt_init(argc, argv);
    for (size_t i = 0; i < num; i++)
        if (strcmp(argv[1], functions[i].name) == 0 && functions[i].run != NULL)
            functions[i].run(atoi(argv[2]));
    glt_finalize();
    return 0;
}
