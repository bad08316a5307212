/* SPDX-License-Identifier: BSD-3-Clause */
/* The program is its own tool: what it is told of what it does. Then the example of a tool profiles it. */
#include "ompt.h"

#include <dlfcn.h>
#include <libgen.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "child.h"
#include "tap.h"
#include "watchdog.h"

enum { MEMBERS = 3, TASKS = 20, EVENTS = 100, NUM_EVENTS = 38, ITERATIONS = 30 };

static bool looks = true; /* the program wants to be a tool */
static ompt_function_lookup_t find;

/* How often each event came, with the end of what it is of; wrong ones; and what came by kinds. */
static atomic_int begun[NUM_EVENTS], ended[NUM_EVENTS], by_status[10], by_mutex[10], by_work[10], by_sync[10];
static atomic_int num_elsewhere, num_finished, num_tasks_wrong, edges;
static _Thread_local int inside;

static void count(int event, int endpoint, const void *at)
{
    static Dl_info own;
    Dl_info info;
    (void)dladdr(__extension__(void *) count, &own);
    if (at && (!dladdr(at, &info) || info.dli_fbase != own.dli_fbase))
        num_elsewhere++;
    if (endpoint == ompt_scope_end)
        ended[event]++;
    else
        begun[event]++;
}

static void on_thread_begin(int kind, ompt_data_t *thread)
{
    thread->value = 77;
    count(ompt_callback_thread_begin, 1, NULL);
}

static void on_thread_end(ompt_data_t *thread)
{
    num_tasks_wrong += thread->value != 77;
    count(ompt_callback_thread_begin, ompt_scope_end, NULL);
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned num,
                              int flags, const void *at)
{
    (void)task, (void)flags;
    num_tasks_wrong += num != MEMBERS || frame->enter_frame.ptr == NULL;
    region->value = 5;
    count(ompt_callback_parallel_begin, 1, at);
}

static void on_parallel_end(ompt_data_t *region, ompt_data_t *task, int flags, const void *at)
{
    (void)task, (void)flags;
    num_tasks_wrong += region->value != 5;
    count(ompt_callback_parallel_begin, ompt_scope_end, at);
}

static void on_implicit_task(int endpoint, ompt_data_t *region, ompt_data_t *task, unsigned num, unsigned index,
                             int flags)
{
    (void)region, (void)index;
    if (flags & ompt_task_initial)
        return;
    num_tasks_wrong += num != MEMBERS || (endpoint == ompt_scope_end && task->value != 1);
    task->value = 1;
    count(ompt_callback_implicit_task, endpoint, NULL);
}

static void on_sync(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *at)
{
    by_sync[kind]++;
    num_tasks_wrong += task == NULL;
    count(ompt_callback_sync_region, endpoint, at);
}

static void on_wait(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *at)
{
    (void)region, (void)task, (void)kind;
    count(ompt_callback_sync_region_wait, endpoint, at);
}

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *created, int flags, int depends,
                           const void *at)
{
    (void)task, (void)frame;
    created->value = depends ? 3 : 2;
    if (flags & ompt_task_explicit)
        count(ompt_callback_task_create, 1, at);
}

static void on_task_schedule(ompt_data_t *prior, int status, ompt_data_t *next)
{
    by_status[status]++;
    bool is_of_event = status == ompt_task_early_fulfill || status == ompt_task_late_fulfill;
    num_tasks_wrong += (status == ompt_task_complete || is_of_event) && prior->value != 2 && prior->value != 3;
}

static void on_dependences(ompt_data_t *task, const ompt_dependence_t *list, int num)
{
    num_tasks_wrong += task->value != 3 || num != 1 || list[0].variable.ptr == NULL ||
                       list[0].dependence_type != ompt_dependence_type_inout;
    count(ompt_callback_dependences, 1, NULL);
}

static void on_task_dependence(ompt_data_t *before, ompt_data_t *after)
{
    num_tasks_wrong += before->value != 3 || after->value != 3;
    edges++;
}

static void on_work(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, uint64_t num, const void *at)
{
    (void)region, (void)task, (void)num;
    by_work[kind]++;
    count(ompt_callback_work, endpoint, at);
}

static void on_dispatch(ompt_data_t *region, ompt_data_t *task, int kind, ompt_data_t instance)
{
    (void)region, (void)task;
    if (kind == ompt_dispatch_ws_loop_chunk)
        begun[ompt_callback_dispatch] += (int)((ompt_dispatch_chunk_t *)instance.ptr)->iterations;
}

