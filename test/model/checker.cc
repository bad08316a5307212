/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a model under relacy: the runtime of -fsanitize=thread on relacy's atomics, and the search for mutants. See
 * checker.h. relacy keeps of each atomic the last three stores, and which of them a load may return; it simulates no
 * load that returns a store which is still to come. Races of plain accesses are found here, by relacy's vector clocks,
 * since they may be of any size, and of words that are atomic elsewhere.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

/* relacy has no way to make an atomic with a value that everybody sees, nor a fence in another thread. */
#define private public
#define protected public
#include <relacy/relacy.hpp>
#undef private
#undef protected

#include "checker.h"

static const struct model_program *program;

/* --- Sites and mutants --- */

enum { SITES = 512 };
static const char *const order_names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};

/* What is known of an access, for all children and their parent. */
struct known_site {
    char function[64], text[192];
    int order;
    enum { LOAD, STORE, CHANGE, SWAP, FENCE } kind;
    unsigned programs; /* that make it, by bits */
};

static struct known {
    int num;
    struct known_site sites[SITES];
} *known;

/* The mutant of this process. */
static struct {
    int site;  /* -1: none */
    int order; /* the weaker order; -1: of a fence, none at all */
    bool only_failure;
    const char *name;
} mutant = {-1, 0, false, NULL};

/* The accesses that each thread is about to make: more than one where one is an operand of another. */
static struct {
    struct model_site *sites[8];
    int num;
} announced[MODEL_THREADS];

static int find_site(const char *function, const char *text)
{
    for (int i = 0; i < known->num; i++)
        if (!strcmp(known->sites[i].function, function) && !strcmp(known->sites[i].text, text))
            return i;
    return -1;
}

extern "C" void model_at(struct model_site *site, const char *function)
{
    auto &mine = announced[rl::ctx().threadx_->index_];
    site->function = function;
    if (mine.num == 8)
        abort();
    mine.sites[mine.num++] = site;
}

/* The access that the thread makes now. NULL: it is the model's own. */
static struct model_site *take_site()
{
    auto &mine = announced[rl::ctx().threadx_->index_];
    return mine.num > 0 ? mine.sites[--mine.num] : NULL;
}

static bool is_subject(const char *file)
{
    for (const char *const *subject = model_subjects; *subject; subject++)
        if (!strcmp(file, *subject))
            return true;
    return false;
}

/* Returns the order of the access that is just made. */
static int order_of_access(struct model_site *site, int order, int kind)
{
    if (!site || !is_subject(site->file))
        return order;
    char text[192];
    snprintf(text, sizeof text, "%s", site->text);
    int index = site->state ? site->state - 1 : find_site(site->function, text);
    if (index < 0) {
        if (known->num == SITES)
            abort();
        index = known->num++;
        struct known_site *k = &known->sites[index];
        snprintf(k->function, sizeof k->function, "%s", site->function);
        memcpy(k->text, text, sizeof text);
        k->order = order;
        k->kind = (decltype(k->kind))kind;
    }
    site->state = index + 1;
    known->sites[index].programs |= 1u << (program - model_programs);
    return index == mutant.site && !mutant.only_failure ? mutant.order : order;
}

extern "C" bool model_is_mutant(const char *name)
{
    return mutant.name && !strcmp(mutant.name, name);
}

/* Wakes say from which CPU they come: it is not known here. */
extern "C" int abti_affinity_here(void)
{
    return -1;
}

/* --- Memory --- */

typedef rl::generic_atomic<uint64_t, true> cell_atomic;
typedef rl::thread_info<MODEL_THREADS> thread_of;

struct cell {
    alignas(cell_atomic) char room[sizeof(cell_atomic)];
    uint8_t size; /* 0: there is none */
    cell_atomic &atomic() { return *reinterpret_cast<cell_atomic *>(room); }
};

enum access { PLAIN_LOAD, PLAIN_STORE, ATOMIC_LOAD, ATOMIC_STORE, ACCESSES };

/* Eight bytes of memory: the atomics in them, and when each thread has accessed each byte last. */
struct granule {
    uintptr_t address;
    unsigned round;
    uint8_t splits;
    rl::timestamp_t times[8][ACCESSES][MODEL_THREADS];
    struct cell cells[8];
};

