/* SPDX-License-Identifier: BSD-3-Clause */
/* Device constructs on the host: their dependences, the limit of threads, and arguments that are absent. */
#include <omp.h>
#include <stddef.h>
#include <unistd.h>

#include "tap.h"
#include "watchdog.h"

enum { LIMIT = 3, KIND_FIRSTPRIVATE = 12, SLEEP_US = 5000 };

void GOMP_target_ext(int device, void (*fn)(void *), size_t num, void **addresses, size_t *sizes, unsigned short *kinds,
                     unsigned flags, void **depend, void **args);

/* Each construct comes behind a task that sleeps, and on which it depends. */
static void depends(void)
{
    int x = 0, seen = -1, later = -1;

#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task shared(x) depend(out : x)
        {
            usleep(SLEEP_US);
            x = 1;
        }
#pragma omp target map(tofrom : x) map(from : seen) depend(inout : x)
        seen = x++;
#pragma omp task shared(x) depend(inout : x)
        {
            usleep(SLEEP_US);
            x++;
        }
#pragma omp target enter data map(to : x) depend(inout : x)
        later = x;
#pragma omp target exit data map(from : x)
    }
    is_int(seen, 1, "a target waits for what it depends on");
    is_int(later, 3, "data of a device do, too");
}

/* Targets whose dependences their own maker fulfils later. */
static void deferred(void)
{
    int x = 0, y = 0, copied = 0, data = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t event;
        int own = 7;
#pragma omp task depend(out : x) detach(event) shared(x)
        x = 1;
#pragma omp target nowait depend(inout : x) map(tofrom : y) map(from : copied) firstprivate(own)
        {
            y++;
            copied = own;
        }
        own = 8;
#pragma omp target enter data nowait map(to : x) depend(inout : x)
#pragma omp task depend(in : x) shared(data)
        data = y;
#pragma omp target exit data map(from : x)
        y += own;
        omp_fulfill_event(event);
#pragma omp taskwait
    }
    is_int(y, 9, "a target with nowait is a task, for which its maker does not wait");
    is_int(copied, 7, "it has what was firstprivate when it was made");
    is_int(data, 9, "data of a device with nowait do not wait either");
}

/* Without a region. */
static void deferred_alone(void)
{
    int x = 0;

#pragma omp target nowait map(tofrom : x) depend(inout : x)
    x++;
#pragma omp target nowait map(tofrom : x) depend(inout : x)
    x++;
#pragma omp taskwait
    is_int(x, 2, "targets with nowait run outside of regions");
}

static void limits(void)
{
    int limit = 0, outside = omp_get_thread_limit();

#pragma omp target thread_limit(LIMIT) map(from : limit)
    limit = omp_get_thread_limit();
    is_int(limit, LIMIT, "a target has its limit of threads");
    is_int(omp_get_thread_limit(), outside, "and nothing else has");
}

static void note(void *arg)
{
    void **addresses = arg;

    ok(!addresses[0] && *(int *)addresses[1] == LIMIT, "an argument that is absent has no copy");
}

/* As gfortran passes an optional argument. */
static void is_absent(void)
{
    int value = LIMIT;
    void *addresses[] = {NULL, &value};
    size_t sizes[] = {sizeof(value), sizeof(value)};
    unsigned short kinds[] = {KIND_FIRSTPRIVATE, KIND_FIRSTPRIVATE | 2 << 8};

    GOMP_target_ext(-1, note, 2, addresses, sizes, kinds, 0, NULL, NULL);
}

int main(void)
{
    watchdog_begin(0);
    depends();
    deferred();
    deferred_alone();
    limits();
    is_absent();
    return done_testing();
}
