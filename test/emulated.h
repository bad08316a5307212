/* Whether maint/check --arch runs the test under qemu, which is slow and not a whole system. */
#ifndef TEST_EMULATED_H
#define TEST_EMULATED_H

#include <stdbool.h>
#include <stdlib.h>

/* Children of a fork cannot make threads, programs that a test starts are another machine's, limits of memory are not
 * kept. */
static inline bool is_emulated(void)
{
    return getenv("ABT_TEST_EMULATED") != NULL;
}

#endif
