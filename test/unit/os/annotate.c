/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/annotate.h"
#include "tap.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
enum { TSAN = 1 };
#else
enum { TSAN = 0 };
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { ASAN = 1 };
#else
enum { ASAN = 0 };
#endif

static char memory[8192];

static void test_fibers(void)
{
    void *self = abti_annotate_fiber_current();
    void *fiber = abti_annotate_fiber_create();

    is_int(self != NULL, TSAN, "this thread has a fiber under TSan only");
    is_int(fiber != NULL, TSAN, "so has a new context");
    abti_annotate_fiber_switch_to(fiber, true);
    void *other = abti_annotate_fiber_current();
    abti_annotate_fiber_switch_to(self, true);
    ok(other == fiber, "switched there");
    ok(abti_annotate_fiber_current() == self, "and back");
    abti_annotate_fiber_destroy(fiber);
    abti_annotate_fiber_destroy(NULL);
    pass("destroyed");
}

int main(void)
{
    if (!TSAN && !ASAN)
        ok(!abti_annotate_on, "off at first");
    abti_annotate_init();
    if (TSAN || ASAN)
        ok(abti_annotate_on, "a sanitizer is found");
    test_fibers();
    abti_annotate_unpoison(memory, sizeof(memory));
    unsigned id = abti_annotate_stack_register(memory, sizeof(memory));
    abti_annotate_stack_unregister(id);
    if (!ASAN) {
        const void *bottom = memory;
        size_t size = 1;
        void *fake = NULL;
        abti_annotate_asan_start(&fake, memory, sizeof(memory));
        abti_annotate_asan_finish(fake, &bottom, &size);
        if (!TSAN)
            ok(!fake && !bottom && !size, "no bounds without ASan");
        abti_annotate_asan_finish(NULL, NULL, NULL);
    }
    return done_testing();
}
