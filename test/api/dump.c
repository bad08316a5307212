/* SPDX-License-Identifier: BSD-3-Clause */
/* A thousand ULTs, nine hundred of them blocked: the dumps show each of them, rightly, twice in a row, to any caller.
 */
#include <signal.h>
#include <unistd.h>

#include "common.h"
#include "emulated.h"
#include "thousand.h"

static bool traces; /* the build has back-traces */

/* --- Entries --- */

struct entries {
    int num, right; /* all ULTs but the one that prints; those that are as they should be */
    int twice;
    bool seen[ALL];
};

static int index_of(void *unit)
{
    for (int i = 0; i < ALL; i++) {
        if ((void *)units[i] == unit)
            return i;
    }
    return -1;
}

/* The text up to the next entry. */
static bool has_before(const char *at, const char *end, const char *what)
{
    const char *found = strstr(at, what);
    return found && found < end;
}

static bool is_right(int i, const char *at, const char *end, bool with_stacks)
{
    const struct role *role = &roles[i < BLOCKED ? i / EACH : 0];
    bool blocked = i < BLOCKED; /* of the others there is no role */
    char text[128];
    ABT_unit_id id;
    int pool_id;

    must(ABT_thread_get_id(units[i], &id));
    must(ABT_pool_get_id(blocked ? busy_pool : idle_pool, &pool_id));
    snprintf(text, sizeof(text), "ULT %p (id %llu): %s, function %p ", (void *)units[i], (unsigned long long)id,
             blocked ? "BLOCKED" : "READY", (void *)(uintptr_t)(blocked ? role->func : thousand_idle));
    if (strncmp(at, text, strlen(text)) != 0)
        return false;
    snprintf(text, sizeof(text), ", pool %d", pool_id);
    if (!has_before(at, end, text))
        return false;
    if (!blocked)
        return !has_before(at, end, "  waits for");
    const void *object = object_of(i / EACH, i % EACH);
    int length = snprintf(text, sizeof(text), "\n  waits for %s", role->wait);
    if (object)
        snprintf(text + length, sizeof(text) - (size_t)length, " %p", object);
    return has_before(at, end, text) && (!with_stacks || !traces || has_before(at, end, "    #1 "));
}

static void look_at(const char *text, bool with_stacks, struct entries *entries)
{
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        void *unit;
        if (sscanf(at, "ULT %p", &unit) != 1)
            continue;
        int i = index_of(unit);
        if (i < 0)
            continue;
        const char *end = strstr(at, "\nULT "), *last = strstr(at, "\n====");
        end = last && (!end || last < end) ? last : end ? end : at + strlen(at);
        entries->num++;
        entries->twice += entries->seen[i];
        entries->seen[i] = true;
        bool right = is_right(i, at, end, with_stacks);
        if (!right && entries->right == entries->num - 1)
            fprintf(stderr, "not right, of role %s: %.*s\n", i < BLOCKED ? roles[i / EACH].name : "ready",
                    (int)(end - at), at);
        entries->right += right;
    }
}

static void check_text(const char *what, const char *text, bool with_stacks)
{
    struct entries entries = {0};

    look_at(text, with_stacks, &entries);
    ok(entries.num == ALL && entries.right == ALL && entries.twice == 0, "%s: %d entries, %d right, %d twice", what,
       entries.num, entries.right, entries.twice);
}

/* --- Who prints --- */

static int rounds(void)
{
    return is_emulated() ? 1 : 2;
}

static void print_streams(enum caller who, void *arg)
{
    for (int i = 0; i < rounds(); i++) {
        char *text = NULL;
        size_t size;
        FILE *fp = open_memstream(&text, &size);
        if (!fp)
            bail_out("open_memstream");
        must(ABT_info_print_all_xstreams(fp));
        fclose(fp);
        check_text(caller_names[who], text, false);
        free(text);
    }
}

struct dump {
    FILE *fp;
    enum caller who;
    atomic_int calls;
};

/* In the callback, which runs on a scheduler while all streams are halted, it prints once more. */
static void dump_done(ABT_bool timed_out, void *arg)
{
    struct dump *dump = arg;
    print_streams(dump->who, NULL);
    atomic_fetch_add(&dump->calls, 1);
}