enum { GRANULES = 1 << 13 };
static struct granule *granules;
static unsigned current_round = 1;
static struct granule *used[GRANULES];
static int num_used;

static struct {
    uintptr_t address;
    uint8_t mask;
} splits[64];
static int num_splits;

static thread_of &self_info()
{
    return *static_cast<thread_of *>(rl::ctx().threadx_);
}

static struct granule *granule_of(uintptr_t address, bool make)
{
    address &= ~(uintptr_t)7;
    for (size_t i = (address >> 3) * 0x9e3779b97f4a7c15u >> 51;; i = (i + 1) % GRANULES) {
        struct granule *g = &granules[i];
        if (g->round == current_round && g->address == address)
            return g;
        if (g->round == current_round)
            continue;
        if (!make)
            return NULL;
        if (num_used > GRANULES / 2)
            abort();
        memset(g->times, 0, sizeof g->times);
        for (int k = 0; k < 8; k++)
            g->cells[k].size = 0;
        g->address = address;
        g->round = current_round;
        g->splits = 1;
        for (int k = 0; k < num_splits; k++)
            if (splits[k].address == address)
                g->splits = splits[k].mask | 1;
        used[num_used++] = g;
        return g;
    }
}

static void drop_cell(struct cell *cell)
{
    cell->size = 0;
    cell->atomic().~cell_atomic();
}

static void forget_all()
{
    num_used = 0;
    num_splits = 0;
    current_round++;
}

static void drop_all()
{
    for (int i = 0; i < num_used; i++)
        for (int k = 0; k < 8; k++)
            if (used[i]->cells[k].size)
                drop_cell(&used[i]->cells[k]);
    forget_all();
}

extern "C" void model_split(const void *address, unsigned mask)
{
    splits[num_splits].address = (uintptr_t)address;
    splits[num_splits++].mask = (uint8_t)mask;
    granule_of((uintptr_t)address, true)->splits = (uint8_t)(mask | 1);
}

/* Notes an access to each of the bytes, and fails if another one that conflicts does not come before it. */
static void note(uintptr_t address, size_t size, enum access access)
{
    static const bool conflicts[ACCESSES][ACCESSES] = {
        /* with a plain load, plain store, atomic load, atomic store */
        {false, true, false, true},
        {true, true, true, true},
        {false, true, false, false},
        {true, true, false, false},
    };
    thread_of &self = self_info();
    self.own_acq_rel_order_ += 1;
    for (size_t i = 0; i < size; i++) {
        struct granule *g = granule_of(address + i, true);
        rl::timestamp_t(&times)[ACCESSES][MODEL_THREADS] = g->times[(address + i) & 7];
        for (int other = 0; other < ACCESSES; other++)
            for (int t = 0; conflicts[access][other] && t < MODEL_THREADS; t++)
                if (times[other][t] > self.acq_rel_order_[t]) {
                    static char what[96];
                    snprintf(what, sizeof what, "race of %d and %d at %p+%d with thread %d", access, other,
                             (void *)g->address, (int)((address + i) & 7), t);
                    rl::ctx().fail_test(what, rl::test_result_data_race, rl::debug_info());
                }
        times[access][self.index_] = self.own_acq_rel_order_;
    }
}

static uint64_t mask_of(size_t size)
{
    return size == 8 ? ~(uint64_t)0 : ((uint64_t)1 << size * 8) - 1;
}

static uint64_t read_memory(uintptr_t address, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)address, size);
    return value;
}

/* The first piece of an access, and its size. */
static size_t piece_at(uintptr_t address, size_t size)
{
    struct granule *g = granule_of(address, true);
    size_t offset = address & 7, end = offset + 1;
    while (end < offset + size && !(g->splits >> end & 1))
        end++;
    if (offset + size > 8 || (offset && g->splits != 1 && !(g->splits >> offset & 1))) {
        fprintf(stderr, "checker: %s: access to %zu bytes at %p goes across\n", program->name, size, (void *)address);
        abort();
    }
    return end - offset;
}

