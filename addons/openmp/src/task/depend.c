/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dependences among the children of a task. Its table has for each address the tasks that use it now, all in the same
 * way (readers, or a set of inoutset; one alone, if it writes), and those before them, on which each of the first ones
 * depends. Only the member that runs the task uses the table. What was entered stays in memory as a node, in that of
 * its task, until it is in no table any more; a node that has ended needs no edge. Of an edge the lock of the first
 * node decides: either it is there before the node ends, and is counted at its end; or the end is seen.
 */
#include "ompt/tool.h"
#include "task/tasks.h"

#include <stdlib.h>
#include <string.h>

/* In the number of nodes that a node waits for, as long as not all are known: more than there ever are. */
enum { UNKNOWN = 1 << 30 };

struct set {
    struct abtomp_node **nodes;
    uint32_t num, capacity;
};

struct entry {
    uintptr_t address;
    unsigned use; /* of the present nodes; 0: the entry is unused */
    struct set present, before;
};

struct abtomp_table {
    uint32_t num, capacity; /* a power of two */
    struct set all;         /* the last one that depends on all memory, in `present` of each new entry */
    struct entry *entries;
};

/* -- Nodes -- */

static void node_init(struct abtomp_node *node, struct abtomp_task *task)
{
    /* relaxed, all: nobody else knows the node */
    atomic_store_explicit(&node->refs, 1, memory_order_relaxed);
    atomic_store_explicit(&node->before, UNKNOWN, memory_order_relaxed);
    atomic_store_explicit(&node->lock, 0, memory_order_relaxed);
    atomic_store_explicit(&node->has_ended, false, memory_order_relaxed);
    node->task = task;
    node->num = node->edges = 0;
    node->capacity = sizeof(node->first) / sizeof(node->first[0]);
    node->after = node->first;
}

void abtomp_node_leave(struct abtomp_tasks *own, struct abtomp_node *node)
{
    /* acq_rel: pairs with itself, in abtomp_node_leave: the last one frees what all have used */
    if (atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) == 1) {
        if (node->after != node->first)
            free(node->after);
        struct abtomp_task *task = node->task;
        if (node->is_apart)
            free(node);
        abtomp_block_free(own, task);
    }
}

struct abtomp_node *abtomp_node_apart(void)
{
    struct abtomp_node *node = abtomp_must_have(malloc(sizeof(*node)));
    node->is_apart = true;
    return node;
}

/* acquire: pairs with the release in abtomp_depend_end: a task that waits for nothing sees what this one has done */
static inline bool node_has_ended(const struct abtomp_node *node)
{
    return atomic_load_explicit(&node->has_ended, memory_order_acquire);
}

static void add_edge(struct abtomp_node *before, struct abtomp_node *node)
{
    if (before == node || node_has_ended(before))
        return;
    abtomp_mutex_lock(&before->lock);
    if (!node_has_ended(before)) {
        if (before->num == before->capacity) {
            size_t size = before->capacity * sizeof(before->after[0]);
            bool is_own = before->after != before->first;
            struct abtomp_node **after = abtomp_must_have(realloc(is_own ? before->after : NULL, 2 * size));
            if (!is_own)
                memcpy(after, before->first, size);
            before->after = after;
            before->capacity *= 2;
        }
        before->after[before->num++] = node;
        node->edges++;
        if (abtomp_is_observed() && before->task && node->task)
            abtomp_tool_depend(abtomp_view_of(before->task), abtomp_view_of(node->task));
    }
    abtomp_mutex_unlock(&before->lock);
}

/* acq_rel: pairs with itself, in count_down: the thread that makes it 0 sees what all have done. True: it is 0 */
static bool count_down(struct abtomp_node *node, uint32_t num)
{
    return atomic_fetch_sub_explicit(&node->before, num, memory_order_acq_rel) == num;
}

/* All nodes are known that it waits for. True: they have ended. If there is none, node_has_ended has seen that. */
static bool end_edges(struct abtomp_node *node)
{
    return node->edges == 0 || count_down(node, UNKNOWN - node->edges);
}

void abtomp_depend_end(struct abtomp_member *me, struct abtomp_tasks *own, struct abtomp_task *task)
{
    struct abtomp_node *node = task->node;
    abtomp_mutex_lock(&node->lock);
    /* release: pairs with the acquire in node_has_ended */
    atomic_store_explicit(&node->has_ended, true, memory_order_release);
    abtomp_mutex_unlock(&node->lock);
    for (uint32_t i = 0; i < node->num; i++) { /* constant from now on */
        struct abtomp_node *after = node->after[i];
        struct abtomp_task *next = after->task; /* a waiter may be gone when it has been counted */
        if (!count_down(after, 1))
            continue;
        if (next && !task->has_event) {
            abtomp_task_put(me, own, next);
            continue;
        }
        /* An event may come to a member that runs something else: it must not have the task in its deque. */
        if (next)
            abtomp_box_put(me->team, next);
        abtomp_bell_ring(me->team);
    }
}

