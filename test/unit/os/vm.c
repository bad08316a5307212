/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/vm.h"
#include "tap.h"

static bool is_zero(const char *p, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (p[i])
            return false;
    }
    return true;
}

static void test_map(size_t page)
{
    char *p = abti_vm_map(5 * page - 1);

    ok(p != NULL, "memory");
    ok((uintptr_t)p % page == 0, "at a page boundary");
    ok(is_zero(p, 5 * page), "zeroed, to the end of its last page");
    memset(p, 0x55, 5 * page);

    abti_vm_release(p + 1, 3 * page);
    ok(p[0] == 0x55 && p[page - 1] == 0x55, "a page covered in part is left alone");
    ok(is_zero(p + page, 2 * page), "pages covered wholly read as zero");
    ok(p[3 * page] == 0x55 && p[5 * page - 1] == 0x55, "what lies behind is left alone");
    abti_vm_release(p + 3 * page + 1, page);
    ok(p[3 * page + 1] == 0x55 && p[4 * page] == 0x55, "a page's worth across a boundary releases nothing");
    abti_vm_release(p + 3 * page, 0);
    ok(p[3 * page] == 0x55, "nothing to release");

    abti_vm_unmap(p, 5 * page - 1);
    errno = 0;
    ok(msync(p, page, MS_ASYNC) == -1 && errno == ENOMEM, "unmapped");
}

static void test_limits(void)
{
    errno = 77;
    ok(!abti_vm_map(0), "no bytes, no memory");
    ok(!abti_vm_map(SIZE_MAX / 2), "more than there is");
    is_int(errno, 77, "errno is kept");
    abti_vm_unmap(NULL, 100);
    is_int(errno, 77, "no memory to unmap");

    size_t big = (size_t)1 << (sizeof(void *) > 4 ? 36 : 28);
    char *p = abti_vm_map(big);
    ok(p != NULL, "much address space costs nothing");
    if (p)
        p[big - 1] = 1;
    abti_vm_unmap(p, big);
}

int main(void)
{
    size_t page = abti_vm_page_size();

    is_int(page, sysconf(_SC_PAGESIZE), "page size");
    test_map(page);
    test_limits();
    return done_testing();
}