/* The atomic at a piece. It is made of what is in memory when it is needed first, or after a plain store. */
static cell_atomic &cell_at(uintptr_t address, size_t size)
{
    struct granule *g = granule_of(address, true);
    struct cell *cell = &g->cells[address & 7];
    if (cell->size == size)
        return cell->atomic();
    for (int i = 0; i < 8; i++)
        if (g->cells[i].size && i < (int)((address & 7) + size) && (int)(address & 7) < i + g->cells[i].size) {
            fprintf(stderr, "checker: %s: %p is accessed as %zu and %d bytes\n", program->name, (void *)address,
                    size, g->cells[i].size);
            abort();
        }
    cell_atomic *atomic = new ((void *)cell->room) cell_atomic();
    cell->size = (uint8_t)size;
    auto &data = *static_cast<rl::atomic_data_impl<MODEL_THREADS> *>(atomic->impl_);
    for (auto &record : data.history_)
        for (rl::timestamp_t &seen : record.first_seen_order_)
            seen = (rl::timestamp_t)-1;
    atomic->value_ = atomic->history_[atomic->last_index_] = read_memory(address, size);
    return *atomic;
}

/* What every access begins and ends with: others may come before it, and none in between. */
struct step {
    step()
    {
        rl::ctx().sched();
        rl::ctx().disable_preemption_++;
    }
    ~step()
    {
        rl::ctx().disable_preemption_--;
        if (model_arrive)
            model_arrive((int)rl::ctx().threadx_->index_);
    }
};

static rl::debug_info where(struct model_site *site)
{
    return site ? rl::debug_info(site->function, site->text, 0) : rl::debug_info("", "", 0);
}

static rl::memory_order as_load(int order)
{
    return order == 5 ? rl::mo_seq_cst : order == 2 || order == 4 ? rl::mo_acquire : rl::mo_relaxed;
}

static rl::memory_order as_store(int order)
{
    return order == 5 ? rl::mo_seq_cst : order == 3 || order == 4 ? rl::mo_release : rl::mo_relaxed;
}

static rl::memory_order as_change(int order)
{
    static const rl::memory_order orders[] = {rl::mo_relaxed, rl::mo_acquire, rl::mo_acquire,
                                              rl::mo_release, rl::mo_acq_rel, rl::mo_seq_cst};
    return orders[order];
}

static uint64_t load(uintptr_t address, size_t size, int order)
{
    struct model_site *site = take_site();
    order = order_of_access(site, order, known_site::LOAD);
    step step;
    note(address, size, ATOMIC_LOAD);
    uint64_t value = 0;
    for (size_t done = 0, piece; done < size; done += piece) {
        piece = piece_at(address + done, size - done);
        value |= cell_at(address + done, piece).load(as_load(order), where(site)) << done * 8;
    }
    return value;
}

/*
 * relacy goes by C11, where a store continues the release sequence of an earlier one of the same thread. Since C17's
 * successors only read-modify-writes do.
 */
static void end_release_sequence(cell_atomic &atomic, rl::memory_order order)
{
    auto &record =
        static_cast<rl::atomic_data_impl<MODEL_THREADS> *>(atomic.impl_)->history_[atomic.last_index_];
    thread_of &self = self_info();
    const rl::timestamp_t *seen = order == rl::mo_relaxed ? self.release_fence_order_ : self.acq_rel_order_;
    std::copy(seen, seen + MODEL_THREADS, record.acq_rel_order_);
}

static void store(uintptr_t address, size_t size, uint64_t value, int order)
{
    struct model_site *site = take_site();
    order = order_of_access(site, order, known_site::STORE);
    step step;
    note(address, size, ATOMIC_STORE);
    for (size_t done = 0, piece; done < size; done += piece) {
        piece = piece_at(address + done, size - done);
        cell_atomic &atomic = cell_at(address + done, piece);
        atomic.store(value >> done * 8 & mask_of(piece), as_store(order), where(site));
        end_release_sequence(atomic, as_store(order));
    }
    memcpy((void *)address, &value, size);
}

enum change { EXCHANGE, ADD, SUB, AND, OR, XOR };

