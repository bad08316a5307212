/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin of qemu-user for x86-64 that runs a program's threads as if each had a core of its own, and counts what
 * moves between them:
 *
 *   qemu-x86_64 -plugin cores.so[,cores=64][,socket=32][,NAME=CYCLES]... PROGRAM [ARGUMENT]...
 *
 * The program marks the part that is measured: syscall(0x5EED, 0) begins it, and syscall(0x5EED, 1, operations) ends it
 * and writes a line "SIM ..." to stderr, and with sites=N the N instructions for whose lines the program waits longest:
 * transfers and cycles of an operation, and with words=1 how often it wrote a word that another core had written last,
 * and of how many words that was. doc/scaling.md says what is modelled and what is not. maint/bench --cores compiles
 * and runs it.
 *
 * Each thread has a virtual clock in cycles. One thread runs at a time, the one whose clock is lowest, until it is
 * `quantum` cycles ahead of the next one; the others wait at the beginning of a block of code. So the order in which
 * threads reach memory is that of their clocks, up to a quantum, and a run is the same each time. Waits and sleeps of
 * the system take place here, in virtual time: the system is entered when it has nothing to wait for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* What is needed of qemu's interface for plugins, version 1: no package has the header. */
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
bool qemu_plugin_mem_is_store(uint32_t info);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*f)(plugin_id id, struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*f)(unsigned cpu, void *arg),
                                          int registers, void *arg);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
                                      void (*f)(unsigned cpu, uint32_t info, uint64_t address, void *arg),
                                      int registers, int which, void *arg);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id id, void (*f)(plugin_id id, unsigned cpu, int64_t number,
                                                                  uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                                                                  uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8));
void qemu_plugin_register_vcpu_syscall_ret_cb(plugin_id id,
                                              void (*f)(plugin_id id, unsigned cpu, int64_t number, int64_t result));
void qemu_plugin_register_vcpu_init_cb(plugin_id id, void (*f)(plugin_id id, unsigned cpu));
void qemu_plugin_register_vcpu_exit_cb(plugin_id id, void (*f)(plugin_id id, unsigned cpu));
extern int qemu_plugin_version;
int qemu_plugin_version = 1;
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3 };
enum { MARK = 0x5EED, GHZ = 3, MAX_CORES = 256, LINE = 64, WAYS = 8, MAX_STORES = 64 };

/* --- Parameters, in cycles unless it says something else --- */

static double p_cores = 64;          /* how many CPUs the program is told of */
static double p_socket = 1024;       /* cores of a socket */
static double p_cache = 1024;        /* KiB of a core's private cache */
static double p_instruction = 0.155; /* any instruction, where no line moves */
static double p_locked = 14;         /* a locked one, in addition */
static double p_pause = 33;
static double p_transfer = 100;                       /* a line moves between two cores of a socket */
static double p_far = 300;                            /* ... of two sockets */
static double p_fetch = 40;                           /* a line that no other core has in its cache */
static double p_store = 15;                           /* a store of which the store buffer hides the rest */
static double p_stores = 48;                          /* how many such stores may be on their way */
static double p_quantum = 60;                         /* how far a core may be ahead of the others */
static double p_burst = 30;                           /* how long a core goes on that has just got a line */
static double p_call = 250;                           /* a system call */
static double p_yield = 600;                          /* sched_yield */
static double p_clock = 60;                           /* clock_gettime, getcpu: no system calls on a real system */
static double p_wake = 1800;                          /* a wake, for the waker */
static double p_woken = 9000;                         /* from the wake until the woken runs */
static double p_fork = 30000;                         /* from clone until the new thread runs */
static double p_membarrier = 2000, p_interrupt = 700; /* the caller's part, and that of each core that runs */
static double p_sites;                                /* how many instructions are reported at the end */
static double p_words;                                /* not 0: words that several cores write are looked for */