static void trigger(enum caller who, void *arg)
{
    struct dump *dump = arg;
    must(ABT_info_trigger_print_all_thread_stacks(dump->fp, -1.0, dump_done, dump));
}

static void test_triggered(enum caller who)
{
    for (int i = 0; i < rounds(); i++) {
        char *text = NULL, what[64];
        size_t size;
        struct dump dump = {.fp = open_memstream(&text, &size), .who = who};
        if (!dump.fp)
            bail_out("open_memstream");
        call_as(who, trigger, &dump);
        wait_for(atomic_load(&dump.calls) == 1);
        fclose(dump.fp);
        snprintf(what, sizeof(what), "stacks, asked for by %s", caller_names[who]);
        check_text(what, text, true);
        free(text);
    }
}

static void print_thread(ABT_thread thread, const char *state, const char *wait)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        bail_out("open_memstream");
    must(ABT_info_print_thread(fp, thread));
    must(ABT_info_print_thread_stack(fp, thread));
    fclose(fp);
    if (!ok(strstr(text, state) && strstr(text, wait), "print_thread: %s, %s", state, wait))
        fprintf(stderr, "%s", text);
    free(text);
}

/* --- By the signal, to stderr --- */

static char signal_text[1 << 22];

/* Reads what stderr is given until there have been so many ends of dumps. */
static void read_dumps(int fd, int num)
{
    size_t size = 0;
    for (const char *at = signal_text; num > 0;) {
        ssize_t got = read(fd, signal_text + size, sizeof(signal_text) - 1 - size);
        if (got <= 0)
            bail_out("read");
        size += (size_t)got;
        signal_text[size] = '\0';
        for (const char *end; (end = strstr(at, "==== end of")) && strchr(end, '\n'); num--)
            at = end + 1;
    }
}

static void test_signal(void)
{
    int fds[2], before = dup(STDERR_FILENO);

    if (pipe(fds) || dup2(fds[1], STDERR_FILENO) < 0)
        bail_out("pipe");
    raise(SIGUSR1);
    raise(SIGUSR1);
    read_dumps(fds[0], 2); /* the primary stream looks at no events meanwhile */
    dup2(before, STDERR_FILENO);
    char *second = strstr(signal_text, "==== end of");
    if (!second)
        bail_out("no end");
    *second++ = '\0';
    check_text("by the signal", signal_text, true);
    check_text("by the signal, again", second, true);
    ok(strstr(signal_text, "main scheduler") != NULL, "schedulers are shown, too");
    ok(strstr(signal_text, "primary ULT") != NULL, "and the primary ULT");
    close(fds[0]);
    close(fds[1]);
    close(before);
}

int main(void)
{
    ABT_xstream stream;
    ABT_pool shared;
    ABT_bool enabled;

    setenv("ABT_PRINT_RAW_STACK", "0", 1);
    setenv("ABT_DUMP_SIGNAL", "USR1", 1);
    must(ABT_init(0, NULL));
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND, &enabled));
    traces = enabled == ABT_TRUE;
    must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &shared));
    must(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &shared, ABT_SCHED_CONFIG_NULL, &stream));
    make_thousand(shared, new_pool(ABT_POOL_FIFO, ABT_FALSE));
    for (int i = 0; i < ALL; i++) {
        ABT_unit_id id;
        must(ABT_thread_get_id(units[i], &id));
    }
    call_as_each(print_streams, NULL);
    for (int who = 0; who <= EXTERNAL; who++)
        test_triggered((enum caller)who);
    for (int role = 0; role < ROLES; role++)
        print_thread(units[role * EACH], "BLOCKED", roles[role].wait);
    print_thread(units[BLOCKED], "READY", traces ? "thousand_idle" : "function");
    test_signal();
    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL, &enabled));
    if (enabled != ABT_TRUE)
        return done_testing(); /* those that sleep do so for long */
    free_thousand();
    must(ABT_xstream_free(&stream));
    must(ABT_pool_free(&idle_pool));
    must(ABT_finalize());
    return done_testing();
}