static uint64_t change(uintptr_t address, size_t size, uint64_t operand, enum change how, int order)
{
    struct model_site *site = take_site();
    order = order_of_access(site, order, known_site::CHANGE);
    step step;
    note(address, size, ATOMIC_STORE);
    if (piece_at(address, size) != size)
        abort();
    cell_atomic &atomic = cell_at(address, size);
    rl::memory_order mo = as_change(order);
    uint64_t old = 0;
    switch (how) {
    case EXCHANGE: old = atomic.exchange(operand, mo, where(site)); break;
    case ADD: old = atomic.fetch_add(operand, mo, where(site)); break;
    case SUB: old = atomic.fetch_sub(operand, mo, where(site)); break;
    case AND: old = atomic.fetch_and(operand, mo, where(site)); break;
    case OR: old = atomic.fetch_or(operand, mo, where(site)); break;
    case XOR: old = atomic.fetch_xor(operand, mo, where(site)); break;
    }
    atomic.value_ &= mask_of(size);
    atomic.history_[atomic.last_index_] &= mask_of(size);
    memcpy((void *)address, &atomic.value_, size);
    return old;
}

static bool swap(uintptr_t address, size_t size, uint64_t *expected, uint64_t desired, int order, int failure)
{
    struct model_site *site = take_site();
    int named = order;
    order = order_of_access(site, order, known_site::SWAP);
    if (order != named) /* The failure order goes with it. */
        failure = order == 3 || order == 0 ? 0 : order == 4 ? 2 : order;
    else if (site && site->state && site->state - 1 == mutant.site && mutant.only_failure)
        failure = 0;
    step step;
    note(address, size, ATOMIC_STORE);
    if (piece_at(address, size) != size)
        abort();
    cell_atomic &atomic = cell_at(address, size);
    /* relacy wants a failure order that is not stronger than the other. */
    rl::memory_order mo = as_change(order), fail = as_load(failure);
    bool same = atomic.compare_exchange(rl::bool_t<false>(), *expected, desired, mo, fail, where(site));
    memcpy((void *)address, &atomic.value_, size);
    return same;
}

static void plain(uintptr_t address, size_t size, bool is_store)
{
    rl::context *context = rl::context::is_instance() ? &rl::ctx() : NULL;
    if (!context || !context->threadx_ || !program)
        return;
    /* Others may come before it, too, unless it is on the thread's own stack. */
    if (address - (uintptr_t)__builtin_frame_address(0) + 16384 > 32768 && announced[context->threadx_->index_].num == 0 && rl::rand(4) == 0) {
        rl::ctx().sched();
        if (model_arrive)
            model_arrive(model_self());
    }
    note(address, size, is_store ? PLAIN_STORE : PLAIN_LOAD);
    for (size_t i = 0; is_store && i < size; i++) {
        struct granule *g = granule_of(address + i, true);
        for (int k = 0; k < 8; k++)
            if (g->cells[k].size && k <= (int)((address + i) & 7) && (int)((address + i) & 7) < k + g->cells[k].size)
                drop_cell(&g->cells[k]);
    }
}

/* --- The runtime of the sanitizer --- */