static const struct {
    const char *name;
    double *value;
} parameters[] = {
    {"cores", &p_cores},         {"socket", &p_socket}, {"cache", &p_cache},       {"instruction", &p_instruction},
    {"locked", &p_locked},       {"pause", &p_pause},   {"transfer", &p_transfer}, {"far", &p_far},
    {"fetch", &p_fetch},         {"store", &p_store},   {"stores", &p_stores},     {"quantum", &p_quantum},
    {"burst", &p_burst},         {"call", &p_call},     {"yield", &p_yield},       {"clock", &p_clock},
    {"wake", &p_wake},           {"woken", &p_woken},   {"fork", &p_fork},         {"membarrier", &p_membarrier},
    {"interrupt", &p_interrupt}, {"sites", &p_sites},   {"words", &p_words}};

/* --- State --- */

/* A line of memory. A core that has it alone may write it; `owner` is -1 if several may have it. */
struct line {
    uint64_t number;   /* its address / LINE + 1; 0: unused */
    double free_at;    /* it leaves its owner, or is served to another, no earlier */
    int owner, writer; /* who has it alone; who has written it last */
    uint64_t sharers[MAX_CORES / 64];
};

/* An instruction. */
struct site {
    uint64_t pc;
    bool locked, fence;
    uint64_t transfers;
    double cycles;
    uint64_t passes, words; /* stores to what another core had stored last, and of how many words they were the first */
};

/* Eight bytes, and who has written them last. */
struct word {
    uint64_t number; /* their address / 8 + 1; 0: unused */
    int writer;      /* -1: nobody since the measured part began */
    bool is_passed;  /* two cores have written it */
};

enum state {
    GONE,    /* there is no thread, or it has ended */
    RUNS,    /* it runs when its turn comes */
    SLEEPS,  /* in virtual time: until it is woken, or until its clock, which has been set to its deadline */
    OUTSIDE, /* in the system, for a time that only the system knows */
};

struct core {
    enum state state;
    double clock;
    _Atomic(uint32_t) turns; /* changes when the core gets the turn */
    pid_t tid;
    double drained, stores[MAX_STORES]; /* when the stores on their way are done */
    unsigned next_store;
    struct line **cache; /* its sets of WAYS */
    uint8_t *victim;     /* the next way of each set to be replaced */
    uint64_t instructions, transfers, far, fetches;
    uint64_t args[4], word, clear_tid;
    double slept_at;
    bool was_woken;
    uint32_t saved_value; /* what was changed in the program's memory, for the time of the call */
    struct timespec saved_time;
    void *changed_value, *changed_time;
};

static struct core cores[MAX_CORES];
static unsigned num_cores; /* how many there have been */
static size_t num_sets, num_lines;
static struct line *lines;
static struct site **sites;
static size_t num_sites;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int owner = -1;      /* whose turn it is */
static double limit, now;   /* up to when; the lowest clock */
static bool has_burst;      /* it has got more time in this turn, for a line */
static double begun;        /* when the measured part began */
static uint64_t forked_tid; /* what the next thread clears at its end */
static struct {
    uint64_t waits, wakes, yields, membarriers, sleeps;
} calls;

enum { MAX_LINES = 1 << 22, MAX_WORDS = 1 << 22, WORD = 8 };
static struct word *words; /* NULL: they are not looked for */
static size_t num_words;
static const double never = 1e300, epoch_ns = 1e15;

static void give_up(const char *why)
{
    fprintf(stderr, "cores: %s\n", why);
    _exit(3);
}

/* --- Turns (lock held) --- */

