/* SPDX-License-Identifier: BSD-3-Clause */
/* ABT_xstream_*affinity, *cpubind and ABT_SET_AFFINITY, in builds that bind streams to CPUs and in those that do not.
 */
#include <sched.h>

#include "common.h"

enum { MOST = 1024 };

struct cpus {
    int num;
    int ids[MOST];
};

static struct cpus cpus_from(const cpu_set_t *mask)
{
    struct cpus cpus = {0};

    for (int cpu = 0; cpu < CPU_SETSIZE && cpus.num < MOST; cpu++) {
        if (CPU_ISSET(cpu, mask))
            cpus.ids[cpus.num++] = cpu;
    }
    return cpus;
}

/* What the system says of the calling native thread. */
static struct cpus native_cpus(void)
{
    cpu_set_t mask;

    must(pthread_getaffinity_np(pthread_self(), sizeof(mask), &mask));
    return cpus_from(&mask);
}

static void bind_native(const int *ids, int num)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    for (int i = 0; i < num; i++)
        CPU_SET(ids[i], &mask);
    must(pthread_setaffinity_np(pthread_self(), sizeof(mask), &mask));
}

static struct cpus cpus_of(ABT_xstream xstream)
{
    struct cpus cpus = {0};

    must(ABT_xstream_get_affinity(xstream, MOST, cpus.ids, &cpus.num));
    return cpus;
}

static bool same(const struct cpus *a, const struct cpus *b)
{
    return a->num == b->num && !memcmp(a->ids, b->ids, (size_t)a->num * sizeof(a->ids[0]));
}

static bool is_only(ABT_xstream xstream, int cpu)
{
    struct cpus cpus = cpus_of(xstream);

    return cpus.num == 1 && cpus.ids[0] == cpu;
}

static bool is_enabled(void)
{
    ABT_bool enabled = -1;

    must(ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_AFFINITY, &enabled));
    return enabled == ABT_TRUE;
}

/* --- Not built in, or switched off --- */

static void test_off(enum caller who, void *arg)
{
    ABT_xstream xstream = *(ABT_xstream *)arg;
    int cpu = 77, cpus[1] = {77}, num = 77;

    ok_err(ABT_xstream_set_cpubind(xstream, 0), ABT_ERR_FEATURE_NA);
    ok_err(ABT_xstream_get_cpubind(xstream, &cpu), ABT_ERR_FEATURE_NA);
    ok_err(ABT_xstream_set_affinity(xstream, 0, NULL), ABT_ERR_FEATURE_NA);
    ok_err(ABT_xstream_get_affinity(xstream, 1, cpus, &num), ABT_ERR_FEATURE_NA);
    ok(cpu == 77 && cpus[0] == 77 && num == 77, "nothing is stored");
}

/* With the affinity off nobody is moved. */
static void test_untouched(const struct cpus *before)
{
    struct cpus now_native = native_cpus();
    ABT_xstream xstream;

    ok(same(before, &now_native), "the initialising thread keeps its CPUs");
    xstream = own_xstream();
    call_as_each(test_off, &xstream);
}

static void test_switched_off(const struct cpus *before)
{
    const char *const words[] = {"no", "N", "False", "oFF"};

    for (int i = 0; i < 4; i++) {
        setenv("ABT_SET_AFFINITY", words[i], 1);
        must(ABT_init(0, NULL));
        ok(!is_enabled(), "switched off by %s", words[i]);
        if (i == 0)
            test_untouched(before);
        must(ABT_finalize());
    }
    unsetenv("ABT_SET_AFFINITY");
}

/* --- On --- */

static void check_default(ABT_xstream xstream, int cpu, const char *what)
{
    ok(is_only(xstream, cpu), "%s is bound to CPU %d", what, cpu);
}

/* Bound to no CPU in particular: all that the process had, of which the first is told. */
static void bind_to_all(ABT_xstream xstream, const struct cpus *allowed)
{
    struct cpus after;
    int cpu = 77;

    must(ABT_xstream_set_affinity(xstream, 0, NULL));
    after = cpus_of(xstream);
    ok(same(allowed, &after), "no CPU given: all that the process had");
    ok_abt(ABT_xstream_get_cpubind(xstream, &cpu));
    is_int(cpu, allowed->ids[0], "the first of them");
}