/* -- Sets -- */

static void set_clear(struct abtomp_tasks *own, struct set *set)
{
    for (uint32_t i = 0; i < set->num; i++)
        abtomp_node_leave(own, set->nodes[i]);
    set->num = 0;
}

static void set_free(struct abtomp_tasks *own, struct set *set)
{
    set_clear(own, set);
    free(set->nodes);
}

/* The caller has counted the set at the node. Nodes that have ended make room first. */
static void set_add(struct abtomp_tasks *own, struct set *set, struct abtomp_node *node)
{
    if (set->num == set->capacity) {
        uint32_t num = set->num;
        set->num = 0;
        for (uint32_t i = 0; i < num; i++) {
            if (node_has_ended(set->nodes[i]))
                abtomp_node_leave(own, set->nodes[i]);
            else
                set->nodes[set->num++] = set->nodes[i];
        }
        if (set->num >= set->capacity / 2) {
            set->capacity = set->capacity > 0 ? 2 * set->capacity : 2;
            set->nodes = abtomp_must_have(realloc(set->nodes, set->capacity * sizeof(set->nodes[0])));
        }
    }
    set->nodes[set->num++] = node;
}

/* Adds a node that nobody else knows well enough to leave it. relaxed, both: the caller alone writes it */
static void set_add_new(struct abtomp_tasks *own, struct set *set, struct abtomp_node *node)
{
    uint32_t refs = atomic_load_explicit(&node->refs, memory_order_relaxed);
    atomic_store_explicit(&node->refs, refs + 1, memory_order_relaxed);
    set_add(own, set, node);
}

static bool set_has_ended(const struct set *set)
{
    uint32_t i = 0;
    while (i < set->num && node_has_ended(set->nodes[i]))
        i++;
    return i == set->num;
}

static void set_edges(const struct set *set, struct abtomp_node *node)
{
    for (uint32_t i = 0; i < set->num; i++)
        add_edge(set->nodes[i], node);
}

static bool set_has(const struct set *set, const struct abtomp_node *node)
{
    for (uint32_t i = 0; i < set->num; i++)
        if (set->nodes[i] == node)
            return true;
    return false;
}

/* -- Tables -- */

static struct entry *find_entry(const struct abtomp_table *table, uintptr_t address)
{
    uint32_t mask = table->capacity - 1, i = (uint32_t)((address * 0x9e3779b97f4a7c15U) >> 32) & mask;
    while (table->entries[i].use != 0 && table->entries[i].address != address)
        i = (i + 1) & mask;
    return &table->entries[i];
}

/* Frees the entries whose nodes have ended: those depend on the ones before them, so that these have ended, too. */
static void drop_ended(struct abtomp_tasks *own, struct abtomp_table *table)
{
    for (uint32_t i = 0; i < table->capacity; i++) {
        struct entry *entry = &table->entries[i];
        if (entry->use == 0 || !set_has_ended(&entry->present))
            continue;
        set_free(own, &entry->present);
        set_free(own, &entry->before);
        entry->use = 0;
        table->num--;
    }
}

/*
 * Half of the entries are in use. It becomes larger if a fourth still is without those that have ended: so a member
 * that makes tasks of ever other addresses keeps memory for those only that have not ended.
 */
static void table_make_room(struct abtomp_tasks *own, struct abtomp_table *table)
{
    struct abtomp_table old = *table;
    drop_ended(own, table);
    if (4 * table->num >= old.capacity)
        table->capacity = old.capacity > 0 ? 2 * old.capacity : 8;
    table->entries = abtomp_must_have(calloc(table->capacity, sizeof(table->entries[0])));
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.entries[i].use != 0)
            *find_entry(table, old.entries[i].address) = old.entries[i];
    free(old.entries);
}

static struct entry *entry_of(struct abtomp_tasks *own, struct abtomp_table *table, uintptr_t address)
{
    if (2 * table->num >= table->capacity)
        table_make_room(own, table);
    struct entry *entry = find_entry(table, address);
    if (entry->use == 0) {
        table->num++;
        entry->address = address;
        entry->use = ABTOMP_USE_OUT;
        for (uint32_t i = 0; i < table->all.num; i++) {
            atomic_fetch_add_explicit(&table->all.nodes[i]->refs, 1, memory_order_relaxed); /* relaxed: `all` has one */
            set_add(own, &entry->present, table->all.nodes[i]);
        }
    }
    return entry;
}

