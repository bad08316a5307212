/* SPDX-License-Identifier: BSD-3-Clause */
#include "os/annotate.h"

#include "os/annotate_valgrind.h"

/*
 * The sanitizers' runtimes, absent (NULL) unless the program is linked with them. Their visibility is spelt out because
 * a hidden weak symbol would be resolved to NULL when the library is linked.
 */
#define TOOL_SYMBOL __attribute__((weak, visibility("default")))

extern void *__tsan_get_current_fiber(void) TOOL_SYMBOL;
extern void *__tsan_create_fiber(unsigned flags) TOOL_SYMBOL;
extern void __tsan_destroy_fiber(void *fiber) TOOL_SYMBOL;
extern void __tsan_switch_to_fiber(void *fiber, unsigned flags) TOOL_SYMBOL;

extern void __sanitizer_start_switch_fiber(void **fake_save, const void *bottom, size_t size) TOOL_SYMBOL;
extern void __sanitizer_finish_switch_fiber(void *fake, const void **old_bottom, size_t *old_size) TOOL_SYMBOL;
extern void __asan_poison_memory_region(const volatile void *ptr, size_t size) TOOL_SYMBOL;
extern void __asan_unpoison_memory_region(const volatile void *ptr, size_t size) TOOL_SYMBOL;

extern void __lsan_register_root_region(const void *ptr, size_t size) TOOL_SYMBOL;
extern void __lsan_unregister_root_region(const void *ptr, size_t size) TOOL_SYMBOL;

extern void __tsan_acquire(void *address) TOOL_SYMBOL;
extern void __tsan_release(void *address) TOOL_SYMBOL;
extern void AnnotateIgnoreReadsBegin(const char *file, int line) TOOL_SYMBOL;
extern void AnnotateIgnoreReadsEnd(const char *file, int line) TOOL_SYMBOL;
extern void AnnotateIgnoreWritesBegin(const char *file, int line) TOOL_SYMBOL;
extern void AnnotateIgnoreWritesEnd(const char *file, int line) TOOL_SYMBOL;

bool abti_annotate_on;
bool abti_annotate_order;
const char abti_annotate_ends = 0;

