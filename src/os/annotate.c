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

bool abti_annotate_on;

void abti_annotate_init(void)
{
    abti_annotate_on = __tsan_switch_to_fiber || __sanitizer_start_switch_fiber || abti_valgrind_present();
}

void *abti_annotate_fiber_create(void)
{
    return __tsan_create_fiber ? __tsan_create_fiber(0) : NULL;
}

void *abti_annotate_fiber_current(void)
{
    return __tsan_get_current_fiber ? __tsan_get_current_fiber() : NULL;
}

void abti_annotate_fiber_destroy(void *fiber)
{
    if (__tsan_destroy_fiber && fiber)
        __tsan_destroy_fiber(fiber);
}

void abti_annotate_fiber_switch_to(void *fiber)
{
    if (__tsan_switch_to_fiber && fiber)
        __tsan_switch_to_fiber(fiber, 0);
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
    return abti_valgrind_stack_register(ptr, (const char *)ptr + size - 1);
}

void abti_annotate_stack_unregister(unsigned id)
{
    abti_valgrind_stack_deregister(id);
}
