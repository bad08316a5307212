/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel refuses the process some system calls, as filters of containers do. What the C library cannot do without
 * is left to it: futex is refused where it is called by the function syscall(), which the C library does not use
 * itself, and mprotect where it takes all access away.
 */
#ifndef TEST_DENY_H
#define TEST_DENY_H

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer machines have only what poll is made of there. */
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#endif

/* What is looked at besides the number of the call. */
enum condition { ALWAYS, BY_SYSCALL, NO_ACCESS };

static const struct call {
    const char *name;
    unsigned number;
    enum condition when;
} calls[] = {
    {"clock_nanosleep", SYS_clock_nanosleep, ALWAYS},
    {"eventfd", SYS_eventfd2, ALWAYS},
    {"futex", SYS_futex, BY_SYSCALL},
    {"getaffinity", SYS_sched_getaffinity, ALWAYS},
    {"madvise", SYS_madvise, ALWAYS},
    {"membarrier", SYS_membarrier, ALWAYS},
    {"mempolicy", SYS_get_mempolicy, ALWAYS},
    {"mprotect", SYS_mprotect, NO_ACCESS},
    {"poll", SYS_poll, ALWAYS},
    {"setaffinity", SYS_sched_setaffinity, ALWAYS},
    {"sigaltstack", SYS_sigaltstack, ALWAYS},
    {"yield", SYS_sched_yield, ALWAYS},
};

enum { MAX_FILTER = 256, SYSCALL_BYTES = 64 };

static struct sock_filter filter[MAX_FILTER];
static unsigned short filter_len;

static void add(uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
    filter[filter_len++] = (struct sock_filter)BPF_JUMP(code, k, if_true, if_false);
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* To the begin of the function it is less than so many bytes, in one stretch of 4 GiB or nearly. */
static void add_by_syscall(void)
{
    uint64_t begin = (uintptr_t)dlsym(RTLD_DEFAULT, "syscall");
    load(offsetof(struct seccomp_data, instruction_pointer) + 4);
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(begin >> 32), 0, 4);
    load(offsetof(struct seccomp_data, instruction_pointer));
    add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)begin, 0, 2);
    add(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)begin + SYSCALL_BYTES, 1, 0);
}

static void refuse(const struct call *call, unsigned error)
{
    uint8_t skip = call->when == BY_SYSCALL ? 6 : call->when == NO_ACCESS ? 3 : 1;
    load(offsetof(struct seccomp_data, nr));
    add(BPF_JMP | BPF_JEQ | BPF_K, call->number, 0, skip);
    if (call->when == BY_SYSCALL)
        add_by_syscall();
    if (call->when == NO_ACCESS) {
        load(offsetof(struct seccomp_data, args[2]));
        add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    }
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error, 0, 0);
}

static bool refuse_named(const char *name, unsigned error)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (!strcmp(calls[i].name, name)) {
            refuse(&calls[i], error);
            return true;
        }
    }
    return false;
}

/*
 * From now on these calls, separated by commas, fail with that error, in the calling thread and those that it makes.
 * False: one is unknown, or the system allows no filters.
 */
static bool deny(unsigned error, const char *names)
{
    char *text = strdup(names), *rest = NULL;
    bool known = true;
    for (char *name = strtok_r(text, ",", &rest); name && known; name = strtok_r(NULL, ",", &rest))
        known = refuse_named(name, error);
    free(text);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    struct sock_fprog program = {.len = filter_len, .filter = filter};
    return known && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#endif