/* Streams and their ranks, with the process allowed to use the given CPUs. */
static void test_round_robin(const struct cpus *allowed)
{
    enum { STREAMS = 5 };
    ABT_xstream streams[STREAMS];
    struct cpus after;

    must(ABT_init(0, NULL));
    ok(is_enabled(), "the affinity is on");
    check_default(own_xstream(), allowed->ids[0], "the primary ES");
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = new_xstream();
        check_default(streams[i], allowed->ids[(i + 1) % allowed->num], "a secondary ES");
    }
    bind_to_all(streams[0], allowed);
    ok_abt(ABT_xstream_set_rank(streams[0], 1));
    check_default(streams[0], allowed->ids[1 % allowed->num], "the same rank again");
    ok_abt(ABT_xstream_set_rank(streams[0], 1000));
    check_default(streams[0], allowed->ids[1000 % allowed->num], "another rank");
    for (int i = 0; i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    after = native_cpus();
    ok(same(allowed, &after), "the initialising thread gets its CPUs back");
}

static void test_set(enum caller who, void *arg)
{
    const struct cpus *allowed = arg;
    ABT_xstream xstream = new_xstream();
    int last = allowed->ids[allowed->num - 1], cpu = -1, num = -1, few[2] = {-7, -7};
    struct cpus all;

    ok_abt(ABT_xstream_set_cpubind(xstream, last));
    ok(is_only(xstream, last), "bound by a %s", caller_names[who]);
    ok_abt(ABT_xstream_get_cpubind(xstream, &cpu));
    is_int(cpu, last, "it says so");
    ok_err(ABT_xstream_set_cpubind(xstream, -1), ABT_ERR_SYS);
    ok_err(ABT_xstream_set_affinity(xstream, 1, (int[]){-1}), ABT_ERR_SYS);
    ok(is_only(xstream, last), "what the system refuses changes nothing");
    ok_abt(ABT_xstream_set_affinity(xstream, allowed->num, (int *)allowed->ids));
    all = cpus_of(xstream);
    ok(same(allowed, &all), "a set");
    ok_abt(ABT_xstream_get_affinity(xstream, 1, few, &num));
    ok(num == allowed->num && few[0] == allowed->ids[0] && few[1] == -7, "no more than there is room for");
    ok_abt(ABT_xstream_get_affinity(xstream, 0, NULL, &num));
    is_int(num, allowed->num, "only their number");
    ok_abt(ABT_xstream_get_cpubind(xstream, &cpu));
    is_int(cpu, allowed->ids[0], "the first of several");
    must(ABT_xstream_join(xstream));
    ok_abt(ABT_xstream_set_cpubind(xstream, last));
    ok(is_only(xstream, last), "a terminated one");
    must(ABT_xstream_free(&xstream));
}

/* The list's ids index the CPUs of the process. */
static void test_list(const char *list, const struct cpus *allowed, int primary, int secondary)
{
    ABT_xstream xstream;

    setenv("ABT_SET_AFFINITY", list, 1);
    diag("ABT_SET_AFFINITY=%s", list);
    must(ABT_init(0, NULL));
    check_default(own_xstream(), allowed->ids[primary % allowed->num], "the primary ES");
    xstream = new_xstream();
    check_default(xstream, allowed->ids[secondary % allowed->num], "the secondary ES");
    must(ABT_xstream_free(&xstream));
    must(ABT_finalize());
    setenv("ABT_SET_AFFINITY", "yes", 1);
}

/* A CPU that no machine here has, and that the kernel passes over if there are others. */
static void test_absent(ABT_xstream xstream, const struct cpus *allowed)
{
    enum { ABSENT = MOST - 1 };
    int mixed[] = {ABSENT, allowed->ids[0]};

    ok_abt(ABT_xstream_set_affinity(xstream, 2, mixed));
    ok(is_only(xstream, allowed->ids[0]), "a CPU that is not there is passed over");
    ok_err(ABT_xstream_set_affinity(xstream, 1, mixed), ABT_ERR_SYS);
    ok(is_only(xstream, allowed->ids[0]), "alone it is refused");
}

