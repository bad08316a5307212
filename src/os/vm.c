/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages straight from the operating system: mmap, munmap, madvise. errno is the caller's: nothing here changes it. */
#include "os/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "os/annotate.h"

/* Linux 6.13; the C library's headers may be older than the kernel. Others do not know the number. */
enum { VM_GUARD_INSTALL = 102, VM_GUARD_REMOVE = 103 };

/* A huge page's size goes as a power of two into bits of the flags. */
enum { VM_HUGE_SHIFT = 26 };

size_t abti_vm_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

uint64_t abti_vm_total(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (uint64_t)pages * abti_vm_page_size() : 0;
}

void *abti_vm_map(size_t size)
{
    int saved_errno = errno;
    abti_annotate_begin_private();
    void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    abti_annotate_end_private();
    errno = saved_errno;
    return ptr == MAP_FAILED ? NULL : ptr;
}

void *abti_vm_map_huge(size_t size, size_t huge_page)
{
    int saved_errno = errno;
    if (huge_page & (huge_page - 1))
        return NULL;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | __builtin_ctzll(huge_page) << VM_HUGE_SHIFT;
    abti_annotate_begin_private();
    void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    abti_annotate_end_private();
    errno = saved_errno;
    return ptr == MAP_FAILED ? NULL : ptr;
}

void *abti_vm_map_aligned(size_t size, size_t alignment)
{
    char *ptr = size + alignment > size ? abti_vm_map(size + alignment) : NULL;
    if (!ptr)
        return NULL;
    size_t before = (alignment - ((uintptr_t)ptr & (alignment - 1))) & (alignment - 1);
    if (before > 0)
        abti_vm_unmap(ptr, before);
    abti_vm_unmap(ptr + before + size, alignment - before);
    return ptr + before;
}

bool abti_vm_advise_huge(void *ptr, size_t size, bool huge)
{
    int saved_errno = errno;
    bool done = madvise(ptr, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0;
    errno = saved_errno;
    return done;
}

bool abti_vm_is_mapped(void *ptr)
{
    int saved_errno = errno;
    size_t page = abti_vm_page_size();
    unsigned char resident;
    bool mapped = mincore((void *)((uintptr_t)ptr & ~(uintptr_t)(page - 1)), page, &resident) == 0;
    errno = saved_errno;
    return mapped;
}

/* To drop what is locked is refused, also where it is locked only as it is touched (MCL_ONFAULT). */
bool abti_vm_is_locked_when_mapped(void)
{
    int saved_errno = errno;
    size_t page = abti_vm_page_size();
    void *trial = abti_vm_map(page);
    bool locked = trial && msync(trial, page, MS_ASYNC | MS_INVALIDATE) != 0 && errno == EBUSY;
    abti_vm_unmap(trial, page);
    errno = saved_errno;
    return locked;
}

void abti_vm_unmap(void *ptr, size_t size)
{
    int saved_errno = errno;
    if (ptr)
        munmap(ptr, size);
    errno = saved_errno;
}

void abti_vm_release(void *ptr, size_t size)
{
    int saved_errno = errno;
    uintptr_t mask = (uintptr_t)abti_vm_page_size() - 1;
    uintptr_t begin = ((uintptr_t)ptr + mask) & ~mask;
    uintptr_t end = ((uintptr_t)ptr + size) & ~mask;

    if (begin < end)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
    errno = saved_errno;
}

bool abti_vm_guard(void *ptr, size_t size)
{
    int saved_errno = errno;
    bool done = madvise(ptr, size, VM_GUARD_INSTALL) == 0;
    errno = saved_errno;
    return done;
}

/* The kernel reads the byte, for a pipe, and says so instead of faulting. Where no pipe can be had it is taken to
 * fault. */
bool abti_vm_faults(const void *byte)
{
    int saved_errno = errno, ends[2];
    bool fault = true;
    if (pipe2(ends, O_CLOEXEC) == 0) {
        fault = write(ends[1], byte, 1) < 0;
        close(ends[0]);
        close(ends[1]);
    }
    errno = saved_errno;
    return fault;
}

bool abti_vm_protect(void *ptr, size_t size)
{
    int saved_errno = errno;
    bool done = mprotect(ptr, size, PROT_NONE) == 0;
    errno = saved_errno;
    return done;
}

void abti_vm_unguard(void *ptr, size_t size)
{
    int saved_errno = errno;
    madvise(ptr, size, VM_GUARD_REMOVE);
    mprotect(ptr, size, PROT_READ | PROT_WRITE);
    errno = saved_errno;
}