extern "C" {

void __tsan_init(void)
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_func_exit(void)
{
}

#define PLAIN(size)                                                                                                    \
    void __tsan_read##size(void *p) { plain((uintptr_t)p, size, false); }                                              \
    void __tsan_write##size(void *p) { plain((uintptr_t)p, size, true); }                                              \
    void __tsan_unaligned_read##size(void *p) { plain((uintptr_t)p, size, false); }                                    \
    void __tsan_unaligned_write##size(void *p) { plain((uintptr_t)p, size, true); }                                    \
    void __tsan_volatile_read##size(void *p) { plain((uintptr_t)p, size, false); }                                     \
    void __tsan_volatile_write##size(void *p) { plain((uintptr_t)p, size, true); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *p, size_t size)
{
    plain((uintptr_t)p, size, false);
}
void __tsan_write_range(void *p, size_t size)
{
    plain((uintptr_t)p, size, true);
}

#define ATOMIC(bits, type)                                                                                             \
    type __tsan_atomic##bits##_load(const volatile type *p, int mo)                                                    \
    {                                                                                                                  \
        return (type)load((uintptr_t)p, sizeof(type), mo);                                                             \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile type *p, type v, int mo) { store((uintptr_t)p, sizeof(type), v, mo); }   \
    type __tsan_atomic##bits##_exchange(volatile type *p, type v, int mo)                                              \
    {                                                                                                                  \
        return (type)change((uintptr_t)p, sizeof(type), v, EXCHANGE, mo);                                              \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_add(volatile type *p, type v, int mo)                                             \
    {                                                                                                                  \
        return (type)change((uintptr_t)p, sizeof(type), v, ADD, mo);                                                   \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_sub(volatile type *p, type v, int mo)                                             \
    {                                                                                                                  \
        return (type)change((uintptr_t)p, sizeof(type), v, SUB, mo);                                                   \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_and(volatile type *p, type v, int mo)                                             \
    {                                                                                                                  \
        return (type)change((uintptr_t)p, sizeof(type), v, AND, mo);                                                   \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_or(volatile type *p, type v, int mo)                                              \
    {                                                                                                                  \
        return (type)change((uintptr_t)p, sizeof(type), v, OR, mo);                                                    \
    }                                                                                                                  \
    type __tsan_atomic##bits##_fetch_xor(volatile type *p, type v, int mo)                                             \
    {                                                                                                                  \
        return (type)change((uintptr_t)p, sizeof(type), v, XOR, mo);                                                   \
    }                                                                                                                  \
    bool __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *c, type v, int mo, int fmo)             \
    {                                                                                                                  \
        uint64_t expected = *c;                                                                                        \
        bool same = swap((uintptr_t)p, sizeof(type), &expected, v, mo, fmo);                                           \
        *c = (type)expected;                                                                                           \
        return same;                                                                                                   \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_signal_fence(int)
{
}

void __tsan_atomic_thread_fence(int mo)
{
    int order = order_of_access(take_site(), mo, known_site::FENCE);
    step step;
    switch (order) {
    case -1: break;
    case 5: self_info().atomic_thread_fence_seq_cst(rl::ctx().seq_cst_fence_order_); break;
    case 4: self_info().atomic_thread_fence_acq_rel(); break;
    case 3: self_info().atomic_thread_fence_release(); break;
    default: self_info().atomic_thread_fence_acquire(); break;
    }
}

/* --- What models and stubs ask for --- */

int model_self(void)
{
    return (int)rl::ctx().threadx_->index_;
}

void model_fail(const char *what)
{
    rl::ctx().fail_test(what, rl::test_result_user_assert_failed, rl::debug_info("", what, 0));
    abort();
}

unsigned model_choose(unsigned num)
{
    return rl::rand(num);
}

void model_linger(unsigned most)
{
    for (unsigned left = rl::rand(most); left > 0; left--)
        rl::ctx().sched();
    if (model_arrive)
        model_arrive(model_self());
}

void model_give_way(void)
{
    rl::ctx().yield(1, rl::debug_info("", "gives way", 0));
    if (model_arrive)
        model_arrive(model_self());
}

static thread_of *infos[MODEL_THREADS];

void model_fence_all(void)
{
    for (int i = -1; i <= program->threads; i++) {
        step step; /* the caller's own fences come first and last */
        thread_of &info = i >= 0 && i < program->threads ? *infos[i] : self_info();
        info.atomic_thread_fence_seq_cst(rl::ctx().seq_cst_fence_order_);
    }
}

static rl::waitset<MODEL_THREADS> *sleepers_of(cell_atomic &atomic)
{
    return &static_cast<rl::atomic_data_impl<MODEL_THREADS> *>(atomic.impl_)->futex_ws_;
}

/*
 * The system compares the last value, since its comparison and the wake have one lock, and there are fences around
 * that: so a thread sleeps only if it comes before the store. A wake orders nothing.
 */
bool abti_futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns)
{
    {
        step step;
        if (cell_at((uintptr_t)word, 4).value_ != expected)
            return true;
    }
    rl::waitset<MODEL_THREADS> *sleepers = sleepers_of(cell_at((uintptr_t)word, 4));
    rl::unpark_reason reason =
        sleepers->park_current(rl::ctx(), deadline_ns != UINT64_MAX, false, false, rl::debug_info("", "sleeps", 0));
    if (model_arrive)
        model_arrive(model_self());
    return reason != rl::unpark_reason_timeout;
}

void abti_futex_wake_all(uint32_t *word)
{
    step step;
    struct granule *g = granule_of((uintptr_t)word, false);
    struct cell *cell = g ? &g->cells[(uintptr_t)word & 7] : NULL;
    while (cell && cell->size && sleepers_of(cell->atomic())->unpark_one(rl::ctx(), rl::debug_info("", "wakes", 0)))
        ;
}

void abti_futex_wake(uint32_t *word)
{
    step step;
    struct granule *g = granule_of((uintptr_t)word, false);
    struct cell *cell = g ? &g->cells[(uintptr_t)word & 7] : NULL;
    if (cell && cell->size)
        sleepers_of(cell->atomic())->unpark_one(rl::ctx(), rl::debug_info("", "wakes", 0));
}

bool abti_membarrier(void)
{
    if (!model_is_mutant("no membarrier"))
        model_fence_all();
    return true;
}

bool abti_membarrier_is_ready(void)
{
    return true;
}

bool abti_membarrier_init(void)
{
    return true;
}

void abti_backoff(unsigned)
{
    model_give_way();
}

unsigned abti_spin_wait(void *, unsigned step)
{
    model_give_way();
    return step;
}

static uint64_t now_ns;

void model_pass_time(uint64_t ns)
{
    now_ns += ns;
}

uint64_t abti_clock_mono_ns(void)
{
    return now_ns += 500;
}
}

/* --- The search --- */

static bool verbose, is_long;
static int context_bound;

struct suite;
template <typename scheduler> static void find_infos_of()
{
    auto &context = (rl::context_impl<suite, scheduler> &)rl::ctx(); /* a private base: no other cast gets there */
    for (int i = 0; i < MODEL_THREADS; i++)
        infos[i] = &context.threads_[i];
}

struct suite : rl::test_suite<suite, MODEL_THREADS> {
    static void find_infos()
    {
        if (context_bound)
            find_infos_of<rl::context_bound_scheduler<MODEL_THREADS>>();
        else
            find_infos_of<rl::random_scheduler<MODEL_THREADS>>();
    }
    void before()
    {
        now_ns = 0;
        forget_all(); /* of a search that failed */
        memset(announced, 0, sizeof announced);
        find_infos();
        if (model_arrive)
            model_arrive(0);
        program->before();
    }
    void thread(unsigned index)
    {
        if (model_arrive)
            model_arrive((int)index);
        if ((int)index < program->threads)
            program->thread((int)index);
    }
    void after()
    {
        if (program->after)
            program->after();
        drop_all();
    }
};

/* Whether the program holds with the mutant of this process. */
static bool search()
{
    rl::test_params params;
    std::ofstream nowhere("/dev/null");
    params.iteration_count = (unsigned)program->iterations * (is_long ? 20 : 1);
    params.execution_depth_limit = 20000;
    if (!verbose) {
        params.output_stream = params.progress_stream = &nowhere;
        params.output_history = true; /* else it would search once more */
    }
    if (context_bound) {
        params.search_type = rl::fair_context_bound_scheduler_type;
        params.context_bound = (unsigned)context_bound;
    }
    return rl::simulate<suite>(params);
}

/* Searches in a child, since a search that ends early leaves its threads behind, and a mutant may crash. */
static bool holds(const struct model_program *p, int site, int order, bool only_failure, const char *name)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!verbose || site >= 0 || name)
            (void)!freopen("/dev/null", "w", stderr);
        verbose = verbose && site < 0 && !name;
        alarm(is_long ? 300 : 60);
        program = p;
        mutant = {site, order, only_failure, name};
        _exit(search() ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        printf("# %s takes too long\n", p->name); /* on a busy machine: that says nothing of a mutant */
        return site >= 0 || name;
    }
    return status == 0;
}

static int num_holding, num_caught, num_wrong;

static const struct model_kept *find_kept(const struct known_site *site, const char *weaker)
{
    for (const struct model_kept *k = model_kept; k->function; k++)
        if (!strcmp(k->function, site->function) && strstr(site->text, k->access) &&
            (!k->weaker || !strcmp(k->weaker, weaker)))
            return k;
    return NULL;
}

static void try_mutant(int index, int order, bool only_failure)
{
    struct known_site *site = &known->sites[index];
    char weaker[64];
    snprintf(weaker, sizeof weaker, "%s%s", only_failure ? "failure " : "", order < 0 ? "none" : order_names[order]);
    const struct model_kept *kept = find_kept(site, weaker);
    if (kept && !is_long)
        return;
    bool caught = false;
    /* How soon a mutant is caught differs from compiler to compiler: one that is not at once gets a long search. */
    bool was_long = is_long;
    for (int tries = 0; tries < 2 && !caught; tries++) {
        is_long = was_long || tries > 0;
        for (const struct model_program *p = model_programs; p->name && !caught; p++)
            if (site->programs >> (p - model_programs) & 1)
                caught = !holds(p, index, order, only_failure, NULL);
        if (was_long)
            break;
    }
    is_long = was_long;
    if (verbose || caught == (kept != NULL))
        printf("%s %s: %s: %s -> %s\n", caught ? kept ? "# caught, but kept" : "# caught" : kept ? "# kept" : "not caught",
               model_name, site->function, site->text, weaker);
    num_caught += caught;
    num_wrong += !caught && !kept;
}

static void try_orders(int index)
{
    switch (known->sites[index].kind) {
    case known_site::LOAD:
        if (known->sites[index].order == 5)
            try_mutant(index, 2, false);
        if (known->sites[index].order == 2)
            try_mutant(index, 0, false);
        break;
    case known_site::STORE:
        if (known->sites[index].order == 5)
            try_mutant(index, 3, false);
        if (known->sites[index].order == 3)
            try_mutant(index, 0, false);
        break;
    case known_site::CHANGE:
    case known_site::SWAP:
        if (known->sites[index].order == 5)
            try_mutant(index, 4, false);
        if (known->sites[index].order == 4) {
            try_mutant(index, 2, false);
            try_mutant(index, 3, false);
            if (known->sites[index].kind == known_site::SWAP)
                try_mutant(index, 0, true);
        }
        if (known->sites[index].order == 2 || known->sites[index].order == 3)
            try_mutant(index, 0, false);
        break;
    case known_site::FENCE:
        try_mutant(index, -1, false);
        if (known->sites[index].order == 5)
            try_mutant(index, 4, false);
        break;
    }
}

/*
 * checker [--verbose] [--long] [--bound=N] [--only-hold] [PROGRAM]: the last line says how many programs held, how many
 * mutants were caught, and how many of either were not. --bound searches all schedules with so many preemptions.
 */
int main(int argc, char **argv)
{
    const char *chosen = NULL;
    bool only_hold = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--verbose"))
            verbose = true;
        else if (!strcmp(argv[i], "--long"))
            is_long = true;
        else if (!strcmp(argv[i], "--only-hold"))
            only_hold = true;
        else if (!strncmp(argv[i], "--bound=", 8))
            context_bound = atoi(argv[i] + 8);
        else
            chosen = argv[i];
    }
    __libc_single_threaded = 0;
    known = (struct known *)mmap(NULL, sizeof *known, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    granules = (struct granule *)mmap(NULL, GRANULES * sizeof *granules, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (const struct model_program *p = model_programs; p->name; p++) {
        if (chosen && strcmp(p->name, chosen))
            continue;
        bool good = holds(p, -1, 0, false, NULL);
        num_holding += good;
        num_wrong += !good;
        if (!good)
            printf("%s: %s does not hold\n", model_name, p->name);
    }
    bool searched = !only_hold && num_wrong == 0;
    for (int i = 0; i < known->num && searched; i++)
        try_orders(i);
    for (const char *const *name = model_own_mutants; *name && searched; name++) {
        bool caught = false;
        for (const struct model_program *p = model_programs; p->name && !caught; p++)
            caught = !holds(p, -1, 0, false, *name);
        if (!caught)
            printf("not caught %s: %s\n", model_name, *name);
        num_caught += caught;
        num_wrong += !caught;
    }
    printf("%d %d %d\n", num_holding, num_caught, num_wrong);
    return num_wrong != 0;
}
