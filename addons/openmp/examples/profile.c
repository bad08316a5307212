/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where does an OpenMP program spend its time? A tool that counts regions, waits and tasks by where the program makes
 * them, and prints on stderr at its end how often each came and how long its threads were there.
 *
 *   cc -O2 -shared -fPIC -I../src/ompt -o profile.so profile.c
 *   OMP_TOOL_LIBRARIES=./profile.so abt-run --openmp ./program
 *
 * Where it is installed, ompt.h is beside it. `addr2line -fe FILE OFFSET` says the line of a place that has no name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "ompt.h"

enum kind { REGION, BARRIER, TASKWAIT, TASKGROUP, TASK };
static const char *const kinds[] = {"region", "barrier", "taskwait", "taskgroup", "task"};

/* A row is found by what it is and where the program has called. Rows never go. */
enum { NUM_ROWS = 1024, DEPTH = 256 };
static struct row {
    _Atomic(uintptr_t) key;
    const void *at;
    enum kind kind;
    _Atomic(uint64_t) count, ns;
} rows[NUM_ROWS];

/* What the thread does now: waits and tasks begin upon each other. Time of inner ones is not that of outer ones. */
static _Thread_local struct {
    struct row *row;
} nested[DEPTH];
static _Thread_local unsigned depth;
static _Thread_local uint64_t since;

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct row *find_row(enum kind kind, const void *at)
{
    uintptr_t key = ((uintptr_t)at << 3 | kind) + 1;
    for (size_t i = key * 0x9e3779b97f4a7c15 >> 54, n = 0; n < NUM_ROWS; i = (i + 1) % NUM_ROWS, n++) {
        uintptr_t found = 0;
        if (atomic_compare_exchange_strong(&rows[i].key, &found, key)) {
            rows[i].at = at;
            rows[i].kind = kind;
        }
        if (found == 0 || found == key)
            return &rows[i];
    }
    return &rows[0]; /* too many places: they share one */
}

/* The time since the last change goes to what was open; `row` is opened, NULL: the last one is closed. */
static void change(struct row *row)
{
    uint64_t now = now_ns();
    if (depth > 0 && depth <= DEPTH && nested[depth - 1].row)
        atomic_fetch_add(&nested[depth - 1].row->ns, now - since);
    since = now;
    depth -= row == NULL && depth > 0;
    if (row && depth++ < DEPTH)
        nested[depth - 1].row = row;
}

static void on_region(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned members, int flags,
                      const void *at)
{
    (void)task, (void)frame, (void)members, (void)flags;
    region->ptr = find_row(REGION, at);
    atomic_fetch_add(&((struct row *)region->ptr)->count, 1);
}

static void on_member(int endpoint, ompt_data_t *region, ompt_data_t *task, unsigned members, unsigned num, int flags)
{
    (void)task, (void)members, (void)num;
    if (!(flags & ompt_task_initial))
        change(endpoint == ompt_scope_begin ? region->ptr : NULL);
}

static void on_wait(int kind, int endpoint, ompt_data_t *region, ompt_data_t *task, const void *at)
{
    (void)task;
    if (endpoint == ompt_scope_end) {
        change(NULL);
        return;
    }
    if (!at && region && region->ptr) /* a member that calls nothing at the end of its region */
        at = ((struct row *)region->ptr)->at;
    struct row *row = find_row(kind == ompt_sync_region_taskwait    ? TASKWAIT
                               : kind == ompt_sync_region_taskgroup ? TASKGROUP
                                                                    : BARRIER,
                               at);
    atomic_fetch_add(&row->count, 1);
    change(row);
}

static void on_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *created, int flags, int depends,
                      const void *at)
{
    (void)task, (void)frame, (void)flags, (void)depends;
    created->ptr = find_row(TASK, at);
}

/* A task begins upon what waits, or ends and that goes on. */
static void on_switch(ompt_data_t *prior, int status, ompt_data_t *next)
{
    bool begins = status == ompt_task_switch || status == ompt_task_yield;
    if (begins)
        atomic_fetch_add(&((struct row *)next->ptr)->count, 1);
    if (begins || next)
        change(begins ? next->ptr : NULL);
    (void)prior;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = ((const struct row *)left)->ns, b = ((const struct row *)right)->ns;
    return (a < b) - (a > b);
}

/* A file as a whole, until the program ends. NULL: it cannot be read. */
static const char *map_file(const char *name)
{
    struct stat stat;
    void *map = MAP_FAILED;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &stat) == 0)
        map = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0)
        close(file);
    return map == MAP_FAILED ? NULL : map;
}

/*
 * Names the function of a place by the table of symbols of its file. dladdr knows only what others may link with, and
 * the functions that compilers make of constructs are local.
 */
static void find_local(const void *at, Dl_info *info)
{
    const char *map = map_file(info->dli_fname);
    if (!map)
        return;
    const ElfW(Ehdr) *head = (const void *)map;
    const ElfW(Shdr) *sections = (const void *)(map + head->e_shoff);
    uintptr_t base = head->e_type == ET_DYN ? (uintptr_t)info->dli_fbase : 0;
    for (int i = 0; i < head->e_shnum; i++) {
        const ElfW(Sym) *symbols = (const void *)(map + sections[i].sh_offset);
        for (size_t n = 0; sections[i].sh_type == SHT_SYMTAB && n < sections[i].sh_size / sizeof(*symbols); n++)
            if ((symbols[n].st_info & 15) == STT_FUNC &&
                (uintptr_t)at - base - symbols[n].st_value < symbols[n].st_size) {
                info->dli_sname = map + sections[sections[i].sh_link].sh_offset + symbols[n].st_name;
                info->dli_saddr = (void *)(base + symbols[n].st_value);
            }
    }
}

static void print_rows(ompt_data_t *tool)
{
    (void)tool;
    qsort(rows, NUM_ROWS, sizeof(rows[0]), compare);
    fprintf(stderr, "%-10s %10s %12s  %s\n", "profile", "times", "seconds", "where");
    for (int i = 0; i < NUM_ROWS; i++) {
        Dl_info info = {0};
        if (rows[i].count == 0)
            continue;
        if (dladdr(rows[i].at, &info) && !info.dli_sname)
            find_local(rows[i].at, &info);
        const char *name = info.dli_sname ? info.dli_sname : info.dli_fname;
        const char *base = info.dli_sname ? info.dli_saddr : info.dli_fbase;
        fprintf(stderr, "%-10s %10llu %12.6f  %s+%#lx\n", kinds[rows[i].kind], (unsigned long long)rows[i].count,
                (double)rows[i].ns * 1e-9, name ? name : "?", (unsigned long)((const char *)rows[i].at - base));
    }
}

static int start(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
{
    (void)device, (void)tool;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_parallel_begin, (ompt_callback_t)on_region);
    set(ompt_callback_implicit_task, (ompt_callback_t)on_member);
    set(ompt_callback_sync_region_wait, (ompt_callback_t)on_wait);
    set(ompt_callback_task_create, (ompt_callback_t)on_create);
    set(ompt_callback_task_schedule, (ompt_callback_t)on_switch);
    return 1;
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *library)
{
    static ompt_start_tool_result_t result = {start, print_rows, {0}};
    (void)version, (void)library;
    return &result;
}
