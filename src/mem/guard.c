/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/guard.h"

#include <string.h>
#include "base/assert.h"
#include "base/atomic.h"
#include "base/round.h"
#include "os/vm.h"

/*
 * Each stack that mprotect guards costs two mappings, and a process may have 65530 by default: without any left nobody
 * gets memory. A quarter of them may be for stacks of the default size, and another for all others.
 */
enum { GUARD_MAX_PROTECTED = 65530 / 4 / 2 };

/*
 * Each page more costs 8 bytes of page tables for each stack, and address space: 4 pages do so by 0.4 % of what a
 * blocked ULT has, 16 by 3 %. In time no difference was found.
 */
enum { GUARD_BYTES = 16 * 1024 };

static const uint64_t canary = UINT64_C(0x5afe57ac5afe57ac);

/* Only abti_guard_init writes this. */
static enum abti_stack_guard guard_kind;

static _Atomic(bool) guard_by_madvise;  /* madvise has not failed yet */
static _Atomic(bool) guard_trusted;     /* what madvise has made was seen to fault */
static _Atomic(size_t) guard_protected; /* how many stacks mprotect has guarded, without those of the default size */
static _Atomic(unsigned) guard_kinds;

void abti_guard_init(enum abti_stack_guard kind)
{
    guard_kind = kind;
    abti_store_relaxed(&guard_by_madvise, kind == ABTI_STACK_GUARD_AUTO);
    abti_store_relaxed(&guard_protected, 0);
    abti_store_relaxed(&guard_kinds, 0);
}

bool abti_guard_needs_page(void)
{
    return guard_kind == ABTI_STACK_GUARD_MPROTECT || guard_kind == ABTI_STACK_GUARD_MPROTECT_STRICT;
}

bool abti_guard_is_strict(void)
{
    return guard_kind == ABTI_STACK_GUARD_MPROTECT_STRICT;
}

unsigned abti_guard_kinds(void)
{
    return abti_load_relaxed(&guard_kinds); /* relaxed: it is for information */
}

static void note_kind(unsigned kind)
{
    if (!(abti_load_relaxed(&guard_kinds) & kind))
        abti_fetch_or_relaxed(&guard_kinds, kind);
}

size_t abti_guard_least_room(void)
{
    return guard_kind >= ABTI_STACK_GUARD_MPROTECT ? abti_vm_page_size() : 0;
}

size_t abti_guard_room(void)
{
    return guard_kind == ABTI_STACK_GUARD_AUTO ? abti_round_up(GUARD_BYTES, abti_vm_page_size())
                                               : abti_guard_least_room();
}

static bool guard_by_kernel(char *low, size_t size)
{
    if (!abti_vm_guard(low, size))
        return false;
    if (!abti_load_relaxed(&guard_trusted)) {
        if (!abti_vm_faults(low))
            return false;
        abti_store_relaxed(&guard_trusted, true);
    }
    return true;
}

/* relaxed: these are hints and a count, and nothing depends on their order */
static bool guard_by_pages(char *low, size_t size, size_t nth)
{
    bool counts = nth == ABTI_GUARD_COUNTED;
    if (abti_load_relaxed(&guard_by_madvise)) {
        if (guard_by_kernel(low, size)) {
            note_kind(ABTI_GUARDED_BY_KERNEL);
            return true;
        }
        abti_store_relaxed(&guard_by_madvise, false);
    }
    if (counts)
        nth = abti_load_relaxed(&guard_protected);
    if ((nth >= GUARD_MAX_PROTECTED && !abti_guard_is_strict()) || !abti_vm_protect(low, size))
        return false;
    if (counts)
        abti_fetch_add_relaxed(&guard_protected, 1);
    note_kind(ABTI_GUARDED_BY_MPROTECT);
    return true;
}

static enum abti_guard guard_canary(char *low)
{
    memcpy(low, &canary, sizeof(canary));
    note_kind(ABTI_GUARDED_BY_CANARY);
    return ABTI_GUARD_CANARY;
}

bool abti_guard_install(char *at, size_t size, bool pages, size_t nth, enum abti_guard *guard)
{
    abti_assert(!pages || guard_kind < ABTI_STACK_GUARD_MPROTECT || (uintptr_t)at % abti_vm_page_size() == 0);
    *guard = ABTI_GUARD_NONE;
    if (guard_kind == ABTI_STACK_GUARD_NONE)
        return true;
    if (guard_kind == ABTI_STACK_GUARD_CANARY || (guard_kind == ABTI_STACK_GUARD_AUTO && !pages)) {
        *guard = guard_canary(at);
        return true;
    }
    if (guard_by_pages(at, size, nth)) {
        *guard = ABTI_GUARD_PAGE;
        return true;
    }
    if (guard_kind == ABTI_STACK_GUARD_AUTO)
        *guard = guard_canary(at);
    return !abti_guard_is_strict();
}

void abti_guard_remove(char *at, size_t size, bool counted, enum abti_guard guard)
{
    if (guard != ABTI_GUARD_PAGE || abti_load_relaxed(&guard_by_madvise))
        return;
    abti_vm_unguard(at, size);
    if (counted)
        abti_fetch_add_relaxed(&guard_protected, -(size_t)1);
}

bool abti_guard_renew(char *at)
{
    return abti_vm_protect(at, abti_vm_page_size());
}

enum abti_guard abti_guard_install_user(char *low)
{
    return guard_kind == ABTI_STACK_GUARD_CANARY ? guard_canary(low) : ABTI_GUARD_NONE;
}

bool abti_guard_is_broken(const char *low)
{
    return memcmp(low, &canary, sizeof(canary)) != 0;
}
