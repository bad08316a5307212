/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each public function is called in a blocking region, where the caller counts as an external thread: it gives what it
 * gives to one, and the library works on. A function of the headers without a row here is called with a null handle, if
 * its first parameter is a handle; otherwise the test fails.
 */
#include <dlfcn.h>

#include "region_pools.h"
#include "region_streams.h"
#include "region_sync.h"
#include "region_units.h"
#include "watchdog.h"

/* --- The headers --- */

/* Whether the text begins with the name of one of our functions, and how long that is. */
static size_t name_at(const char *text)
{
    return strncmp(text, "ABT_", 4) == 0 || strncmp(text, "ABTX_", 5) == 0
               ? strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789")
               : 0;
}

static bool has_row(const char *name, size_t size)
{
    const struct row *row = first_row;
    while (row && (strncmp(row->name, name, size) != 0 || row->name[size]))
        row = row->next;
    return row != NULL;
}

/* A row for a function that returns a code and begins with a handle, which is null. False: it is another function. */
static bool add_row(const char *declaration, const char *name, size_t size)
{
    if (strncmp(declaration, "int ", 4) || strncmp(name + size, "(ABT", 4))
        return false;
    size_t handle = name_at(name + size + 1);
    if (strncmp(name + size + 1 + handle, " *", 2) == 0)
        return false;
    struct row *row = calloc(1, sizeof(*row));
    char *copy = strndup(name, size);
    row->name = copy;
    row->function = dlsym(RTLD_DEFAULT, copy);
    if (!row->function)
        return false;
    *last_row = row;
    last_row = &row->next;
    return true;
}

/* Looks at the declaration that ends with this mark: its first name that is followed by a bracket. */
static bool is_tried(const char *begin, const char *mark)
{
    const char *at = mark;
    while (at > begin && at[-1] != ';' && at[-1] != '/' && at[-1] != '}')
        at--;
    at += strspn(at, "\n ");
    for (const char *declaration = at; at < mark; at++) {
        size_t size = name_at(at);
        if (size > 0 && at[size] == '(') {
            bool has = has_row(at, size) || add_row(declaration, at, size);
            if (!has)
                diag("%.*s has no row", (int)size, at);
            return has;
        }
        at += size;
    }
    return true; /* the definition of the mark */
}

static void test_header(const char *path)
{
    static const char mark[] = "ABT_API_PUBLIC;";
    FILE *file = fopen(path, "r");
    size_t size = 0, num = 0, tried = 0;
    char *text = NULL;

    if (!file || getdelim(&text, &size, '\0', file) < 0) {
        skip(1, "every function of %s has a row: it is not here", path);
    } else {
        for (const char *at = text; (at = strstr(at, mark)); at++, num++)
            tried += is_tried(text, at);
        ok(num > 0 && tried == num, "each of %zu functions of %s has a row", num, path);
    }
    if (file)
        fclose(file);
    free(text);
}

/* --- Callers --- */

struct answer {
    const struct row *row;
    bool in_region;
    int code, begin, end;
    atomic_bool done;
};

static int call(const struct row *row)
{
    int (*function)(void *, void *, void *, void *, void *, void *) = NULL;

    if (!row->function)
        return row->call();
    memcpy(&function, &row->function, sizeof(function));
    return function(NULL, NULL, NULL, NULL, NULL, NULL);
}

static void call_row(void *arg)
{
    struct answer *answer = arg;

    if (answer->in_region)
        answer->begin = ABTX_blocking_begin();
    answer->code = call(answer->row);
    if (answer->in_region)
        answer->end = ABTX_blocking_end();
    atomic_store(&answer->done, true);
}

static void *call_natively(void *arg)
{
    call_row(arg);
    return NULL;
}

static void from_thread(struct answer *answer)
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, call_natively, answer));
    must(pthread_join(thread, NULL));
}

/* Its stream is handed over. */
static void from_ult(struct answer *answer)
{
    ABT_thread thread = ult_in(world.second_pool, call_row, answer);
    must(ABT_thread_free(&thread));
}

/* Its stream waits. */
static void from_tasklet(struct answer *answer)
{
    ABT_task task = task_in(world.second_pool, call_row, answer);
    must(ABT_task_free(&task));
}

static void from_primary(struct answer *answer)
{
    call_row(answer);
}

static void try_row(const struct row *row)
{
    static void (*const from[])(struct answer *) = {from_ult, from_tasklet, from_primary};
    struct answer natively = {.row = row};
    bool good = true;

    from_thread(&natively);
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]) && good; i++) {
        struct answer answer = {.row = row, .in_region = true};
        from[i](&answer);
        good = atomic_load(&answer.done) && answer.code == natively.code && answer.begin == ABT_SUCCESS &&
               answer.end == ABT_SUCCESS;
        if (!good)
            diag("caller %zu gets %d, an external thread %d", i, answer.code, natively.code);
    }
    ok(good, "%s in a region: as an external thread, %d", row->name, natively.code);
}

/* The two that are about regions. */
ROW(ABTX_blocking_begin, ABT_SUCCESS);
ROW(ABTX_blocking_end, ABT_SUCCESS);

static void test_nesting(void)
{
    must(ABTX_blocking_begin());
    ok_err(ABTX_blocking_begin(), ABT_ERR_INV_THREAD);
    ok_abt(ABTX_blocking_end());
    ok_err(ABTX_blocking_end(), ABT_ERR_INV_THREAD);
}

int main(void)
{
    need_checks();
    watchdog_begin(0);
    test_header(TEST_SOURCE "/include/abt.h.in");
    test_header(TEST_SOURCE "/include/abt_fork.h");
    must(ABT_init(0, NULL));
    world_init(false);
    for (const struct row *row = first_row; row; row = row->next)
        try_row(row);
    test_nesting();
    world_fini(false);
    while (ABT_initialized() == ABT_SUCCESS)
        must(ABT_finalize());
    return done_testing();
}
