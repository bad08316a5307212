/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap against an array that is searched for its smallest key, and how much a single removal may have to do. */
#include "base/heap.h"

#include "tap.h"

enum { NODES = 2000, STEPS = 100000, MANY = 200000 };

static struct abti_heap_node nodes[MANY];
static bool inside[MANY];
static struct abti_heap heap;
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void insert(size_t i, uint64_t key)
{
    nodes[i].key = key;
    abti_heap_insert(&heap, &nodes[i]);
    inside[i] = true;
}

static void take(size_t i)
{
    abti_heap_remove(&nodes[i]);
    inside[i] = false;
}

static bool first_is_right(void)
{
    struct abti_heap_node *first = abti_heap_first(&heap);
    uint64_t smallest = UINT64_MAX;
    bool any = false;

    for (size_t i = 0; i < NODES; i++) {
        if (inside[i]) {
            any = true;
            smallest = nodes[i].key < smallest ? nodes[i].key : smallest;
        }
    }
    if (!any)
        return !first && !abti_heap_some(&heap);
    return first && inside[first - nodes] && first->key == smallest && inside[abti_heap_some(&heap) - nodes];
}

/* Every pointer to a node is the one that the node knows of, and nobody is above one with a smaller key. */
static size_t check_tree(struct abti_heap_node **where, uint64_t least, bool *right)
{
    size_t n = 0;

    for (; *where; where = &(*where)->next, n++) {
        *right = *right && (*where)->where == where && (*where)->key >= least;
        n += check_tree(&(*where)->child, (*where)->key, right);
    }
    return n;
}

static bool is_sound(size_t expected)
{
    size_t n = 0;
    bool right = true;

    for (size_t i = 0; i < ABTI_HEAP_TREES; i++) {
        n += check_tree(&heap.trees[i], 0, &right);
        right = right && (!heap.trees[i] || !heap.trees[i]->next);
    }
    return right && n == expected;
}

static void test_random(uint64_t keys)
{
    size_t num = 0;
    bool right = true, sound = true;

    for (size_t step = 0; step < STEPS; step++) {
        size_t i = next_random() % NODES;
        if (!inside[i] && (step / 5000 % 2 == 0 || next_random() % 4 == 0)) {
            insert(i, next_random() % keys);
            num++;
        } else if (inside[i]) {
            take(i);
            num--;
        }
        if (step % 64 == 0) {
            right = right && first_is_right();
            sound = sound && is_sound(num);
        }
    }
    ok(right, "the first one is the smallest of up to %d keys below %ju", NODES, (uintmax_t)keys);
    ok(sound, "and all links are right");
    for (size_t i = 0; i < NODES; i++) {
        if (inside[i])
            take(i);
    }
    ok(first_is_right(), "empty in the end");
}

static void test_order(void)
{
    uint64_t last = 0;
    bool sorted = true;
    size_t n = 0;

    for (size_t i = 0; i < MANY; i++)
        insert(i, next_random());
    for (struct abti_heap_node *node; (node = abti_heap_first(&heap)); n++) {
        sorted = sorted && node->key >= last;
        last = node->key;
        abti_heap_remove(node);
    }
    ok(sorted, "taken out in order");
    is_int(n, MANY, "all of them");
}

static size_t num_children(const struct abti_heap_node *node)
{
    size_t n = 0;

    for (node = node->child; node; node = node->next)
        n++;
    return n;
}

/* Whatever order they come in, no node has many children: its removal takes no long time. */
static void test_bounds(const char *name, uint64_t (*key)(size_t))
{
    size_t most = 0;

    memset(&heap, 0, sizeof(heap));
    for (size_t i = 0; i < MANY; i++)
        insert(i, key(i));
    for (size_t i = 0; i < MANY; i++) {
        struct abti_heap_node *first = abti_heap_first(&heap);
        size_t n = num_children(first);
        most = n > most ? n : most;
        abti_heap_remove(first);
    }
    ok(most <= 64, "keys %s: no removal has to join more than 64 trees (%zu)", name, most);
}

static uint64_t rising(size_t i)
{
    return i;
}

static uint64_t falling(size_t i)
{
    return MANY - i;
}

static uint64_t same(size_t i)
{
    return 7;
}

static uint64_t any(size_t i)
{
    return next_random();
}

static void test_drain(void)
{
    static bool seen[NODES];
    size_t n = 0;
    bool once = true;

    is_ptr(abti_heap_drain(&heap), NULL, "nothing to drain");
    for (size_t i = 0; i < NODES; i++)
        insert(i, next_random());
    for (size_t i = 0; i < NODES; i += 3)
        take(i);
    for (struct abti_heap_node *node = abti_heap_drain(&heap); node; node = node->next, n++) {
        size_t i = (size_t)(node - nodes);
        once = once && inside[i] && !seen[i];
        seen[i] = true;
    }
    ok(once, "each is drained once");
    is_int(n, NODES - (NODES + 2) / 3, "all of them");
    ok(!abti_heap_some(&heap) && !abti_heap_first(&heap), "the heap is empty then");
}

int main(void)
{
    test_random(UINT64_MAX);
    test_random(10);
    test_order();
    test_bounds("that rise", rising);
    test_bounds("that fall", falling);
    test_bounds("all the same", same);
    test_bounds("at random", any);
    test_drain();
    return done_testing();
}
