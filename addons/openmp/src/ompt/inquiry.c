/* SPDX-License-Identifier: BSD-3-Clause */
/* What a tool may ask, from its functions or from a signal handler: nothing waits or allocates here. */
#include "ompt/tool.h"

#include <sched.h>
#include <string.h>

/* -- Names of numbers -- */

struct named {
    const char *name;
    int number;
};

/* The entry behind that of `now`. */
static int enumerate_list(const struct named *list, int num, int now, int *next, const char **name)
{
    for (int i = 0; i + 1 < num; i++)
        if (list[i].number == now) {
            *next = list[i + 1].number;
            *name = list[i + 1].name;
            return 1;
        }
    return 0;
}

static int enumerate_states(int now, int *next, const char **name)
{
#define STATE(name, number) {"ompt_state_" #name, number},
    static const struct named states[] = {OMPT_STATES(STATE)};
#undef STATE
    return enumerate_list(states, sizeof(states) / sizeof(states[0]), now, next, name);
}

static int enumerate_mutex_impls(int now, int *next, const char **name)
{
    static const struct named kinds[] = {{"none", 0}, {"abtomp_mutex", 1}};
    return enumerate_list(kinds, sizeof(kinds) / sizeof(kinds[0]), now, next, name);
}

/* -- Threads, regions and tasks -- */

static struct abtomp_view *view_now(void)
{
    return abtomp_current && abtomp_tool_thread.is_there ? abtomp_current->view : NULL;
}

static ompt_data_t *get_thread_data(void)
{
    return abtomp_tool_thread.is_there ? &abtomp_tool_thread.data : NULL;
}

static int get_state(uint64_t *wait_id)
{
    const struct abtomp_tool_thread *thread = &abtomp_tool_thread;
    if (!thread->is_there)
        return ompt_state_undefined;
    if (wait_id)
        *wait_id = thread->wait_id;
    if (thread->state != 0)
        return thread->state;
    return abtomp_current->view ? abtomp_current->team->level > 0 ? ompt_state_work_parallel : ompt_state_work_serial
                                : ompt_state_idle;
}

static int get_parallel_info(int ancestor, ompt_data_t **data, int *members)
{
    struct abtomp_view *view = view_now();
    for (; view && ancestor > 0; ancestor--)
        view = view->region->parent;
    if (!view || ancestor < 0)
        return 0;
    if (data)
        *data = &view->region->data;
    if (members)
        *members = view->members;
    return 2;
}

static int get_task_info(int ancestor, int *flags, ompt_data_t **data, ompt_frame_t **frame, ompt_data_t **parallel,
                         int *num)
{
    struct abtomp_view *view = view_now();
    for (; view && ancestor > 0; ancestor--)
        view = view->parent;
    if (!view || ancestor < 0)
        return 0;
    if (flags)
        *flags = view->flags;
    if (data)
        *data = &view->data;
    if (frame)
        *frame = &view->frame;
    if (parallel)
        *parallel = &view->region->data;
    if (num)
        *num = view->num;
    return 2;
}

/* Where a task has its memory is not told. */
static int get_task_memory(void **address, size_t *size, int block)
{
    (void)block;
    *address = NULL;
    *size = 0;
    return 0;
}

static uint64_t get_unique_id(void)
{
    static _Atomic(uint64_t) last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1; /* relaxed: it is a count */
}

/* -- Devices: there are none but the host -- */

static int get_num_devices(void)
{
    return 1;
}

static int get_target_info(uint64_t *device, uint64_t *target, uint64_t *operation)
{
    (void)device, (void)target, (void)operation;
    return 0;
}

/* -- Places -- */

static int get_proc_id(void)
{
    return abtomp_tool_thread.is_there ? sched_getcpu() : -1;
}

static int get_num_procs(void)
{
    return abtomp_env.num_procs;
}

static int get_num_places(void)
{
    return abtomp_place_list.num;
}

static int get_place_num(void)
{
    return abtomp_current && abtomp_tool_thread.is_there ? abtomp_current->place - 1 : -1;
}

/* Both write nothing if there is less room, and return how many there are. */
static int get_place_proc_ids(int place, int room, int *ids)
{
    if (place < 0 || place >= abtomp_place_list.num)
        return 0;
    int num = abtomp_cpus_count(&abtomp_place_list.sets[place]);
    for (int i = 0; num <= room && i < num; i++)
        ids[i] = abtomp_place_processor(place, i);
    return num;
}

static int get_partition_place_nums(int room, int *places)
{
    const struct abtomp_member *me = abtomp_current;
    int all = abtomp_place_list.num, num = !me || !abtomp_tool_thread.is_there ? 0
                                           : me->partition.num > 0             ? me->partition.num
                                                                               : all;
    for (int i = 0; num <= room && i < num; i++)
        places[i] = (me->partition.first + i) % all;
    return num;
}

ompt_interface_fn_t abtomp_tool_inquiry(const char *name)
{
#define FUNCTION(name)                                                                                                 \
    {                                                                                                                  \
        "ompt_" #name, (ompt_interface_fn_t)(name)                                                                     \
    }
    static const struct {
        const char *name;
        ompt_interface_fn_t function;
    } all[] = {FUNCTION(enumerate_states),   FUNCTION(enumerate_mutex_impls),
               FUNCTION(get_thread_data),    FUNCTION(get_state),
               FUNCTION(get_parallel_info),  FUNCTION(get_task_info),
               FUNCTION(get_task_memory),    FUNCTION(get_unique_id),
               FUNCTION(get_num_devices),    FUNCTION(get_target_info),
               FUNCTION(get_proc_id),        FUNCTION(get_num_procs),
               FUNCTION(get_num_places),     FUNCTION(get_place_num),
               FUNCTION(get_place_proc_ids), FUNCTION(get_partition_place_nums)};
#undef FUNCTION
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(name, all[i].name) == 0)
            return all[i].function;
    return NULL;
}
