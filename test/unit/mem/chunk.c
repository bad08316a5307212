/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every policy of ABT_MEM_LP_ALLOC, with and without the system's help: each in a process of its own, in which the
 * calls that ask for huge pages are answered here. What was got is read off ABT_info_print_config, and stacks are
 * guarded whatever they are made of.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.h"
#include "must.h"
#include "raw_mmap.h"
#include "unit/unit.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CANNOT_ANSWER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CANNOT_ANSWER 1
#endif

extern char **environ;

static int huge_maps;        /* so many mappings of huge pages are granted */
static bool has_thp;         /* so are transparent ones */
static long thp_asked;       /* bytes */
static size_t smallest_huge; /* of the sizes asked for */

#ifndef CANNOT_ANSWER
#define CANNOT_ANSWER 0

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    if (flags & MAP_HUGETLB) {
        size_t page = (size_t)1 << ((unsigned)flags >> 26 & 63);
        if (smallest_huge == 0 || page < smallest_huge)
            smallest_huge = page;
        if (huge_maps-- <= 0 || len % page != 0) {
            errno = ENOMEM;
            return MAP_FAILED;
        }
        flags &= ~(MAP_HUGETLB | (int)(63u << 26));
    }
    return raw_mmap(addr, len, prot, flags, fd, offset);
}

int madvise(void *addr, size_t len, int advice)
{
    if (advice == MADV_HUGEPAGE) {
        thp_asked += (long)len;
        if (has_thp && (uintptr_t)addr % (2 << 20) == 0)
            return 0;
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, addr, len, advice);
}
#endif

/* --- The child --- */

/* Writes where nobody may. */
static void overflow(void *arg)
{
    struct abti_stack *stack = abti_es_self->cur->stack;
    char *guard = stack->guard == ABTI_GUARD_PAGE ? stack->base - sizeof(uint64_t) : stack->low;
    *(volatile uint64_t *)guard = 1;
    must(ABT_self_yield());
}

static void run_units(void (*func)(void *))
{
    enum { UNITS = 300 };
    static ABT_thread units[UNITS];

    ABT_pool pool = main_pool();
    for (int i = 0; i < UNITS; i++)
        must(ABT_thread_create(pool, func, NULL, ABT_THREAD_ATTR_NULL, &units[i]));
    must(ABT_self_yield()); /* all of them start, on a stack each */
    must(ABT_thread_free_many(UNITS, units));
}

/* What has been malloc's is ordinary memory again. */
static void use_freed_memory(void)
{
    void *blocks[16];

    for (int i = 0; i < 16; i++) {
        blocks[i] = malloc(2 << 20);
        if (blocks[i])
            memset(blocks[i], i, 2 << 20);
    }
    for (int i = 0; i < 16; i++)
        free(blocks[i]);
}

static int child(const char *what)
{
    has_thp = atoi(getenv("TEST_HAS_THP"));
    if (!strcmp(what, "overflow"))
        signal(SIGABRT, SIG_DFL);
    for (int round = 0; round < 2; round++) {
        huge_maps = atoi(getenv("TEST_HUGE_MAPS"));
        must(ABT_init(0, NULL));
        run_units(unit_yields);
        if (!strcmp(what, "overflow"))
            run_units(overflow);
        if (round == 1) {
            must(ABT_info_print_config(stdout));
            printf("asked for huge pages of %zu, %ld bytes of transparent ones\n", smallest_huge, thp_asked);
        }
        must(ABT_finalize());
        use_freed_memory();
    }
    return 0;
}

/* --- The parent --- */

static const char *program;