/* The process may use one CPU. No list leads out of it; what is asked for by number is the kernel's to judge. */
static void test_restricted(const struct cpus *all)
{
    static const char *const lists[] = {"5:2", "-1", "{0,1,2}:5:7", "{0:64}", "0:4:1", "1048575", "0"};
    struct cpus one = {.num = 1, .ids = {all->ids[all->num - 1]}}, after;
    ABT_xstream xstream;

    bind_native(one.ids, 1);
    test_round_robin(&one);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        test_list(lists[i], &one, 0, 0);
    must(ABT_init(0, NULL));
    /* The restriction is lifted, then moved, behind the library's back. */
    bind_native(all->ids, all->num);
    xstream = new_xstream();
    check_default(xstream, one.ids[0], "an ES that is made after a change");
    bind_native(all->ids, 1);
    ok_abt(ABT_xstream_set_rank(xstream, 7));
    check_default(xstream, one.ids[0], "one that gets another rank");
    ok_abt(ABT_xstream_set_affinity(xstream, all->num, (int *)all->ids));
    after = cpus_of(xstream);
    ok(same(all, &after), "more than the process had");
    test_absent(xstream, all);
    must(ABT_xstream_free(&xstream));
    must(ABT_finalize());
    after = native_cpus();
    ok(same(&one, &after), "the initialising thread gets back what it had at ABT_init");
    bind_native(all->ids, all->num);
}

/* --- Spare native threads --- */

struct region {
    atomic_bool inside, may_end;
};

static void be_in_region(void *arg)
{
    struct region *r = arg;

    must(ABTX_blocking_begin());
    atomic_store(&r->inside, true);
    while (!atomic_load(&r->may_end))
        nap_ms(0.1);
    must(ABTX_blocking_end());
}

/* A unit of the stream is in a region, so that a spare thread carries the stream. */
static ABT_thread enter_region(ABT_xstream xstream, struct region *r)
{
    *r = (struct region){false, false};
    ABT_thread thread = ult_in(pool_of(xstream), be_in_region, r);
    wait_for(atomic_load(&r->inside));
    return thread;
}

static void leave_region(struct region *r, ABT_thread thread)
{
    atomic_store(&r->may_end, true);
    must(ABT_thread_free(&thread));
}

static void note_cpus(void *arg)
{
    *(struct cpus *)arg = native_cpus();
}

/* Whether units of the stream run on these CPUs only. */
static bool runs_on(ABT_xstream xstream, const struct cpus *cpus)
{
    struct cpus found;

    ABT_thread thread = ult_in(pool_of(xstream), note_cpus, &found);
    must(ABT_thread_free(&thread));
    return same(&found, cpus);
}

/* A stream is bound anew while a spare thread carries it, or after that: the spare thread follows. */
static void test_spare(const struct cpus *all)
{
    struct cpus one = {.num = 1, .ids = {all->ids[all->num - 1]}};
    ABT_xstream xstream = new_xstream();
    struct region r;
    ABT_thread thread;

    must(ABT_xstream_set_affinity(xstream, all->num, (int *)all->ids));
    for (int i = 0; i < 2; i++) {
        const struct cpus *before = i == 0 ? all : &one, *after = i == 0 ? &one : all;
        thread = enter_region(xstream, &r);
        ok(runs_on(xstream, before), "a spare thread has the CPUs of the stream");
        must(ABT_xstream_set_affinity(xstream, after->num, (int *)after->ids));
        ok(soon(runs_on(xstream, after)), "it follows when the stream is bound anew meanwhile");
        leave_region(&r, thread);
        ok(runs_on(xstream, after), "so does the stream's own thread");
    }
    must(ABT_xstream_set_cpubind(xstream, one.ids[0]));
    thread = enter_region(xstream, &r);
    ok(runs_on(xstream, &one),
       "a spare thread that was idle when the stream was bound has followed before it runs a unit");
    leave_region(&r, thread);
    must(ABT_xstream_free(&xstream));
}

/* --- On, and nothing is bound by default --- */

static void is_unbound(ABT_xstream xstream, const struct cpus *all, const char *what)
{
    int cpu = 77, num = 77;

    ok(runs_on(xstream, all), "%s may run on all CPUs", what);
    ok_err(ABT_xstream_get_cpubind(xstream, &cpu), ABT_ERR_FEATURE_NA);
    ok_err(ABT_xstream_get_affinity(xstream, 1, &cpu, &num), ABT_ERR_FEATURE_NA);
    ok(cpu == 77 && num == 77, "nothing is stored");
}

/* The primary ES is bound, to the last CPU: others that are made then are not. */
static void test_one_bound(const struct cpus *all)
{
    ABT_xstream xstream;
    int last = all->ids[all->num - 1];

    ok_abt(ABT_xstream_set_cpubind(own_xstream(), last));
    check_default(own_xstream(), last, "the primary ES, when that is asked for,");
    ok(is_enabled(), "the affinity is on, since one is bound");
    xstream = new_xstream();
    is_unbound(xstream, all, "an ES that a bound one makes");
    ok_abt(ABT_xstream_set_rank(xstream, 9));
    is_unbound(xstream, all, "one that gets another rank");
    bind_to_all(xstream, all);
    ok_abt(ABT_xstream_set_cpubind(xstream, last));
    ok_abt(ABT_xstream_set_rank(xstream, 10));
    check_default(xstream, last, "one that has been bound, after another rank,");
    must(ABT_xstream_free(&xstream));
}

