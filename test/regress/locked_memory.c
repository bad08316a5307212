/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After mlockall(MCL_FUTURE) each ULT took 94 KiB of memory: the system backs and counts all that is mapped, also the
 * room below default stacks, and whole chunks of them.
 */
#include <string.h>
#include <sys/mman.h>
#include "child.h"
#include "emulated.h"
#include "regress.h"
#include "sanitizers.h"

enum { NUM = 1000, KIB = 1024, REFUSED = 77 };

/* From the system's account of the process, in KiB. */
static long account(const char *field)
{
    char line[256];
    long value = -1;
    FILE *status = fopen("/proc/self/status", "r");

    while (status && fgets(line, sizeof(line), status)) {
        if (strncmp(line, field, strlen(field)) == 0)
            value = strtol(line + strlen(field), NULL, 10);
    }
    if (status)
        fclose(status);
    return value;
}

/* How many KiB of what is locked each of many blocked ULTs has. */
static long per_ult(void)
{
    static ABT_thread threads[NUM];

    ABT_pool pool = main_pool();
    long before = account("VmLck:");
    for (int i = 0; i < NUM; i++)
        must(ABT_thread_create(pool, unit_suspends, NULL, ABT_THREAD_ATTR_NULL, &threads[i]));
    must(ABT_self_yield());
    long all = account("VmLck:") - before;
    for (int i = 0; i < NUM; i++) {
        must(ABT_thread_resume(threads[i]));
        must(ABT_thread_free(&threads[i]));
    }
    return all / NUM;
}

/* Locked before ABT_init, or after it. */
static int lock_and_run(bool after, int flags)
{
    if (after)
        must(ABT_init(0, NULL));
    if (mlockall(flags))
        return REFUSED;
    if (!after)
        must(ABT_init(0, NULL));
    long kib = per_ult();
    must(ABT_finalize());
    return (int)(kib < 70 ? kib : 70);
}

static int lock_before(void *flags)
{
    return lock_and_run(false, *(int *)flags);
}

static int lock_after(void *flags)
{
    return lock_and_run(true, *(int *)flags);
}

static void test_one(const char *what, int (*act)(void *), int flags)
{
    char words[1024];
    int kib = child_run(act, &flags, words, sizeof(words));

    if (kib == REFUSED) {
        skip(1, "the system locks no memory");
        return;
    }
    /* A default stack, a page for its header, a guard, and one for the odd number; and the descriptor. */
    ok(kib >= 16 && kib <= 30, "%s: %d KiB of locked memory for a ULT", what, kib);
    diag("%s", words);
}

int main(void)
{
    regress_begin();
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("a sanitizer maps more than the system can lock");
    if (is_emulated())
        skip_all("an emulator does not count what is locked");
    if (sysconf(_SC_PAGESIZE) > 4096)
        skip_all("the numbers are for small pages");
    test_one("locked at the start", lock_before, MCL_CURRENT | MCL_FUTURE);
    test_one("locked later", lock_after, MCL_CURRENT | MCL_FUTURE);
#ifdef MCL_ONFAULT
    test_one("locked as it is touched", lock_before, MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
#endif
    return done_testing();
}