/* What the child has written, and how it ended. */
static int run_child(const char *what, char *text, size_t size)
{
    char *argv[] = {(char *)program, (char *)what, NULL};
    posix_spawn_file_actions_t actions;
    int fds[2], status = -1;
    pid_t pid;
    size_t len = 0;

    must(pipe(fds));
    must(posix_spawn_file_actions_init(&actions));
    must(posix_spawn_file_actions_adddup2(&actions, fds[1], 1));
    must(posix_spawn_file_actions_adddup2(&actions, fds[1], 2));
    must(posix_spawn_file_actions_addclose(&actions, fds[0]));
    must(posix_spawn(&pid, program, &actions, NULL, argv, environ));
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    for (ssize_t n; len < size - 1 && (n = read(fds[0], text + len, size - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = '\0';
    close(fds[0]);
    waitpid(pid, &status, 0);
    return status;
}

enum guard { PAGE = 1, CANARY = 2 };

struct test {
    const char *name;
    const char *policy, *guard, *huge_page_size; /* environment; NULL: not set */
    const char *huge_maps, *has_thp;             /* what the system has */
    const char *expect[3];                       /* lines of the configuration */
    unsigned guard_got;                          /* of enum guard */
};

#define ALL "1000000"
#define DESCS "  chunks of descriptors: "
#define STACKS "  chunks of stacks: "
#define FROM "  chunks come from: "

static const struct test tests[] = {
    {"nothing said", NULL, NULL, NULL, ALL, "1", {FROM "mmap_rp\n", "1 of normal pages\n", STACKS}, PAGE},
    {"malloc", "malloc", NULL, NULL, ALL, "1", {FROM "malloc\n", DESCS "1 of malloc\n", "of malloc\n"}, PAGE},
    {"malloc, mprotect", "malloc", "mprotect", NULL, ALL, "1", {FROM "malloc\n", "so far: mprotect\n"}, PAGE},
    {"mmap_rp", "MMAP_RP", NULL, NULL, ALL, "1", {FROM "mmap_rp\n", DESCS "1 of normal pages\n", STACKS}, PAGE},
    {"mmap_hp_rp",
     "mmap_hp_rp",
     NULL,
     NULL,
     ALL,
     "1",
     {FROM "mmap_hp_rp\n", DESCS "1 of huge pages\n", "canary\n"},
     CANARY},
    {"mmap_hp_rp, by the page size",
     NULL,
     NULL,
     "4194304",
     ALL,
     "1",
     {FROM "mmap_hp_rp\n", DESCS "1 of huge pages\n", "huge pages of 4194304,"},
     CANARY},
    {"mmap_hp_rp without huge pages",
     "mmap_hp_rp",
     NULL,
     NULL,
     "0",
     "1",
     {FROM "mmap_rp (mmap_hp_rp was asked for)\n", DESCS "1 of normal pages\n", " 0 bytes of transparent"},
     PAGE},
    {"mmap_hp_rp with few huge pages",
     "mmap_hp_rp",
     NULL,
     NULL,
     "5",
     "1",
     {FROM "mmap_hp_rp\n", DESCS "1 of huge pages\n", "of normal pages, "},
     PAGE | CANARY},
    {"mmap_hp_rp, guard pages by name",
     "mmap_hp_rp",
     "mprotect_strict",
     NULL,
     ALL,
     "1",
     {FROM "mmap_hp_rp\n", DESCS "1 of huge pages\n", "so far: mprotect\n"},
     PAGE},
    {"mmap_hp_thp",
     "mmap_hp_thp",
     NULL,
     NULL,
     ALL,
     "1",
     {FROM "mmap_hp_thp\n", DESCS "1 of huge pages\n", " 0 bytes of transparent"},
     CANARY},
    {"mmap_hp_thp without huge pages",
     "mmap_hp_thp",
     NULL,
     NULL,
     "0",
     "1",
     {FROM "thp (mmap_hp_thp was asked for)\n", DESCS "1 of transparent huge pages\n", "canary\n"},
     CANARY},
    {"mmap_hp_thp without any",
     "mmap_hp_thp",
     NULL,
     NULL,
     "0",
     "0",
     {FROM "thp (mmap_hp_thp was asked for)\n", DESCS "1 of normal pages\n", "of normal pages\n"},
     PAGE},
    {"thp",
     "thp",
     NULL,
     NULL,
     ALL,
     "1",
     {FROM "thp\n", DESCS "1 of transparent huge pages\n", "huge pages of 0,"},
     CANARY},
    {"thp, guard pages by name",
     "thp",
     "mprotect",
     NULL,
     ALL,
     "1",
     {FROM "thp\n", DESCS "1 of transparent huge pages\n", "so far: mprotect\n"},
     PAGE},
    {"thp, no guards", "thp", "none", NULL, ALL, "1", {FROM "thp\n", "so far: none\n", STACKS}, PAGE},
};

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void run_test(const struct test *t)
{
    static char text[1 << 16];

    set("ABT_MEM_LP_ALLOC", t->policy);
    set("ABT_STACK_OVERFLOW_CHECK", t->guard);
    set("ABT_HUGE_PAGE_SIZE", t->huge_page_size);
    set("TEST_HUGE_MAPS", t->huge_maps);
    set("TEST_HAS_THP", t->has_thp);
    int status = run_child("print", text, sizeof(text));
    is_int(status, 0, "%s: it works, twice", t->name);
    for (int i = 0; i < 3 && t->expect[i]; i++) {
        if (!ok(strstr(text, t->expect[i]) != NULL, "%s: \"%.*s\" is told", t->name, (int)strcspn(t->expect[i], "\n"),
                t->expect[i]))
            fprintf(stderr, "%s", text);
    }
    if (t->guard && !strcmp(t->guard, "none"))
        return;
    status = run_child("overflow", text, sizeof(text));
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ok((sig == SIGSEGV && t->guard_got & PAGE) || (sig == SIGABRT && t->guard_got & CANARY),
       "%s: an overflow is found by a %s", t->name, sig == SIGSEGV ? "page" : "canary");
    ok(strstr(text, "stack overflow in ULT") != NULL, "%s: and reported", t->name);
}

int main(int argc, char **argv)
{
    if (CANNOT_ANSWER)
        skip_all("a sanitizer has these calls");
    if (is_emulated())
        skip_all("an emulator cannot start the program again");
    if (argc > 1)
        return child(argv[1]);
    program = argv[0];
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        run_test(&tests[i]);
    return done_testing();
}