void abtomp_depend_forget(struct abtomp_tasks *own, struct abtomp_task *task)
{
    struct abtomp_table *table = task->table;
    if (!table)
        return;
    for (uint32_t i = 0; i < table->capacity; i++) {
        set_free(own, &table->entries[i].present);
        set_free(own, &table->entries[i].before);
    }
    set_free(own, &table->all);
    free(table->entries);
    free(table);
    task->table = NULL;
}

/* -- Dependences -- */

/* What a task, or a wait, does with each of its addresses. */
struct uses {
    struct abtomp_tasks *own;
    struct abtomp_table *table;
    struct abtomp_node *node;
    bool is_entered; /* others may depend on the node */
};

/* The node uses the address of an entry after all that use it now. */
static void use_after(const struct uses *uses, struct entry *entry, unsigned use)
{
    set_edges(&entry->present, uses->node);
    if (set_has(&entry->present, uses->node)) /* by another use */
        set_edges(&entry->before, uses->node);
    if (!uses->is_entered)
        return;
    struct set before = entry->before;
    set_clear(uses->own, &before);
    entry->before = entry->present;
    entry->present = before;
    entry->use = use;
    set_add_new(uses->own, &entry->present, uses->node);
}

static void use_all(const struct uses *uses)
{
    for (uint32_t i = 0; i < uses->table->capacity; i++)
        if (uses->table->entries[i].use != 0)
            use_after(uses, &uses->table->entries[i], ABTOMP_USE_OUT);
    set_edges(&uses->table->all, uses->node);
    if (uses->is_entered) {
        set_clear(uses->own, &uses->table->all);
        set_add_new(uses->own, &uses->table->all, uses->node);
    }
}

static void use_address(const struct uses *uses, void *address, unsigned use)
{
    if (!address) { /* omp_all_memory */
        use_all(uses);
        return;
    }
    struct entry *entry = entry_of(uses->own, uses->table, (uintptr_t)address);
    if (use == ABTOMP_USE_OUT || entry->use != use) {
        use_after(uses, entry, use);
        return;
    }
    set_edges(&entry->before, uses->node);
    if (uses->is_entered)
        set_add_new(uses->own, &entry->present, uses->node);
}

/* A depend object: an address, and its use as the interface has it. */
static void use_object(const struct uses *uses, void *const *object)
{
    uintptr_t use = (uintptr_t)object[1];
    use_address(uses, object[0], use == ABTOMP_USE_IN || use == ABTOMP_USE_INOUTSET ? (unsigned)use : ABTOMP_USE_OUT);
}

/*
 * The list: its length, and how many are out or inout, which come first. Or 0, its length, how many are out or inout,
 * mutexinoutset, and in, in this order, and objects after them.
 */
static void use_list(const struct uses *uses, void **list)
{
    uintptr_t num = (uintptr_t)list[0], outs = (uintptr_t)list[1], ins = num - outs;
    void **at = &list[2];
    if (num == 0) {
        num = (uintptr_t)list[1];
        outs = (uintptr_t)list[2] + (uintptr_t)list[3];
        ins = (uintptr_t)list[4];
        at = &list[5];
    }
    for (uintptr_t i = 0; i < num; i++) {
        if (i < outs)
            use_address(uses, at[i], ABTOMP_USE_OUT);
        else if (i < outs + ins)
            use_address(uses, at[i], ABTOMP_USE_IN);
        else
            use_object(uses, at[i]);
    }
}

bool abtomp_depend(struct abtomp_tasks *own, struct abtomp_task *task, void **depend)
{
    struct abtomp_task *parent = own->task;
    if (!parent->table)
        parent->table = abtomp_must_have(calloc(1, sizeof(*parent->table)));
    node_init(task->node, task);
    struct uses uses = {own, parent->table, task->node, true};
    use_list(&uses, depend);
    return end_edges(uses.node);
}

static bool is_ready(struct abtomp_member *me, void *arg)
{
    const struct abtomp_node *node = arg;
    (void)me;
    /* acquire: pairs with the release in count_down */
    return atomic_load_explicit(&node->before, memory_order_acquire) == 0;
}

void abtomp_depend_await(struct abtomp_member *me, struct abtomp_tasks *own, void **depend)
{
    struct abtomp_node node;
    if (!own->task->table)
        return;
    node_init(&node, NULL);
    struct uses uses = {own, own->task->table, &node, false};
    use_list(&uses, depend);
    if (end_edges(&node))
        return;
    struct abtomp_await await = {.done = is_ready, .arg = &node};
    abtomp_crew_await(me, own, &await);
}