/* What is instrumented itself is seen: to tell more would hide its own mistakes. */
#if defined(__SANITIZE_THREAD__)
enum { IS_INSTRUMENTED = 1 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { IS_INSTRUMENTED = 1 };
#else
enum { IS_INSTRUMENTED = 0 };
#endif
#else
enum { IS_INSTRUMENTED = 0 };
#endif

/*
 * DRD takes any stack that is registered for the first thread's, and fails an assertion of its own when that ends. It
 * is asked once: ASan does not see to the variables of a request in functions that are not instrumented.
 */
static bool is_drd, watches_races;

static bool tsan_orders; /* TSan's part of abti_annotate_order */

/*
 * helgrind and DRD see the library's own accesses, and do not know which of them are atomic. A race is theirs to report
 * if the accesses are the program's. The dynamic linker works on the stacks of units where the library has.
 */
static void leave_out_library(void)
{
    static const char suppressions[] =
        "{\n libabt\n Helgrind:Race\n obj:*/libabt.so*\n}\n"
        "{\n libabt, by the C library\n Helgrind:Race\n fun:mem*\n obj:*/libabt.so*\n}\n"
        "{\n the dynamic linker, on the stack of a unit\n Helgrind:Race\n fun:_dl_runtime_resolve*\n}\n"
        "{\n libabt\n drd:ConflictingAccess\n obj:*/libabt.so*\n}\n"
        "{\n libabt, by the C library\n drd:ConflictingAccess\n fun:mem*\n obj:*/libabt.so*\n}\n";
    abti_valgrind_suppress(suppressions, sizeof(suppressions) - 1);
}

/*
 * The library calls it when it is loaded, since threads may wait for words of a user before ABT_init. ABT_init calls
 * it, too: in a constructor of a program that has the archive it may come first. Other threads only read what it has
 * found.
 */
__attribute__((constructor)) void abti_annotate_init(void)
{
    static bool is_done;
    if (is_done)
        return;
    is_done = true;
    watches_races = abti_valgrind_watches_races(); /* one of valgrind's tools of races runs */
    if (watches_races)
        leave_out_library();
    is_drd = abti_valgrind_is_drd();
    tsan_orders =
        !IS_INSTRUMENTED && __tsan_switch_to_fiber && __tsan_acquire && __tsan_release && AnnotateIgnoreReadsBegin;
    abti_annotate_on =
        __tsan_switch_to_fiber || __sanitizer_start_switch_fiber || watches_races || abti_valgrind_watches_memory();
    abti_annotate_order = tsan_orders || watches_races;
}

void abti_annotate_tell_release(const void *address)
{
    if (tsan_orders)
        __tsan_release((void *)(uintptr_t)address);
    else if (watches_races)
        abti_valgrind_release(address);
}

void abti_annotate_tell_private(bool begin)
{
    if (!tsan_orders)
        return; /* valgrind's tools leave all of the library out */
    if (begin) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    } else {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
}

void abti_annotate_tell_acquire(const void *address)
{
    if (tsan_orders)
        __tsan_acquire((void *)(uintptr_t)address);
    else if (watches_races)
        abti_valgrind_acquire(address);
}

void *abti_annotate_fiber_create(void)
{
    return __tsan_create_fiber ? __tsan_create_fiber(0) : NULL;
}

void *abti_annotate_fiber_current(void)
{
    return __tsan_get_current_fiber ? __tsan_get_current_fiber() : NULL;
}

uintptr_t abti_annotate_tsan_code(void)
{
    return (uintptr_t)__tsan_get_current_fiber;
}

void abti_annotate_fiber_destroy(void *fiber)
{
    if (__tsan_destroy_fiber && fiber)
        __tsan_destroy_fiber(fiber);
}

void abti_annotate_fiber_switch_to(void *fiber, bool ordered)
{
    enum { NO_SYNC = 1 }; /* __tsan_switch_to_fiber_no_sync */
    if (__tsan_switch_to_fiber && fiber)
        __tsan_switch_to_fiber(fiber, ordered ? 0 : NO_SYNC);
}

void abti_annotate_asan_start(void **fake_save, const void *bottom, size_t size)
{
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(fake_save, bottom, size);
}

void abti_annotate_asan_finish(void *fake, const void **old_bottom, size_t *old_size)
{
    if (old_bottom)
        *old_bottom = NULL;
    if (old_size)
        *old_size = 0;
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(fake, old_bottom, old_size);
}

void abti_annotate_unpoison(const void *ptr, size_t size)
{
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(ptr, size);
}

void abti_annotate_root_begin(const void *ptr, size_t size)
{
    if (__lsan_register_root_region && __lsan_unregister_root_region && size > 0)
        __lsan_register_root_region(ptr, size);
}

void abti_annotate_root_end(const void *ptr, size_t size)
{
    if (__lsan_register_root_region && __lsan_unregister_root_region && size > 0)
        __lsan_unregister_root_region(ptr, size);
}

void abti_annotate_stack_dead(const void *ptr, size_t size)
{
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(ptr, size);
    abti_valgrind_no_access(ptr, size);
}

void abti_annotate_stack_alive(const void *ptr, size_t size)
{
    abti_annotate_unpoison(ptr, size);
    abti_valgrind_undefined(ptr, size);
}

unsigned abti_annotate_stack_register(const void *ptr, size_t size)
{
    if (watches_races)
        abti_valgrind_unwatch(ptr, size); /* after a unit's frame comes the library's, which other threads write to */
    return is_drd ? 0 : abti_valgrind_stack_register(ptr, (const char *)ptr + size - 1);
}

void abti_annotate_stack_unregister(unsigned id)
{
    abti_valgrind_stack_deregister(id);
}