static void on_acquire(int kind, unsigned hint, unsigned impl, uint64_t wait_id, const void *at)
{
    (void)hint, (void)impl, (void)kind;
    num_tasks_wrong += wait_id == 0;
    count(ompt_callback_mutex_acquire, 1, at);
}

static void on_acquired(int kind, uint64_t wait_id, const void *at)
{
    by_mutex[kind]++;
    inside++;
    count(ompt_callback_mutex_acquired, 1, at);
}

static void on_released(int kind, uint64_t wait_id, const void *at)
{
    (void)wait_id, (void)kind;
    num_tasks_wrong += --inside < 0;
    count(ompt_callback_mutex_acquired, ompt_scope_end, at);
}

static void on_nest_lock(int endpoint, uint64_t wait_id, const void *at)
{
    count(ompt_callback_nest_lock, endpoint, at);
}

static void on_finish(ompt_data_t *tool)
{
    num_tasks_wrong += tool->value != 9;
    num_finished++;
}

static int start(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
{
    find = lookup;
    tool->value = 9;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
#define SET(name, function) num_tasks_wrong += set(ompt_callback_##name, (ompt_callback_t)(function)) != ompt_set_always
    SET(thread_begin, on_thread_begin);
    SET(thread_end, on_thread_end);
    SET(parallel_begin, on_parallel_begin);
    SET(parallel_end, on_parallel_end);
    SET(implicit_task, on_implicit_task);
    SET(sync_region, on_sync);
    SET(sync_region_wait, on_wait);
    SET(task_create, on_task_create);
    SET(task_schedule, on_task_schedule);
    SET(dependences, on_dependences);
    SET(task_dependence, on_task_dependence);
    SET(work, on_work);
    SET(dispatch, on_dispatch);
    SET(mutex_acquire, on_acquire);
    SET(mutex_acquired, on_acquired);
    SET(mutex_released, on_released);
    SET(nest_lock, on_nest_lock);
    is_int(set(8, NULL), ompt_set_never, "an event of devices never comes");
    is_int(set(99, NULL), ompt_set_error, "there is no event of that number");
    return 1;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *library)
{
    static ompt_start_tool_result_t result = {start, on_finish, {0}};
    (void)version, (void)library;
    return looks ? &result : NULL;
}

/* -- What the tool sees -- */

static void test_regions(void)
{
    int wrong = 0;
#pragma omp parallel num_threads(MEMBERS) reduction(+ : wrong)
    {
        ompt_get_thread_data_t get_thread_data = (ompt_get_thread_data_t)find("ompt_get_thread_data");
        ompt_get_task_info_t get_task_info = (ompt_get_task_info_t)find("ompt_get_task_info");
        ompt_get_parallel_info_t get_parallel_info = (ompt_get_parallel_info_t)find("ompt_get_parallel_info");
        ompt_data_t *task, *region;
        ompt_frame_t *frame;
        int flags, num;
        wrong += get_thread_data()->value != 77;
        wrong += get_task_info(0, &flags, &task, &frame, &region, &num) != 2 || num != omp_get_thread_num();
        wrong += flags != ompt_task_implicit || task->value != 1 || region->value != 5 || !frame->exit_frame.ptr;
        wrong += get_task_info(1, &flags, NULL, NULL, NULL, NULL) != 2 || flags != ompt_task_initial;
        wrong += get_task_info(2, &flags, NULL, NULL, NULL, NULL) != 0;
        wrong += get_parallel_info(0, &region, &num) != 2 || num != MEMBERS;
        wrong += get_parallel_info(1, &region, &num) != 2 || num != 1;
        wrong += get_parallel_info(2, &region, &num) != 0;
    }
    is_int(wrong, 0, "members learn of themselves, their region and what is around");
    is_int(begun[ompt_callback_parallel_begin], 1, "a region begins");
    is_int(ended[ompt_callback_parallel_begin], 1, "and ends");
    is_int(begun[ompt_callback_implicit_task], MEMBERS, "its members begin");
    is_int(ended[ompt_callback_implicit_task], MEMBERS, "and have ended");
    is_int(begun[ompt_callback_thread_begin], MEMBERS, "each has a thread");
    is_int(by_sync[ompt_sync_region_barrier_implicit_parallel], 2 * MEMBERS, "they meet at its end");
}

static void test_tasks(void)
{
    int x = 0, sum = 0;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
    {
        for (int i = 0; i < TASKS; i++) {
#pragma omp task depend(inout : x)
            x++;
        }
#pragma omp taskwait
#pragma omp taskgroup
#pragma omp task if (0)
        x++;
#pragma omp taskloop num_tasks(5) shared(sum)
        for (int i = 0; i < ITERATIONS; i++) {
#pragma omp atomic
            sum++;
        }
    }
    is_int(x, TASKS + 1, "tasks run");
    is_int(sum, ITERATIONS, "and those of loops");
    is_int(begun[ompt_callback_task_create], TASKS + 1 + 5, "each is told, and each part of a loop");
    is_int(by_status[ompt_task_switch], TASKS + 1 + 5, "each begins");
    is_int(by_status[ompt_task_complete], TASKS + 1 + 5, "and ends");
    is_int(begun[ompt_callback_dependences], TASKS, "their dependences are told");
    ok(edges < TASKS, "and at most those pairs that wait: %d", edges);
    is_int(by_sync[ompt_sync_region_taskwait], 2, "a taskwait");
    is_int(by_sync[ompt_sync_region_taskgroup], 4, "a task group, and that of the loop");
    is_int(by_work[ompt_work_taskloop], 2, "the loop itself");
    is_int(by_work[ompt_work_single_executor], 2, "a single construct, by one");
    is_int(by_work[ompt_work_single_other], 2 * (MEMBERS - 1), "and the others");
}

/* The event comes from another member, before the body ends or after. Then the task's memory is freed at once. */
static void test_events(void)
{
    _Atomic(omp_event_handle_t) handle = 0;
#pragma omp parallel num_threads(MEMBERS)
    for (int i = 0; i < EVENTS && omp_get_thread_num() < 2; i++) {
        if (omp_get_thread_num() == 0) {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(handle)
            {
                handle = event;
                while (handle && i % 2)
                    sched_yield();
            }
#pragma omp taskwait
        } else {
            while (!handle)
                sched_yield();
            omp_fulfill_event(atomic_exchange(&handle, 0));
        }
    }
    int early = by_status[ompt_task_early_fulfill], late = by_status[ompt_task_late_fulfill];
    is_int(early + late, EVENTS, "each event is told, %d before the task's end", early);
    is_int(by_status[ompt_task_switch], TASKS + 1 + 5 + EVENTS, "tasks with events begin as others do");
}

static void test_work(void)
{
    int inner = begun[ompt_callback_dispatch];
#pragma omp parallel num_threads(MEMBERS)
    {
#pragma omp for schedule(dynamic, 4)
        for (int i = 0; i < ITERATIONS; i++)
            continue;
#pragma omp sections
        {
#pragma omp section
            (void)inner;
#pragma omp section
            (void)inner;
        }
    }
    is_int(begun[ompt_callback_dispatch] - inner, ITERATIONS, "all iterations are told");
    is_int(by_work[ompt_work_loop], 2 * MEMBERS, "each member begins and ends a loop");
    is_int(by_work[ompt_work_sections], 2 * MEMBERS, "and sections");
    is_int(begun[ompt_callback_work], ended[ompt_callback_work], "what begins ends");
}

static void test_mutexes(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(MEMBERS)
    {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
#pragma omp critical
        (void)lock;
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        if (omp_test_lock(&lock))
            omp_unset_lock(&lock);
    }
    is_int(by_mutex[ompt_mutex_lock], MEMBERS, "a lock is taken by each");
    is_int(by_mutex[ompt_mutex_critical], MEMBERS, "a critical construct");
    is_int(by_mutex[ompt_mutex_nest_lock], MEMBERS, "a nestable lock");
    is_int(begun[ompt_callback_nest_lock], MEMBERS, "which is taken once more");
    is_int(ended[ompt_callback_nest_lock], MEMBERS, "and left once more");
    is_int(ended[ompt_callback_mutex_acquired], begun[ompt_callback_mutex_acquired], "what is taken is left");
    ok(begun[ompt_callback_mutex_acquire] >= begun[ompt_callback_mutex_acquired], "and was asked for before");
}

/* The function of a region of clang. Its caller is the frame by which the library has left itself. */
#pragma GCC diagnostic ignored "-Wframe-address"
static void see_frames(const int *num, const int *same, atomic_int *wrong, void *program)
{
    ompt_get_task_info_t get_task_info = (ompt_get_task_info_t)find("ompt_get_task_info");
    ompt_frame_t *own = NULL, *around = NULL;
    int flags, index = -1;
    (void)get_task_info(0, &flags, NULL, &own, NULL, &index);
    *wrong += index != *num || *num != *same || own->exit_frame.ptr != __builtin_frame_address(1);
    *wrong += own->enter_frame.ptr != NULL || own->exit_frame_flags != ompt_frame_framepointer;
    (void)get_task_info(1, &flags, NULL, &around, NULL, NULL);
    *wrong += around->exit_frame.ptr != NULL || around->enter_frame.ptr >= program;
}

/* gcc's programs call no such functions. */
static void test_frames_of_clang(void)
{
    void (*fork_call)(void *, int, void (*)(const int *, const int *, atomic_int *, void *), ...);
    atomic_int wrong = 0;
    *(void **)&fork_call = dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
    omp_set_num_threads(MEMBERS);
    fork_call(NULL, 2, see_frames, &wrong, __builtin_frame_address(0));
    is_int(wrong, 0, "a region of clang is between the frames that are told");
}

static void test_waits(void)
{
#pragma omp parallel num_threads(MEMBERS)
    {
#pragma omp barrier
    } is_int(begun[ompt_callback_sync_region_wait], ended[ompt_callback_sync_region_wait], "waits end");
    is_int(begun[ompt_callback_sync_region], ended[ompt_callback_sync_region], "and what they are of");
    is_int(num_elsewhere, 0, "what the program calls is told to be called in the program");
    is_int(num_tasks_wrong, 0, "what the tool keeps is there again");
}

static void test_end(void)
{
    ompt_interface_fn_t finish = find("ompt_finalize_tool");
    ok(find("ompt_no_such_function") == NULL, "there is no function of another name");
    finish();
    is_int(num_finished, 1, "the tool ends when it wants to");
    is_int(ended[ompt_callback_thread_begin], begun[ompt_callback_thread_begin], "threads have ended by then");
    test_waits();
    is_int(num_finished, 1, "and the program goes on without");
}

/* -- The example -- */

static int fib(int n)
{
    int x, y;
    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = fib(n - 1);
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

__attribute__((noinline)) int work_in_child(void);
__attribute__((noinline)) int work_in_child(void)
{
    int result = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    result = fib(10);
    return result == 55 ? 0 : 1;
}

static const char *own_name;

static int run_with_tool(void *tool)
{
    setenv("OMP_TOOL_LIBRARIES", tool, 1);
    execl(own_name, own_name, "work", (char *)NULL);
    return 9;
}

/* What the profile of a process says that does nothing else. */
static void profile(char *tool, const char *is_allowed, char *text, size_t size)
{
    setenv("OMP_TOOL", is_allowed, 1);
    is_int(child_run(run_with_tool, tool, text, size), 0, "the program ends as ever");
    unsetenv("OMP_TOOL");
}

/* How often the profile has seen lines of that kind. */
static long sum_up(const char *text, const char *kind)
{
    long sum = 0;
    for (const char *line = text; (line = strstr(line, kind)) != NULL; line += strlen(kind))
        if (line == text || line[-1] == '\n')
            sum += strtol(line + strlen(kind), NULL, 10);
    return sum;
}

static void test_profile(void)
{
    static char text[65536], copy[4096], tool[8192];
    snprintf(copy, sizeof(copy), "%s", own_name);
    snprintf(tool, sizeof(tool), "/none.so:%s/../examples/profile.so", dirname(copy));
    profile(tool, "enabled", text, sizeof(text));
    ok(sum_up(text, "region ") == 1 && strstr(text, "work_in_child"), "the profile has the region by its function");
    is_int(sum_up(text, "task "), 88, "all tasks");
    is_int(sum_up(text, "taskwait "), 88, "as many waits for them");
    is_int(sum_up(text, "barrier "), 2, "and the barrier at the end of the region, by both members");
    profile(tool, "disabled", text, sizeof(text));
    ok(!strstr(text, "profile"), "there is none with OMP_TOOL=disabled");
}

int main(int argc, char **argv)
{
    looks = argc == 1;
    if (argc > 1)
        return work_in_child();
    watchdog_begin(0);
    own_name = argv[0];
    test_profile();
    test_regions();
    test_tasks();
    test_events();
    test_work();
    test_mutexes();
    test_frames_of_clang();
    test_waits();
    test_end();
    return done_testing();
}
