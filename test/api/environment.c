/* SPDX-License-Identifier: BSD-3-Clause */
/* What ABT_init says of the environment on stderr: each case in a child process. */
#include "child.h"
#include "common.h"

static char words[32768]; /* what the child has said on stderr */

static void (*before_init)(void); /* called by the child; NULL: nothing */

struct visit {
    int times;                   /* so often ABT_init and ABT_finalize */
    const char *const *settings; /* name, value, ... NULL */
};

static int visit(void *arg)
{
    const struct visit *v = arg;

    must(setenv("ABT_USE_LOG", "0", 1)); /* a log goes the same way */
    must(unsetenv("ABT_CHECK"));         /* the test may be run with these */
    must(unsetenv("ABT_TEST_SECONDS"));
    must(unsetenv("ABT_DELAYS_SEED"));
    must(unsetenv("ABT_FUZZ_SEED"));
    for (const char *const *s = v->settings; *s; s += 2)
        must(setenv(s[0], s[1], 1));
    if (before_init)
        before_init();
    for (int i = 0; i < v->times; i++) {
        must(ABT_init(0, NULL));
        must(ABT_finalize());
    }
    return 0;
}

/* Runs ABT_init and ABT_finalize so many times in a child with these variables, which end with NULL. */
static void run_child(int times, const char *const *settings)
{
    struct visit v = {times, settings};

    ok(child_run(visit, &v, words, sizeof(words)) == 0, "the library works");
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* says(text, name, value, ...): with these variables exactly this text is said. */
#define says(text, ...) (run_child(1, SETTINGS(__VA_ARGS__)), is_str(words, text, "what is said of %s", #__VA_ARGS__))

/* What is said with this variable begins so, and the line that it ends in, with the default, is the last one. */
static void begins(const char *text, const char *name, const char *value)
{
    run_child(1, SETTINGS(name, value));
    size_t len = strlen(text);
    const char *end = strncmp(words, text, len) == 0 ? strchr(words + len, '\n') : NULL;
    if (!ok(end && end[1] == '\0', "what is said of %s=%s begins with: %s", name, value, text))
        diag("it is: %s", words);
}

static void test_values(void)
{
    begins("libabt: ABT_STACK_OVERFLOW_CHECK=maybe is not understood, ", "ABT_STACK_OVERFLOW_CHECK", "maybe");
    begins("libabt: ABT_MEM_LP_ALLOC=mmap is not understood, mmap_", "ABT_MEM_LP_ALLOC", "mmap");
    begins("libabt: ABT_PRINT_RAW_STACK=never is not understood, ", "ABT_PRINT_RAW_STACK", "never");
    says("libabt: ABT_CHECK=sure is not understood, no is used\n", "ABT_CHECK", "sure");
    says("libabt: ABT_PRINT_CONFIG=2 is not understood, 0 is used\n", "ABT_PRINT_CONFIG", "2");
    says("libabt: ABT_SCHED_EVENT_FREQ=often is not understood, 50 is used\n", "ABT_SCHED_EVENT_FREQ", "often");
    says("libabt: ABT_SCHED_EVENT_FREQ=1e3 is understood in part, 1 is used\n", "ABT_SCHED_EVENT_FREQ", "1e3");
    says("libabt: ABT_KEY_TABLE_SIZE=0x10 is understood in part, 1 is used\n", "ABT_KEY_TABLE_SIZE", "0x10");
    says("libabt: ABT_THREAD_STACKSIZE=64kk is understood in part, 512 is used\n", "ABT_THREAD_STACKSIZE", "64kk");
    says("libabt: ABT_KEY_TABLE_SIZE=70000 is too large, 65536 is used\n", "ABT_KEY_TABLE_SIZE", "70000");
    says("libabt: ABT_ENV_CHECK=sure is not understood, no is used\n", "ABT_ENV_CHECK", "sure");
}

static void test_affinity(void)
{
    must(ABT_init(0, NULL));
    bool has_affinity = can_bind(), binds = has_feature(ABT_INFO_QUERY_KIND_ENABLED_AFFINITY);
    must(ABT_finalize());
    says(binds          ? "libabt: ABT_SET_AFFINITY=all is not understood, each CPU in turn is used\n"
         : has_affinity ? "libabt: ABT_SET_AFFINITY=all is not understood, none is used\n"
                        : "libabt: ABT_SET_AFFINITY has no effect with --disable-affinity\n",
         "ABT_SET_AFFINITY", "all");
    says(has_affinity ? "" : "libabt: ABT_SET_AFFINITY has no effect with --disable-affinity\n", "ABT_SET_AFFINITY",
         "{0:1}");
    says(has_affinity ? "" : "libabt: ABT_ENV_SET_AFFINITY has no effect with --disable-affinity\n",
         "ABT_ENV_SET_AFFINITY", "yes");
    says("", "ABT_SET_AFFINITY", "no", "ABT_ENV_SET_AFFINITY", "yes");
}

/* What a build has not got is told of values that ask for it. */
static void test_builds(void)
{
    bool built;

    want_tool();
    must(ABT_init(0, NULL));
    built = has_tool();
    must(ABT_finalize());
    unsetenv("ABT_TOOL");
    says("", "ABT_SCHED_SLEEP_NSEC", "7", "ABT_STATS", "no", "ABT_TRACE", "");
    if (!built)
        says("libabt: ABT_STATS has no effect with --disable-tool\n"
             "libabt: ABT_TRACE has no effect with --disable-tool\n",
             "ABT_STATS", "1", "ABT_TRACE", "./trace.json");
}

/* The child is in an empty directory, which stays so. */
static int leave_nothing(void *arg)
{
    static const char *const texts[] = {"0", "n", "No", "false", "OFF", "1", "y", "yes", "true", "on"};
    char dir[] = "/tmp/libabt-environment-XXXXXX";

    must(mkdtemp(dir) ? 0 : -1);
    must(chdir(dir));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        must(setenv("ABT_TRACE", texts[i], 1));
        must(ABT_init(0, NULL));
        must(ABT_finalize());
    }
    return rmdir(dir);
}

