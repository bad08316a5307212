/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who am I, and where do I run? A function that may be called from anywhere asks so: below a ULT, a tasklet, the
 * primary ULT (main), or a thread that is not of the library.
 *
 *   cc self.c $(pkg-config --cflags --libs argobots) -lpthread -o self
 */
#include <abt.h>
#include <pthread.h>
#include <stdio.h>

static ABT_unit_type seen[4];
static int wrong;

static void tells(void *arg)
{
    static const char *const names[] = {"ULT", "tasklet", "stream", "native thread"};
    ABT_unit_type type;
    ABT_thread me;
    ABT_task also_me;
    ABT_unit_id id, task_id;
    ABT_bool is_primary, on_primary, is_unnamed;
    int pool = -1;

    ABT_self_get_type(&type); /* a code tells the same of native threads, and the type is stored nevertheless */
    seen[*(int *)arg] = type;
    if (type == ABT_UNIT_TYPE_EXT) {
        printf("a %s\n", names[type]);
        return;
    }
    ABT_self_get_thread(&me);
    ABT_self_get_task(&also_me); /* other names of the same */
    ABT_self_get_thread_id(&id);
    ABT_self_get_task_id(&task_id);
    ABT_self_is_primary(&is_primary);
    ABT_self_on_primary_xstream(&on_primary);
    ABT_self_is_unnamed(&is_unnamed);
    ABT_self_get_last_pool_id(&pool);
    wrong += me != also_me || id != task_id || pool < 0;
    printf("a %s, %s, number %d, of pool %d, on %s stream, to be freed by %s\n", names[type],
           is_primary ? "the primary one" : "not the primary one", (int)id, pool,
           on_primary ? "the primary" : "another", is_unnamed ? "itself" : "others");
}

/* What the maker has said can be asked for, and changed for whoever asks next. */
static void looks_at_itself(void *arg)
{
    void (*function)(void *);
    void *argument, *changed;
    ABT_unit unit;
    ABT_self_get_thread_func(&function);
    ABT_self_get_arg(&argument);
    ABT_self_set_arg(&wrong);
    ABT_self_get_arg(&changed);
    ABT_self_get_unit(&unit); /* what its pool knows it by */
    wrong += function != looks_at_itself || argument != arg || changed != &wrong || unit == ABT_UNIT_NULL;
}

static void *native(void *arg)
{
    tells(arg);
    return NULL;
}

int main(int argc, char **argv)
{
    int ids[4] = {0, 1, 2, 3};
    ABT_pool pool;
    ABT_xstream stream;
    ABT_thread unit;
    ABT_task tasklet;
    pthread_t thread;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_self_get_last_pool(&pool);
    tells(&ids[0]);
    ABT_thread_create_on_xstream(stream, tells, &ids[1], ABT_THREAD_ATTR_NULL, &unit);
    ABT_thread_free(&unit);
    ABT_task_create(pool, tells, &ids[2], &tasklet);
    ABT_task_free(&tasklet);
    if (pthread_create(&thread, NULL, native, &ids[3]) == 0)
        pthread_join(thread, NULL);
    ABT_thread_create(pool, looks_at_itself, ids, ABT_THREAD_ATTR_NULL, &unit);
    ABT_thread_free(&unit);
    ABT_xstream_free(&stream);
    ABT_finalize();
    return wrong || seen[0] != ABT_UNIT_TYPE_THREAD || seen[1] != ABT_UNIT_TYPE_THREAD ||
           seen[2] != ABT_UNIT_TYPE_TASK || seen[3] != ABT_UNIT_TYPE_EXT;
}
