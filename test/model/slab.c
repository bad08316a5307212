/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The depot of a slab: mem/slab.c, mem/depot.c and mem/arena.c as they are. Objects are taken from one thread's cache
 * and put into another's, by way of full magazines in the depot, while a third thread gives memory back. No object has
 * two users, and its memory is written by one thread after the other.
 */
#include "checker.h"
#include <string.h>
#include "mem/arena.c"
#include "mem/depot.c"
#include "mem/slab.c"

const char model_name[] = "slab";
const char *const model_subjects[] = {"src/mem/slab.c", "src/mem/depot.c", "src/mem/arena.c", "src/lock/spin.h", 0};

enum { OBJECTS = 6, CELL = 64, CHUNK = 64 * CELL };

struct object {
    struct abti_node node;
    int users;
};

bool abti_annotate_order;
uint32_t abti_num_nodes = 1;
static char memory[512 * 1024] __attribute__((aligned(4096)));
static size_t mapped;
static struct abti_slab slab;
static _Atomic(struct object *) passed[OBJECTS];

bool abti_chunk_map(struct abti_chunk *chunk, size_t size, bool huge)
{
    model_assert(mapped + size <= sizeof memory);
    *chunk = (struct abti_chunk){memory + mapped, size, ABTI_CHUNK_NORMAL};
    mapped += size;
    return true;
}

void abti_chunk_unmap(const struct abti_chunk *chunk)
{
}

size_t abti_chunk_size(size_t size, bool huge)
{
    return size;
}

size_t abti_vm_page_size(void)
{
    return CHUNK;
}

void abti_vm_release(void *base, size_t size)
{
    (void)base, (void)size;
}

bool abti_vm_is_locked_when_mapped(void)
{
    return false;
}

static void write_over(struct object *object)
{
    model_assert(object->users == 0);
    object->node.next = NULL;
    object->users = 0;
}

static void retired(void *object)
{
    write_over(object);
}

static void before(void)
{
    static const struct abti_slab_spec spec = {
        .arena = {.cell = CELL, .block = CHUNK, .span = CHUNK, .chunk = CHUNK, .map = abti_chunk_map},
        .run = 1,
        .batch = 1,
        .spares = 1,
        .retire = retired,
        .kept = 0,
    };
    memset(memory, 0, mapped);
    mapped = 0;
    abti_slab_init(&slab, &spec);
    for (int i = 0; i < OBJECTS; i++)
        passed[i] = NULL;
}

static struct object *get(struct abti_cache *cache)
{
    struct object *object = abti_cache_get(cache);
    model_assert(object && object->users++ == 0);
    return object;
}

static void put(struct abti_cache *cache, struct object *object)
{
    model_assert(--object->users == 0);
    object->node.next = NULL;
    abti_cache_put(cache, object);
}

/* One makes objects, another one frees them. */
static void pass(int index)
{
    struct abti_cache cache;
    if (index == 2) {
        for (int i = 0; i < 3; i++) {
            model_linger(40);
            (void)abti_slab_look(&slab);
            while (abti_slab_give_back(&slab))
                ;
        }
        return;
    }
    model_assert(abti_cache_init(&cache, &slab) == 0);
    for (int i = 0; i < OBJECTS; i++) {
        if (index == 0) {
            atomic_store_explicit(&passed[i], get(&cache), memory_order_release);
        } else {
            struct object *object;
            while (!(object = atomic_load_explicit(&passed[i], memory_order_acquire)))
                model_give_way();
            put(&cache, object);
        }
    }
    abti_cache_fini(&cache);
}

/* Both take and free, and flush. */
static void both(int index)
{
    struct abti_cache cache;
    model_assert(abti_cache_init(&cache, &slab) == 0);
    for (int i = 0; i < 2; i++) {
        struct object *few[3];
        for (int k = 0; k < 3; k++)
            few[k] = get(&cache);
        for (int k = 0; k < 3; k++)
            put(&cache, few[k]);
        if (index == 0)
            abti_cache_flush(&cache);
    }
    abti_cache_fini(&cache);
}

static void after(void)
{
    abti_slab_fini(&slab);
}

const struct model_program model_programs[] = {
    {"one makes, another one frees", 3, 1000, before, pass, after},
    {"two take and free", 2, 1000, before, both, after},
    {0},
};

const struct model_kept model_kept[] = {
    {"abti_spin_trylock", "compare_exchange", "acquire", "bias.c says why"},
    {"abti_spin_trylock", "compare_exchange", "failure relaxed", "likewise"},
    {0},
};

const char *const model_own_mutants[] = {0};