static void pick_next(void)
{
    double second = never;
    int best = -1;
    for (unsigned i = 0; i < num_cores; i++) {
        struct core *core = &cores[i];
        if (core->state != RUNS && core->state != SLEEPS)
            continue;
        if (best < 0 || core->clock < cores[best].clock) {
            second = best >= 0 && cores[best].clock < second ? cores[best].clock : second;
            best = (int)i;
        } else if (core->clock < second) {
            second = core->clock;
        }
    }
    owner = best >= 0 && cores[best].clock < never ? best : -1; /* if all sleep for ever, somebody outside comes back */
    if (owner < 0)
        return;
    limit = second + p_quantum;
    has_burst = false;
    now = cores[best].clock;
    atomic_fetch_add(&cores[best].turns, 1);
    syscall(SYS_futex, &cores[best].turns, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A core whose state or clock has been changed may be the next. */
static void consider(const struct core *core)
{
    if (owner < 0)
        pick_next();
    else if (core->clock + p_quantum < limit)
        limit = core->clock + p_quantum;
}

/* Whether the thread sleeps in the real system. */
static bool really_sleeps(pid_t tid)
{
    char path[64], text[256];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = 0;
    char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}

/*
 * Waits for the turn. The emulator stops all threads now and then, for which each has to come to the end of a block: if
 * the one whose turn it is waits for that, the others go on for one.
 */
static void wait_for_turn(unsigned cpu)
{
    struct core *core = &cores[cpu];
    while (owner != (int)cpu) {
        uint32_t turns = atomic_load(&core->turns);
        struct timespec look = {0, 20000000};
        pthread_mutex_unlock(&lock);
        bool late =
            syscall(SYS_futex, &core->turns, FUTEX_WAIT_PRIVATE, turns, &look, NULL, 0) != 0 && errno == ETIMEDOUT;
        pthread_mutex_lock(&lock);
        if (late && owner >= 0 && owner != (int)cpu && really_sleeps(cores[owner].tid))
            return;
    }
}

static void pass_turn(unsigned cpu)
{
    if (owner == (int)cpu || owner < 0)
        pick_next();
    wait_for_turn(cpu);
}

static void know_thread(struct core *core)
{
    if (core->tid == 0)
        core->tid = (pid_t)syscall(SYS_gettid);
}

static void entered(unsigned cpu, void *arg)
{
    struct core *core = &cores[cpu];
    unsigned instructions = (uintptr_t)arg & 0xffff, pauses = (unsigned)((uintptr_t)arg >> 16);
    core->clock += instructions * p_instruction + pauses * p_pause;
    core->instructions += instructions;
    if (owner == (int)cpu && core->clock <= limit)
        return;
    pthread_mutex_lock(&lock);
    know_thread(core);
    pass_turn(cpu);
    pthread_mutex_unlock(&lock);
}

/* --- Lines --- */

static struct line *find_line(uint64_t number)
{
    size_t i = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 42;
    while (lines[i].number != number) {
        if (lines[i].number == 0) {
            if (++num_lines > MAX_LINES / 2)
                give_up("the program uses too much memory");
            lines[i] = (struct line){.number = number, .owner = -1, .writer = -1};
            break;
        }
        i = (i + 1) % MAX_LINES;
    }
    return &lines[i];
}

static struct word *find_word(uint64_t number)
{
    size_t i = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 42;
    while (words[i].number != number) {
        if (words[i].number == 0) {
            if (++num_words > MAX_WORDS / 2)
                give_up("the program writes too many words");
            words[i] = (struct word){.number = number, .writer = -1};
            break;
        }
        i = (i + 1) % MAX_WORDS;
    }
    return &words[i];
}

static void note_writer(unsigned cpu, uint64_t address, struct site *site)
{
    struct word *word = find_word(address / WORD + 1);
    if (word->writer >= 0 && word->writer != (int)cpu) {
        site->passes++;
        site->words += !word->is_passed;
        word->is_passed = true;
    }
    word->writer = (int)cpu;
}

static bool has_line(const struct line *line, unsigned cpu)
{
    return line->sharers[cpu / 64] >> cpu % 64 & 1;
}

static void drop_line(struct line *line, unsigned cpu)
{
    line->sharers[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
    if (line->owner == (int)cpu)
        line->owner = -1;
}

/* A core that has the line, other than this one: the farthest, as far as that matters. -1: there is none. */
static int other_sharer(const struct line *line, unsigned cpu)
{
    int found = -1;
    for (unsigned i = 0; i < num_cores; i += 64) {
        uint64_t set = line->sharers[i / 64] & ~(i / 64 == cpu / 64 ? UINT64_C(1) << cpu % 64 : 0);
        for (; set; set &= set - 1) {
            int other = (int)i + __builtin_ctzll(set);
            if (found < 0 || (unsigned)other / (unsigned)p_socket != cpu / (unsigned)p_socket)
                found = other;
        }
    }
    return found;
}

/* The line is in the core's cache from now on, and another one is not. */
static void take_in(struct core *core, unsigned cpu, struct line *line)
{
    size_t set = (line->number * UINT64_C(0x9e3779b97f4a7c15) >> 20) % num_sets;
    struct line **ways = &core->cache[set * WAYS];
    for (unsigned i = 0; i < WAYS; i++) {
        if (ways[i] == line) /* it was there, and another core has taken it meanwhile */
            ways[i] = NULL;
    }
    struct line **way = &ways[core->victim[set]++ % WAYS];
    if (*way)
        drop_line(*way, cpu);
    *way = line;
    line->sharers[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

/* A plain store goes on while the line comes, unless too many do. Returns what it costs now. */
static double buffer_store(struct core *core, double done)
{
    double *oldest = &core->stores[core->next_store++ % (unsigned)p_stores], wait = *oldest - core->clock;
    core->drained = done > core->drained ? done : core->drained;
    *oldest = core->drained;
    return p_store + (wait > 0 ? wait : 0);
}

/* The line comes from the core `from`. Returns what that costs. */
static double transfer(struct core *core, unsigned cpu, struct line *line, int from, bool store, struct site *site)
{
    bool far = from >= 0 && (unsigned)from / (unsigned)p_socket != cpu / (unsigned)p_socket;
    double start = core->clock > line->free_at ? core->clock : line->free_at, takes = far ? p_far : p_transfer;
    double cost = start + takes - core->clock;
    line->free_at = store ? start + takes : start + takes / 4;
    if (store && !site->locked)
        cost = buffer_store(core, start + takes);
    core->transfers++;
    core->far += far;
    site->transfers++;
    site->cycles += cost;
    if (site->locked && !has_burst && limit < core->clock + cost + p_burst)
        limit = core->clock + cost + p_burst;
    has_burst |= site->locked;
    return cost;
}

static void load_line(struct core *core, unsigned cpu, struct line *line, struct site *site)
{
    if (has_line(line, cpu))
        return;
    int from = line->owner >= 0 ? line->owner : other_sharer(line, cpu);
    if (from >= 0 && line->writer >= 0 && line->writer != (int)cpu) {
        core->clock += transfer(core, cpu, line, from, false, site);
    } else {
        core->clock += p_fetch;
        core->fetches++;
    }
    line->owner = from >= 0 ? -1 : (int)cpu;
    take_in(core, cpu, line);
}

static void store_line(struct core *core, unsigned cpu, struct line *line, struct site *site)
{
    if (line->owner != (int)cpu) {
        int from = line->owner >= 0 ? line->owner : other_sharer(line, cpu);
        bool have = has_line(line, cpu);
        if (from >= 0) {
            core->clock += transfer(core, cpu, line, from, true, site);
        } else if (!have) {
            core->clock += site->locked ? p_fetch : buffer_store(core, core->clock + p_fetch);
            core->fetches++;
        }
        memset(line->sharers, 0, sizeof(line->sharers));
        line->owner = (int)cpu;
        take_in(core, cpu, line);
    }
    if (line->free_at < core->clock)
        line->free_at = core->clock;
    line->writer = (int)cpu;
}

static void accessed(unsigned cpu, uint32_t info, uint64_t address, void *arg)
{
    struct core *core = &cores[cpu];
    struct site *site = arg;
    bool store = qemu_plugin_mem_is_store(info);
    if (site->locked && !store)
        return; /* of a read-modify-write qemu tells once more, as a store */
    if (site->locked || site->fence)
        core->clock = core->drained > core->clock ? core->drained : core->clock;
    if (site->locked)
        core->clock += p_locked;
    if (store && words)
        note_writer(cpu, address, site);
    struct line *line = find_line(address / LINE + 1);
    if (store)
        store_line(core, cpu, line, site);
    else
        load_line(core, cpu, line, site);
}

/* --- Code --- */

/* Whether the instruction reads and writes memory in one: a lock prefix, or xchg with memory. */
static bool is_locked(const uint8_t *bytes, size_t size)
{
    size_t i = 0;
    for (; i + 1 < size && (bytes[i] == 0x66 || bytes[i] == 0xf2 || bytes[i] == 0xf3 || bytes[i] == 0x64 ||
                            bytes[i] == 0x2e || bytes[i] == 0x3e);
         i++)
        ;
    if (bytes[i] == 0xf0)
        return true;
    i += i + 1 < size && (bytes[i] & 0xf0) == 0x40; /* a REX prefix */
    return i + 1 < size && (bytes[i] & 0xfe) == 0x86 && (bytes[i + 1] & 0xc0) != 0xc0;
}

static struct site *make_site(const struct qemu_plugin_insn *insn)
{
    struct site *site = calloc(1, sizeof(*site));
    if (num_sites % 4096 == 0)
        sites = realloc(sites, (num_sites + 4096) * sizeof(*sites));
    if (!site || !sites)
        give_up("there is no memory");
    *site = (struct site){.pc = qemu_plugin_insn_vaddr(insn),
                          .locked = is_locked(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn))};
    return sites[num_sites++] = site;
}

/* mfence: what follows waits until the stores are done. */
static void fenced(unsigned cpu, void *arg)
{
    struct core *core = &cores[cpu];
    core->clock = (core->drained > core->clock ? core->drained : core->clock) + p_locked;
}

static void translated(plugin_id id, struct qemu_plugin_tb *block)
{
    static const uint8_t pause[] = {0xf3, 0x90}, mfence[] = {0x0f, 0xae, 0xf0};
    size_t num = qemu_plugin_tb_n_insns(block), pauses = 0;
    bool fences = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < num; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        size_t size = qemu_plugin_insn_size(insn);
        pauses += size == sizeof(pause) && !memcmp(qemu_plugin_insn_data(insn), pause, sizeof(pause));
        fences |= size == sizeof(mfence) && !memcmp(qemu_plugin_insn_data(insn), mfence, sizeof(mfence));
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, NO_REGISTERS, LOADS_AND_STORES, make_site(insn));
    }
    pthread_mutex_unlock(&lock);
    qemu_plugin_register_vcpu_tb_exec_cb(block, entered, NO_REGISTERS, (void *)(num | pauses << 16));
    if (fences)
        qemu_plugin_register_vcpu_tb_exec_cb(block, fenced, NO_REGISTERS, NULL);
}

/* --- The report --- */

static int by_cycles(const void *a, const void *b)
{
    double x = (*(struct site *const *)a)->cycles, y = (*(struct site *const *)b)->cycles;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The file that holds the code, and where in it. */
static void print_place(uint64_t pc)
{
    unsigned long long from, to, offset;
    char text[512], path[256];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(text, sizeof(text), maps)) {
        if (sscanf(text, "%llx-%llx %*s %llx %*s %*s %255s", &from, &to, &offset, path) == 4 && pc >= from && pc < to) {
            fprintf(stderr, " %s 0x%llx\n", path, (unsigned long long)pc - from + offset);
            fclose(maps);
            return;
        }
    }
    if (maps)
        fclose(maps);
    fprintf(stderr, " ? 0x%" PRIx64 "\n", pc);
}

static void report(double cycles, double operations)
{
    struct core sum = {0};
    for (unsigned i = 0; i < num_cores; i++) {
        sum.transfers += cores[i].transfers;
        sum.far += cores[i].far;
        sum.fetches += cores[i].fetches;
        sum.instructions += cores[i].instructions;
    }
    fprintf(stderr,
            "SIM ns=%.3f transfers=%.4f far=%.4f fetches=%.4f instructions=%.2f waits=%.4f wakes=%.4f yields=%.4f "
            "membarriers=%.5f sleeps=%.4f\n",
            cycles / GHZ / operations, (double)sum.transfers / operations, (double)sum.far / operations,
            (double)sum.fetches / operations, (double)sum.instructions / operations, (double)calls.waits / operations,
            (double)calls.wakes / operations, (double)calls.yields / operations, (double)calls.membarriers / operations,
            (double)calls.sleeps / operations);
    if (p_sites < 1)
        return;
    qsort(sites, num_sites, sizeof(*sites), by_cycles);
    for (size_t i = 0; i < num_sites && i < (size_t)p_sites; i++) {
        if (sites[i]->transfers == 0 && sites[i]->passes == 0)
            continue;
        fprintf(stderr, "SITE %.5f %.3f %.5f %" PRIu64, (double)sites[i]->transfers / operations,
                sites[i]->cycles / operations, (double)sites[i]->passes / operations, sites[i]->words);
        print_place(sites[i]->pc);
    }
}

static void begin_measuring(double clock)
{
    begun = clock;
    memset(&calls, 0, sizeof(calls));
    for (size_t i = 0; i < num_sites; i++) {
        sites[i]->transfers = sites[i]->passes = sites[i]->words = 0;
        sites[i]->cycles = 0;
    }
    if (words)
        memset(words, 0, MAX_WORDS * sizeof(*words));
    num_words = 0;
    for (unsigned i = 0; i < num_cores; i++)
        cores[i].transfers = cores[i].far = cores[i].fetches = cores[i].instructions = 0;
}

/* --- System calls --- */

/* Writes into the program's memory, unless that may not be written. */
static bool overwrite(void *to, const void *from, size_t size)
{
    struct iovec source = {(void *)(uintptr_t)from, size}, target = {to, size};
    return process_vm_writev(getpid(), &source, 1, &target, 1, 0) == (ssize_t)size;
}

static void put_back(struct core *core)
{
    if (core->changed_value)
        overwrite(core->changed_value, &core->saved_value, sizeof(core->saved_value));
    if (core->changed_time)
        overwrite(core->changed_time, &core->saved_time, sizeof(core->saved_time));
    core->changed_value = core->changed_time = NULL;
}

/* The call does not wait for this time, which has passed here. */
static void make_past(struct core *core, struct timespec *time)
{
    static const struct timespec past = {0, 0};
    core->saved_time = *time;
    if (overwrite(time, &past, sizeof(past)))
        core->changed_time = time;
}

/* Nor does it wait for this word. Nobody else runs until it is put back. */
static void make_different(struct core *core, uint32_t *word)
{
    uint32_t different = ~*word;
    core->saved_value = *word;
    if (overwrite(word, &different, sizeof(different)))
        core->changed_value = word;
}

static double cycles_of(const struct timespec *time)
{
    return ((double)time->tv_sec * 1e9 + (double)time->tv_nsec) * GHZ;
}

/* The caller sleeps until its clock, to which this is set, or until it is woken. */
static void sleep_until(unsigned cpu, double clock)
{
    struct core *core = &cores[cpu];
    core->slept_at = core->clock;
    core->clock = clock > core->clock ? clock : core->clock;
    core->was_woken = false;
    core->state = SLEEPS;
    /* The turn alone ends it: somebody who goes on out of turn for the emulator's sake is none that sleeps. */
    while (core->state == SLEEPS) {
        pass_turn(cpu);
        if (owner == (int)cpu)
            core->state = RUNS;
    }
}

static bool is_end_of_thread(uint64_t word)
{
    for (unsigned i = 0; i < num_cores; i++) {
        if (cores[i].state != GONE && cores[i].clear_tid == word)
            return true;
    }
    return false;
}

static void wait_on_futex(unsigned cpu, uint64_t word, uint64_t op, uint32_t value, uint64_t timeout)
{
    struct core *core = &cores[cpu];
    uint32_t *at = (uint32_t *)(uintptr_t)word;
    struct timespec *time = (struct timespec *)(uintptr_t)timeout;
    core->clock += p_call;
    if (*(volatile uint32_t *)at != value)
        return;
    calls.waits++;
    if (is_end_of_thread(word)) { /* the system wakes who waits for that, unseen */
        core->state = OUTSIDE;
        pick_next();
        return;
    }
    bool relative = (op & FUTEX_CMD_MASK) == FUTEX_WAIT;
    double deadline = !time ? never : relative ? core->clock + cycles_of(time) : cycles_of(time) - epoch_ns * GHZ;
    core->word = word;
    sleep_until(cpu, deadline);
    core->word = 0;
    if (core->was_woken && *(volatile uint32_t *)at == value)
        make_different(core, at);
    if (time)
        make_past(core, time);
}

static void wake_futex(struct core *core, uint64_t word, int num)
{
    core->clock += p_call;
    calls.wakes++;
    for (; num > 0; num--) {
        struct core *first = NULL;
        for (unsigned i = 0; i < num_cores; i++) {
            struct core *other = &cores[i];
            if (other->state == SLEEPS && other->word == word && !other->was_woken &&
                (!first || other->slept_at < first->slept_at))
                first = other;
        }
        if (!first)
            return;
        core->clock += p_wake;
        first->clock = (core->clock > first->slept_at ? core->clock : first->slept_at) + p_woken;
        first->was_woken = true;
        consider(first);
    }
}

static void barrier_of_all(unsigned cpu)
{
    calls.membarriers++;
    cores[cpu].clock += p_membarrier;
    for (unsigned i = 0; i < num_cores; i++) {
        if (i != cpu && cores[i].state == RUNS)
            cores[i].clock += p_interrupt;
    }
}

static bool waits_outside(int64_t number)
{
    return number == SYS_poll || number == SYS_ppoll || number == SYS_epoll_wait || number == SYS_epoll_pwait ||
           number == SYS_epoll_pwait2 || number == SYS_read || number == SYS_wait4 || number == SYS_select ||
           number == SYS_pselect6 || number == SYS_exit || number == SYS_exit_group || number == SYS_rt_sigtimedwait ||
           number == SYS_io_uring_enter || number == SYS_accept4 || number == SYS_recvfrom;
}

/* A sleep for a time. Of clock_nanosleep only that which is relative. */
static bool is_sleep(int64_t number, uint64_t flags)
{
    return number == SYS_nanosleep || (number == SYS_clock_nanosleep && flags == 0);
}

static void call_begins(unsigned cpu, int64_t number, const uint64_t *args)
{
    struct core *core = &cores[cpu];
    uint64_t op = args[1] & FUTEX_CMD_MASK;
    memcpy(core->args, args, sizeof(core->args));
    if (number == SYS_futex && (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET)) {
        wait_on_futex(cpu, args[0], args[1], (uint32_t)args[2], args[3]);
    } else if (number == SYS_futex && (op == FUTEX_WAKE || op == FUTEX_WAKE_BITSET)) {
        wake_futex(core, args[0], (int)args[2]);
    } else if (is_sleep(number, args[1])) {
        struct timespec *time = (struct timespec *)(uintptr_t)args[number == SYS_nanosleep ? 0 : 2];
        calls.sleeps++;
        sleep_until(cpu, core->clock + cycles_of(time) + p_woken);
        make_past(core, time);
    } else if (number == SYS_membarrier) {
        barrier_of_all(cpu);
    } else if (waits_outside(number)) {
        core->state = OUTSIDE;
        pick_next();
    } else {
        calls.yields += number == SYS_sched_yield;
        bool is_quick = number == SYS_clock_gettime || number == SYS_getcpu; /* neither is one on a real system */
        core->clock += is_quick ? p_clock : number == SYS_sched_yield ? p_yield : p_call;
    }
    if (number == SYS_clone)
        forked_tid = args[0] & 0x200000 ? args[3] : 0; /* CLONE_CHILD_CLEARTID */
}

static void syscall_enters(plugin_id id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                           uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    const uint64_t args[4] = {a1, a2, a3, a4};
    (void)id, (void)a5, (void)a6, (void)a7, (void)a8;
    pthread_mutex_lock(&lock);
    know_thread(&cores[cpu]);
    if (number == MARK && a1 == 0)
        begin_measuring(cores[cpu].clock);
    else if (number == MARK)
        report(cores[cpu].clock - begun, (double)a2);
    else
        call_begins(cpu, number, args);
    pthread_mutex_unlock(&lock);
}

static void tell_time(const struct core *core, struct timespec *time)
{
    double ns = epoch_ns + core->clock / GHZ;
    time->tv_sec = (time_t)(ns / 1e9);
    time->tv_nsec = (long)(ns - (double)time->tv_sec * 1e9);
}

static void tell_cpus(uint8_t *mask, size_t size)
{
    memset(mask, 0, size);
    for (size_t i = 0; i < (size_t)p_cores && i < size * 8; i++)
        mask[i / 8] |= (uint8_t)(1 << i % 8);
}

static void syscall_leaves(plugin_id id, unsigned cpu, int64_t number, int64_t result)
{
    struct core *core = &cores[cpu];
    pthread_mutex_lock(&lock);
    put_back(core);
    if (core->state == OUTSIDE) {
        core->clock = (now > core->clock ? now : core->clock) + p_call;
        core->state = RUNS;
        consider(core);
        wait_for_turn(cpu);
    }
    if (number == SYS_clock_gettime && result == 0)
        tell_time(core, (struct timespec *)(uintptr_t)core->args[1]);
    else if (number == SYS_sched_getaffinity && result > 0)
        tell_cpus((uint8_t *)(uintptr_t)core->args[2], (size_t)result);
    else if (number == SYS_getcpu && result == 0 && core->args[0])
        *(unsigned *)(uintptr_t)core->args[0] = cpu;
    pthread_mutex_unlock(&lock);
}

/* --- Threads --- */

/* It is called by the thread that makes the new one. */
static void thread_begins(plugin_id id, unsigned cpu)
{
    pthread_mutex_lock(&lock);
    if (cpu >= MAX_CORES)
        give_up("the program has too many threads");
    struct core *core = &cores[cpu], *maker = owner >= 0 ? &cores[owner] : NULL;
    *core = (struct core){.state = RUNS, .clock = maker ? maker->clock + p_fork : 0, .clear_tid = forked_tid};
    core->cache = calloc(num_sets * WAYS, sizeof(*core->cache));
    core->victim = calloc(num_sets, 1);
    if (!core->cache || !core->victim)
        give_up("there is no memory");
    num_cores = cpu + 1 > num_cores ? cpu + 1 : num_cores;
    forked_tid = 0;
    consider(core);
    pthread_mutex_unlock(&lock);
}

static void thread_ends(plugin_id id, unsigned cpu)
{
    pthread_mutex_lock(&lock);
    cores[cpu].state = GONE;
    if (owner == (int)cpu || owner < 0)
        pick_next();
    pthread_mutex_unlock(&lock);
}

static bool set_parameter(char *text)
{
    char *value = strchr(text, '=');
    for (size_t i = 0; value && i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        if (strlen(parameters[i].name) == (size_t)(value - text) &&
            !strncmp(parameters[i].name, text, (size_t)(value - text))) {
            *parameters[i].value = atof(value + 1);
            return *parameters[i].value >= 0;
        }
    }
    return false;
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!set_parameter(argv[i])) {
            fprintf(stderr, "cores: what is %s?\n", argv[i]);
            return -1;
        }
    }
    if (p_stores < 1 || p_stores > MAX_STORES || p_socket < 1 || p_cache < 1)
        return -1;
    num_sets = (size_t)(p_cache * 1024 / LINE / WAYS);
    lines = calloc(MAX_LINES, sizeof(*lines));
    words = p_words > 0 ? calloc(MAX_WORDS, sizeof(*words)) : NULL;
    if (!lines || (p_words > 0 && !words))
        return -1;
    qemu_plugin_register_vcpu_init_cb(id, thread_begins);
    qemu_plugin_register_vcpu_exit_cb(id, thread_ends);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, syscall_enters);
    qemu_plugin_register_vcpu_syscall_ret_cb(id, syscall_leaves);
    return 0;
}
