/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/native.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arch/cpu.h"
#include "base/round.h"
#include "os/annotate.h"
#include "os/vm.h"
#include "rt/rt.h"

/*
 * The first thread's stack grows, as far as its limit allows, and as long as it keeps this distance from what is mapped
 * below it. When the program was started, the system left as much room as the limit was then. Only the limit
 * of now is known, and so no more is counted on than what is usual.
 */
enum { GROWTH_GAP = 1 << 20, USUAL = 8 << 20 };

#ifdef __GLIBC__
enum { KNOWN_GROWTH = true };
#else
enum { KNOWN_GROWTH = false };
#endif

struct bounds {
    char *low, *end;
};

/*
 * Asks libc for the stack of the calling thread. That reads /proc/self/maps for the first thread, and allocates for
 * others.
 */
static bool native_ask(struct bounds *bounds)
{
    pthread_attr_t attr;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attr))
        return false;
    int err = pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    *bounds = (struct bounds){low, (char *)low + size};
    return err == 0;
}

/* Adds the room by which the first thread's stack may grow, which glibc has reported and musl has not. */
static void add_growth(struct bounds *bounds)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit))
        return;
    size_t size = limit.rlim_cur < USUAL ? limit.rlim_cur / GROWTH_GAP * GROWTH_GAP : USUAL;
    if ((size_t)(bounds->end - bounds->low) < size)
        bounds->low = bounds->end - size;
}

/* Asks for the part of the stack that can be counted on. */
static bool ask_for_room(struct bounds *bounds)
{
    if (!native_ask(bounds))
        return false;
    if (getpid() != gettid())
        return true;
    if (!KNOWN_GROWTH)
        add_growth(bounds);
    if ((size_t)(bounds->end - bounds->low) > USUAL + GROWTH_GAP)
        bounds->low = bounds->end - USUAL;
    else
        bounds->low += GROWTH_GAP;
    return true;
}

static bool native_contain(const struct bounds *bounds, const char *sp)
{
    return sp >= bounds->low && sp < bounds->end;
}

/*
 * Estimates the room. The caller has used some, and so has the thread library, which keeps what is the thread's own
 * above that: thread-local variables, and above these, on x86-64, what pthread_self points to. On most other processors
 * the variables are above that, and nothing tells where they end, so that the library is asked.
 */
static void native_estimate(struct abti_stack *stack, size_t size)
{
    enum { SLACK = 256 * 1024 }; /* for guards and the C library */
    uintptr_t sp = (uintptr_t)stack->end, self = (uintptr_t)pthread_self();
    struct bounds bounds;
    if ((uintptr_t)&abti_es_self > self) {
        stack->base = native_ask(&bounds) && native_contain(&bounds, stack->end) ? bounds.low : stack->end;
        return;
    }
    size_t used = self > sp && self - sp < size ? self - sp : 0;
    stack->base = stack->end - (size - used > 2 * SLACK ? size - used - SLACK : 0);
}

static void native_describe(struct abti_stack *stack)
{
    *stack = (struct abti_stack){
        .kind = ABTI_STACK_USER,
        .tsan_fiber = abti_annotate_fiber_current(),
        .end = abti_cpu_sp(),
    };
    stack->high = stack->end;
    abti_stack_forbid_in_place(stack);
}

/*
 * Describes the stack for the tools, which have to know all of it. They learn nothing of a stack that is not the
 * thread's own.
 */
static void describe_for_tools(struct abti_stack *stack)
{
    struct bounds bounds;
    if (native_ask(&bounds) && native_contain(&bounds, stack->end)) {
        stack->base = bounds.low;
        stack->end = stack->high = bounds.end;
    } else {
        stack->base = stack->end;
    }
    abti_stack_set_root(stack, true);
}

void abti_native_forget(struct abti_stack *stack)
{
    if (abti_annotate_on)
        abti_stack_set_root(stack, false);
    abti_annotate_stack_unregister(stack->valgrind_id);
}

void abti_native_describe(struct abti_stack *stack, size_t size)
{
    native_describe(stack);
    if (abti_annotate_on)
        describe_for_tools(stack);
    else
        native_estimate(stack, size);
    stack->size = (size_t)(stack->end - stack->base);
}

void abti_native_describe_primary(struct abti_stack *stack)
{
    native_describe(stack);
    if (!abti_annotate_on)
        return;
    abti_native_measure(stack);
    describe_for_tools(stack);
    stack->size = (size_t)(stack->end - stack->base);
}

void abti_native_measure(struct abti_stack *stack)
{
    struct bounds bounds;
    if (stack->base)
        return; /* the tools had to know */
    bool has_room = ask_for_room(&bounds) && native_contain(&bounds, stack->end);
    stack->base = has_room ? bounds.low : stack->end;
    if (has_room)
        stack->high = bounds.end; /* the caller of ABT_init may return to frames above the stack's `end` */
    stack->size = (size_t)(stack->end - stack->base);
    if (has_room && !abti_guard_needs_page()) /* with a guard page by name each unit has a guard of its own */
        abti_stack_set_in_place_limit(stack, abti_rt.config.thread_stacksize);
}

int abti_native_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr))
        return ABT_ERR_MEM;
    size_t size = abti_round_up(abti_rt.config.sched_stacksize, abti_vm_page_size());
    /* A size that the system finds too small leaves its default, which is not. */
    (void)pthread_attr_setstacksize(&attr, size);
    int err = pthread_create(thread, &attr, run, arg);
    pthread_attr_destroy(&attr);
    return err == 0 ? ABT_SUCCESS : err == ENOMEM ? ABT_ERR_MEM : ABT_ERR_SYS;
}
