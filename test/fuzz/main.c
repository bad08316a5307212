/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <time.h>

#include "tap.h"
#include "world.h"

static const char usage[] =
    "usage: fuzz [OPTION]...  random legal sequences of the whole interface\n"
    "  -s, --seed N         the first round's seed; otherwise by the time\n"
    "  -r, --rounds N       this number of rounds, whose seeds count up\n"
    "  -S, --seconds N      rounds for this time; otherwise ABT_TEST_SECONDS, or 2\n"
    "  -a, --actors N       units that a round begins with\n"
    "  -n, --steps N        steps of each\n"
    "  -t, --streams N      streams of a round; otherwise a random number\n"
    "  -o, --only NAME,...  only these kinds of steps or areas; -x, --without: not these; -l, --list: their names\n"
    "  -e, --keep-env       leaves the variables of the environment as they are\n"
    "  -v, --verbose        says what each round has\n"
    "The last line is ok, or the program aborts and prints the line that repeats what has failed.\n";

static struct {
    uint64_t seed;
    long rounds;
    double seconds;
    int actors, steps, streams;
    bool keep_env, verbose;
    char text[512]; /* those that the failing round needs, too */
} options = {.actors = 6, .steps = 8};

/* Variables that change how the library works, and values that any program may have. */
static const struct {
    const char *name, *values[5];
} variables[] = {
    {"ABT_NUMA", {"no", "{0:1},{1:1}"}},
    {"ABT_SCHED_EVENT_FREQ", {"1", "7", "200"}},
    {"ABT_STACK_OVERFLOW_CHECK", {"canary", "mprotect", "mprotect_strict", "none"}},
    {"ABT_KEY_TABLE_SIZE", {"1", "64"}},
    {"ABT_MEM_MAX_NUM_STACKS", {"2", "8"}},
    {"ABT_MEM_MAX_NUM_DESCS", {"2", "8"}},
    {"ABT_MEM_LP_ALLOC", {"malloc", "mmap_rp", "thp"}},
    {"ABT_TRACE", {"/dev/null"}},
    {"ABT_CHECK", {"abort"}},
    {"ABT_TOP", {"yes"}},
    {"ABT_SET_AFFINITY", {"yes", "{0:2}"}},
    {"ABT_DEADLOCK_CHECK", {"abort", "yes"}},
    {"ABTIO_BACKEND", {"threads"}},
};

static void environment_choose(struct rng *rng)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        unsigned num = 0;
        while (num < 5 && variables[i].values[num])
            num++;
        const char *value = variables[i].values[below(rng, num)];
        if (!one_in(rng, 5)) {
            unsetenv(variables[i].name);
            continue;
        }
        setenv(variables[i].name, value, 1);
        if (options.verbose)
            fprintf(stderr, "#   %s=%s\n", variables[i].name, value);
    }
}

static void round_play(uint64_t seed)
{
    struct actor actor = {.rng = {mix(mix(seed))}, .depth = -1};
    struct rng env = {mix(mix(seed) + 1)};

    watch_round(seed, options.text);
    if (options.verbose)
        fprintf(stderr, "# seed %" PRIu64 "\n", seed);
    if (!options.keep_env)
        environment_choose(&env);
    world_begin(&actor.rng, options.streams);
    struct child **children = calloc((size_t)options.actors, sizeof(*children));
    expect(children);
    for (int i = 0; i < options.actors; i++) {
        children[i] = child_make(&actor, false);
        children[i]->num_steps = options.steps;
        child_start(&actor, children[i], any_pool(&actor));
    }
    for (int i = 0; i < options.actors; i++)
        child_free(children[i]);
    free(children);
    world_end();
}

static double clock_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void option_keep(const char *name, const char *value)
{
    size_t length = strlen(options.text);

    snprintf(options.text + length, sizeof(options.text) - length, " --%s%s%s", name, value ? " " : "",
             value ? value : "");
}

static void option_take(int letter, const char *name)
{
    switch (letter) {
    case 's': options.seed = strtoull(optarg, NULL, 0); return;
    case 'r': options.rounds = atol(optarg); return;
    case 'S': options.seconds = atof(optarg); return;
    case 'v': options.verbose = true; return;
    case 'a': options.actors = atoi(optarg); break;
    case 'n': options.steps = atoi(optarg); break;
    case 't': options.streams = atoi(optarg); break;
    case 'e': options.keep_env = true; break;
    case 'o':
    case 'x':
        if (!steps_choose(optarg, letter == 'o'))
            exit(2);
        break;
    case 'l': steps_list(); exit(0);
    default: fputs(usage, letter == 'h' ? stdout : stderr); exit(letter == 'h' ? 0 : 2);
    }
    option_keep(name, optarg);
}

static void options_read(int argc, char **argv)
{
    static const struct option longs[] = {
        {"seed", required_argument, NULL, 's'},
        {"rounds", required_argument, NULL, 'r'},
        {"seconds", required_argument, NULL, 'S'},
        {"actors", required_argument, NULL, 'a'},
        {"steps", required_argument, NULL, 'n'},
        {"streams", required_argument, NULL, 't'},
        {"only", required_argument, NULL, 'o'},
        {"without", required_argument, NULL, 'x'},
        {"keep-env", no_argument, NULL, 'e'},
        {"verbose", no_argument, NULL, 'v'},
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;

    options.seed = (uint64_t)time(NULL) * 1000003;
    options.seconds = tap_seconds(2);
    while ((letter = getopt_long(argc, argv, "s:r:S:a:n:t:o:x:evlh", longs, NULL)) != -1) {
        const struct option *option = longs;
        while (option->name && option->val != letter)
            option++;
        option_take(letter, option->name);
    }
}

int main(int argc, char **argv)
{
    long rounds = 0;

    steps_num();
    options_read(argc, argv);
    diag("seed %" PRIu64, options.seed);
    setenv("ABT_THREAD_STACKSIZE", "65536", 0);
    nowhere = fopen("/dev/null", "w");
    expect(nowhere);
    watch_begin();
    for (double end = clock_now() + options.seconds; options.rounds ? rounds < options.rounds : clock_now() < end;
         rounds++)
        round_play(options.seed + (uint64_t)rounds);
    fclose(nowhere);
    pass("%ld rounds from seed %" PRIu64, rounds, options.seed);
    return done_testing();
}