static void test_not_bound(const char *setting, const struct cpus *all)
{
    struct cpus one = {.num = 1, .ids = {all->ids[0]}}, after;
    ABT_xstream xstream;

    setenv("ABT_SET_AFFINITY", setting, 1);
    diag("ABT_SET_AFFINITY=%s", setting);
    must(ABT_init(0, NULL));
    ok(!is_enabled(), "the affinity is not on, as nothing is bound");
    is_unbound(own_xstream(), all, "the primary ES");
    xstream = new_xstream();
    is_unbound(xstream, all, "a secondary ES");
    test_one_bound(all);
    must(ABT_xstream_free(&xstream));
    must(ABT_finalize());
    after = native_cpus();
    ok(same(all, &after), "the initialising thread gets its CPUs back");
    must(ABT_init(0, NULL));
    bind_native(one.ids, 1);
    must(ABT_finalize());
    after = native_cpus();
    ok(same(&one, &after), "it keeps those that the program has chosen for it");
    bind_native(all->ids, all->num);
    unsetenv("ABT_SET_AFFINITY");
}

/* What happens when nothing is asked for is chosen when the library is configured. */
static void test_default(const struct cpus *all)
{
    must(ABT_init(0, NULL));
    bool binds = is_enabled();
    must(ABT_finalize());
    diag("streams are bound by default: %s", binds ? "yes" : "no");
    if (binds) {
        test_list("rubbish", all, 0, 1);
        test_list("", all, 0, 1);
    } else {
        test_not_bound("rubbish", all);
        test_not_bound("", all);
    }
    unsetenv("ABT_SET_AFFINITY");
}

/*
 * A program that binds its streams, one to each CPU in turn, if the query says that they are bound: each gives what it
 * has been bound to, as a set and as a CPU. Returns whether the query says so.
 */
static bool bind_if_on(const struct cpus *all)
{
    enum { STREAMS = 4 };
    ABT_xstream streams[STREAMS];

    must(ABT_init(0, NULL));
    bool on = is_enabled();
    for (int i = 0; on && i < STREAMS; i++) {
        int cpu = all->ids[i % all->num], got = -1;
        streams[i] = new_xstream();
        ok_abt(ABT_xstream_set_affinity(streams[i], all->num, (int *)all->ids));
        struct cpus set = cpus_of(streams[i]);
        ok(same(all, &set), "the set that it has got");
        ok_abt(ABT_xstream_set_cpubind(streams[i], cpu));
        ok(ABT_xstream_get_cpubind(streams[i], &got) == ABT_SUCCESS && got == cpu && is_only(streams[i], cpu),
           "the CPU that it has got");
    }
    for (int i = 0; on && i < STREAMS; i++)
        must(ABT_xstream_free(&streams[i]));
    must(ABT_finalize());
    return on;
}

static void test_asks_first(const struct cpus *all)
{
    ok(bind_if_on(all), "the affinity is on where ABT_SET_AFFINITY asks for it");
    setenv("ABT_SET_AFFINITY", "no", 1);
    ok(!bind_if_on(all), "and off where it says no");
    setenv("ABT_SET_AFFINITY", "yes", 1);
}

static void test_on(const struct cpus *all)
{
    test_default(all);
    setenv("ABT_SET_AFFINITY", "yes", 1);
    test_round_robin(all);
    test_asks_first(all);
    must(ABT_init(0, NULL));
    call_as_each(test_set, (void *)all);
    test_spare(all);
    must(ABT_finalize());
    test_list("0", all, 0, 0);
    test_list("1,0", all, 1, 0);
    test_list("{3}:2:2", all, 3, 5);
    test_list("yes", all, 0, 1);
    test_restricted(all);
    test_switched_off(all);
}

int main(void)
{
    struct cpus before = native_cpus();
    bool can;

    unsetenv("ABT_SET_AFFINITY");
    unsetenv("ABT_ENV_SET_AFFINITY");
    must(ABT_init(0, NULL));
    can = can_bind();
    if (!can)
        test_untouched(&before);
    must(ABT_finalize());
    if (can)
        test_on(&before);
    else
        test_switched_off(&before);
    return done_testing();
}