static void test_trace(void)
{
    is_int(child_run(leave_nothing, NULL, words, sizeof(words)), 0, "ABT_TRACE=no and ABT_TRACE=yes write no files");
    is_str(words, "libabt: ABT_TRACE=1 is not understood, none is used\n", "what is said of ABT_TRACE=1");
}

static void test_good_values(void)
{
    says("", "ABT_STACK_OVERFLOW_CHECK", "1");
    says("", "ABT_STACK_OVERFLOW_CHECK", "Off");
    says("", "ABT_STACK_OVERFLOW_CHECK", "MProtect", "ABT_THREAD_STACKSIZE", "64 KiB", "ABT_SCHED_STACKSIZE",
         "0x10000");
    says("", "ABT_MEM_LP_ALLOC", "MALLOC", "ABT_KEY_TABLE_SIZE", " 12 ", "ABT_USE_LOG", "n");
    says("", "ABT_SET_AFFINITY", "off", "ABT_CHECK", "no");
    /* The least is what is meant by these. */
    says("", "ABT_KEY_TABLE_SIZE", "0", "ABT_THREAD_STACKSIZE", "1", "ABT_MAX_NUM_XSTREAMS", "-1");
    says("", "ABT_STACK_OVERFLOW_CHECK", "", "ABT_KEY_TABLE_SIZE", "", "ABT_CHECK", "", "ABT_SET_AFFINITY", "",
         "ABT_PRINT_CONFIG", "");
}

static void test_names(void)
{
    says("libabt: ABT_STAST is no variable of the library\n", "ABT_STAST", "1", "ABT_PRINT_CONFIG", "1");
    says("libabt: ABT_ENV_CHEK is no variable of the library\n", "ABT_ENV_CHEK", "1", "ABT_PRINT_CONFIG", "1");
    says("libabt: ABT_CACHE_LINE_SIZE has no effect\n", "ABT_CACHE_LINE_SIZE", "128");
    says("libabt: ABT_MUTEX_MAX_WAKEUPS has no effect\n", "ABT_MUTEX_MAX_WAKEUPS", "2");
    says("", "ABT_STAST", "1", "ABT_SOMETHING", "2", "ABTCHECK", "2", "ABT_", "2", "ABT_A", "1");
}

static void test_once(void)
{
    run_child(3, SETTINGS("ABT_CHECK", "sure", "ABT_CACHE_LINE_SIZE", "128"));
    is_str(words,
           "libabt: ABT_CHECK=sure is not understood, no is used\n"
           "libabt: ABT_CACHE_LINE_SIZE has no effect\n",
           "what has been said is not said again");
}

/* Whether or not settings can be asked for before ABT_init, nothing is said then, and ABT_init says it. */
static void ask_first(void)
{
    int value;
    (void)!ABT_info_query_config(ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK, &value);
    fputs("ABT_init\n", stderr);
}

static void test_uninitialized(void)
{
    before_init = ask_first;
    begins("ABT_init\nlibabt: ABT_STACK_OVERFLOW_CHECK=maybe is not understood, ", "ABT_STACK_OVERFLOW_CHECK", "maybe");
    before_init = NULL;
}

int main(void)
{
    watchdog_begin(0);
    test_values();
    test_good_values();
    test_names();
    test_once();
    test_uninitialized();
    test_trace();
    test_builds(); /* the last ones: the library is up here, and what it says once has been said */
    test_affinity();
    return done_testing();
}
