/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the library twice, and runs a unit by the functions found there. */
#include <abt.h>
#include <dlfcn.h>

static void hello(void *arg)
{
    ++*(int *)arg;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 0; i < 2; i++) {
        void *library = dlopen("libabt.so.1", RTLD_NOW);
        ABT_pool pool;
        ABT_thread unit;
        if (!library)
            return 2;
#define FIND(name) __typeof__(name) *name##_p = (__typeof__(name) *)dlsym(library, #name)
        FIND(ABT_init);
        FIND(ABT_finalize);
        FIND(ABT_self_get_last_pool);
        FIND(ABT_thread_create);
        FIND(ABT_thread_free);
        if (ABT_init_p(argc, argv) != ABT_SUCCESS)
            return 3;
        ABT_self_get_last_pool_p(&pool);
        ABT_thread_create_p(pool, hello, &count, ABT_THREAD_ATTR_NULL, &unit);
        ABT_thread_free_p(&unit);
        ABT_finalize_p();
        dlclose(library);
    }
    return count != 2;
}
