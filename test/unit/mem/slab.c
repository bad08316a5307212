/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "mem/slab.h"
#include "os/vm.h"
#include "tap.h"

enum { CELL = 64, RUN = 16, BATCH = 8, CELLS = 1024, NUM_THREADS = 4 };

static int maps_left = 1000000;

static bool map(struct abti_chunk *chunk, size_t size, bool huge)
{
    return maps_left-- > 0 && abti_chunk_map(chunk, size, huge);
}

static const struct abti_slab_spec spec = {
    .arena = {.cell = CELL, .block = CELL * CELLS, .span = CELL * CELLS, .chunk = CELL * CELLS, .map = map},
    .run = RUN,
    .batch = BATCH,
    .spares = 1,
};

static int by_address(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

    return x < y ? -1 : x > y;
}

static bool are_different(void **objects, size_t n)
{
    bool different = true;

    qsort(objects, n, sizeof(*objects), by_address);
    for (size_t i = 1; i < n; i++)
        different = different && (char *)objects[i] - (char *)objects[i - 1] >= CELL;
    return different;
}

static void test_one_cache(void)
{
    enum { NUM = 3 * CELLS };
    static void *objects[NUM], *first[NUM];
    struct abti_slab slab;
    struct abti_cache cache;
    bool in_order = true, got_all = true;

    abti_slab_init(&slab, &spec);
    ok(!abti_cache_init(&cache, &slab), "a cache");
    for (int i = 0; i < NUM; i++) {
        objects[i] = abti_cache_get(&cache);
        got_all = got_all && objects[i];
        in_order = in_order && (i % CELLS == 0 || (char *)objects[i] - (char *)objects[i - 1] == CELL);
    }
    ok(got_all, "%d objects", NUM);
    ok(in_order, "unused memory is handed out in order");
    memcpy(first, objects, sizeof(first));
    ok(are_different(first, NUM), "they do not overlap");
    for (int i = 0; i < NUM; i++) {
        memset(objects[i], i, CELL);
        abti_cache_put(&cache, objects[i]);
    }
    ok(abti_cache_get(&cache) == objects[NUM - 1], "the last one freed comes first");
    abti_cache_put(&cache, objects[NUM - 1]);
    for (int i = 0; i < NUM; i++)
        objects[i] = abti_cache_get(&cache);
    qsort(objects, NUM, sizeof(objects[0]), by_address);
    ok(!memcmp(objects, first, sizeof(first)), "freed ones are used again, all of them");
    for (int i = 0; i < NUM; i++)
        abti_cache_put(&cache, objects[i]);
    abti_cache_fini(&cache);
    abti_slab_fini(&slab);
}

/* A put makes older objects leave the cache, never the one that is put: somebody may stand on it. */
static void test_put_keeps(void)
{
    enum { NUM = 20 * BATCH };
    void *objects[NUM];
    struct abti_slab slab;
    struct abti_cache cache;
    bool kept = true;

    abti_slab_init(&slab, &spec);
    ok(!abti_cache_init(&cache, &slab), "a cache");
    for (int i = 0; i < NUM; i++)
        objects[i] = abti_cache_get(&cache);
    for (int i = 0; i < NUM; i++) {
        abti_cache_put(&cache, objects[i]);
        void *back = abti_cache_get(&cache);
        kept = kept && back == objects[i];
        abti_cache_put(&cache, back);
    }
    ok(kept, "what was put last is still in the cache");
    abti_cache_fini(&cache);
    abti_slab_fini(&slab);
}

/* Two streams that each take and free as many at a time: each gets back what it had, though the depot has it, too. */
static void test_own_come_back(unsigned spares, int num)
{
    enum { MOST = 20 * BATCH };
    struct abti_slab_spec keeping = spec;
    struct abti_slab slab;
    struct abti_cache caches[2];
    void *objects[2][MOST], *first[2][MOST];

    keeping.spares = spares;
    abti_slab_init(&slab, &keeping);
    ok(!abti_cache_init(&caches[0], &slab) && !abti_cache_init(&caches[1], &slab), "two caches");
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 2 * num; i++)
            objects[i & 1][i / 2] = abti_cache_get(&caches[i & 1]);
        for (int k = 0; k < 2; k++) {
            if (round == 0)
                memcpy(first[k], objects[k], (size_t)num * sizeof(void *));
            for (int i = 0; i < num; i++)
                abti_cache_put(&caches[k], objects[k][i]);
        }
    }
    for (int k = 0; k < 2; k++) {
        qsort(first[k], (size_t)num, sizeof(void *), by_address);
        qsort(objects[k], (size_t)num, sizeof(void *), by_address);
        ok(!memcmp(first[k], objects[k], (size_t)num * sizeof(void *)), "%d objects, %u spare magazines: one's own",
           num, spares);
        abti_cache_fini(&caches[k]);
    }
    abti_slab_fini(&slab);
}

static void take_all(struct abti_cache *cache, void **objects, int num)
{
    for (int i = 0; i < num; i++)
        objects[i] = abti_cache_get(cache);
}

static void put_all(struct abti_cache *cache, void **objects, int num)
{
    for (int i = 0; i < num; i++)
        abti_cache_put(cache, objects[i]);
}

static bool have_common(void **first, int num, void **second, int num_second)
{
    bool common = false;

    for (int i = 0; i < num; i++) {
        for (int k = 0; k < num_second; k++)
            common = common || first[i] == second[k];
    }
    return common;
}

/*
 * What a stream takes in rounds stays with it, though another one takes more and more. Once it makes no more rounds the
 * other one gets all of it, without much more memory before, and at once if there is no more memory or the stream goes.
 */
static void test_rounds_keep(bool is_memory_out, bool goes)
{
    enum { NUM = 12 * BATCH, MOST = 100 * BATCH };
    static void *own[NUM], *others[MOST];
    struct abti_slab slab;
    struct abti_cache caches[2];
    int taken = 0, maps_before = maps_left;
    bool kept = true;

    abti_slab_init(&slab, &spec);
    ok(!abti_cache_init(&caches[0], &slab) && !abti_cache_init(&caches[1], &slab), "two caches");
    for (int round = 0; round < 10; round++) {
        take_all(&caches[0], own, NUM);
        put_all(&caches[0], own, NUM);
        if (round > 1) {
            take_all(&caches[1], others + taken, BATCH);
            taken += BATCH;
            kept = kept && !have_common(own, NUM, others, taken);
        }
    }
    ok(kept, "what is needed in rounds is left alone");
    maps_left = is_memory_out ? 0 : maps_left;
    if (goes)
        abti_cache_fini(&caches[0]);
    size_t made_before = slab.made;
    unsigned full = 0;
    while (taken < MOST && (full = abti_load_relaxed(&slab.shelves[0].num_full)) > 0)
        others[taken++] = abti_cache_get(&caches[1]);
    is_int((int)full, 0, "the other stream gets all in the end");
    ok(slab.made - made_before <= (is_memory_out ? CELLS
                                   : goes        ? RUN
                                                 : 8 * RUN),
       "%zu objects were made before", slab.made - made_before);
    put_all(&caches[1], others, taken);
    if (!goes)
        abti_cache_fini(&caches[0]);
    abti_cache_fini(&caches[1]);
    abti_slab_fini(&slab);
    maps_left = maps_before;
}

static int made, unmade;

static void *make(const struct abti_slab_spec *self, const struct abti_new_cell *cell)
{
    made += self == NULL || cell->index != (size_t)made || cell->size != CELL ? 1000000 : 1;
    return cell->at + 8;
}

static void unmake(void *object)
{
    unmade += ((uintptr_t)object & (CELL - 1)) == 8;
}

static void test_make(void)
{
    struct abti_slab_spec with_make = spec;
    struct abti_slab slab;
    struct abti_cache cache;
    void *objects[40];

    with_make.make = make;
    with_make.unmake = unmake;
    abti_slab_init(&slab, &with_make);
    ok(!abti_cache_init(&cache, &slab), "a cache");
    for (int i = 0; i < 40; i++)
        objects[i] = abti_cache_get(&cache);
    is_int(made, 40, "made when first used, by their numbers");
    for (int i = 0; i < 40; i++)
        abti_cache_put(&cache, objects[i]);
    is_int(made, 40, "and once");
    abti_cache_fini(&cache);
    abti_slab_fini(&slab);
    is_int(unmade, made, "unmade with the slab");
}

static void test_no_memory(void)
{
    struct abti_slab slab;
    struct abti_cache cache;
    void *object = NULL;
    int n = 0;

    abti_slab_init(&slab, &spec);
    ok(!abti_cache_init(&cache, &slab), "a cache");
    maps_left = 1;
    while (n <= CELLS && (object = abti_cache_get(&cache)) != NULL)
        n++;
    is_int(n, CELLS, "a chunk's cells, and no more when there is no memory");
    ok(!abti_cache_get(&cache), "nor later");
    maps_left = 1000000;
    object = abti_cache_get(&cache);
    ok(object, "but when there is some again");
    abti_cache_fini(&cache);
    abti_slab_fini(&slab);
}

/* --- Objects made by one thread are freed by the next --- */

enum { PASSES = 200000, IN_FLIGHT = 512 };

static struct abti_slab shared;
static _Atomic(uintptr_t *) in_flight[IN_FLIGHT];
static atomic_int broken;

static void *trade(void *number)
{
    struct abti_cache cache;
    uint64_t random = (uint64_t)(uintptr_t)number * 7919 + 1;

    if (abti_cache_init(&cache, &shared))
        return NULL;
    for (int i = 0; i < PASSES; i++) {
        uintptr_t *mine = abti_cache_get(&cache), *other;
        for (int j = 0; j < CELL / 8; j++)
            mine[j] = (uintptr_t)mine + (uintptr_t)j;
        random = random * 6364136223846793005u + 1442695040888963407u;
        other = atomic_exchange(&in_flight[random >> 33 & (IN_FLIGHT - 1)], mine);
        if (!other)
            continue;
        for (int j = 0; j < CELL / 8; j++) {
            if (other[j] != (uintptr_t)other + (uintptr_t)j)
                atomic_fetch_add(&broken, 1); /* it was handed out twice */
        }
        abti_cache_put(&cache, other);
    }
    abti_cache_fini(&cache);
    return NULL;
}

static void test_trade(void)
{
    pthread_t threads[NUM_THREADS];

    abti_slab_init(&shared, &spec);
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_create(&threads[i], NULL, trade, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_join(threads[i], NULL);
    is_int(atomic_load(&broken), 0, "%d threads free each other's objects", NUM_THREADS);
    ok(shared.made <= IN_FLIGHT + NUM_THREADS * (4 * BATCH + 2 * RUN) + NUM_THREADS * BATCH * 4,
       "and come by with %zu of them", shared.made);
    abti_slab_fini(&shared);
}

/* All that one cache has free is there for another, though there is no memory for anything. */
static void test_flush(void)
{
    enum { NUM = 3 * BATCH + 3 };
    void *objects[NUM];
    struct abti_slab slab;
    struct abti_cache cache, other;
    int n = 0;

    abti_slab_init(&slab, &spec);
    ok(!abti_cache_init(&cache, &slab) && !abti_cache_init(&other, &slab), "two caches");
    for (int i = 0; i < NUM; i++)
        objects[i] = abti_cache_get(&cache);
    maps_left = 0;
    for (void *unused; (unused = abti_cache_get(&cache)) != NULL;)
        n++; /* until the chunk is used up */
    for (int i = 0; i < NUM; i++)
        abti_cache_put(&cache, objects[i]);
    maps_left = 0;
    abti_cache_flush(&cache);
    ok(abti_cache_get(&cache) != NULL, "who has given all away gets some of it back");
    while (abti_cache_get(&other))
        n++;
    is_int(n + 1, slab.made, "everything that was ever handed out is there for others");
    maps_left = 1000000;
    abti_cache_fini(&cache);
    abti_cache_fini(&other);
    abti_slab_fini(&slab);
}

static int makes_left;

static void *make_some(const struct abti_slab_spec *slab_spec, const struct abti_new_cell *cell)
{
    (void)slab_spec;
    return makes_left-- > 0 ? cell->at : NULL;
}

/* What cannot be made now can be made later: no cell is lost. */
static void test_make_fails(void)
{
    struct abti_slab_spec picky = spec;
    struct abti_slab slab;
    struct abti_cache cache;
    char *objects[RUN];
    int n = 0;

    picky.make = make_some;
    abti_slab_init(&slab, &picky);
    ok(!abti_cache_init(&cache, &slab), "a cache");
    for (int tries = 0; tries < 10 * RUN && n < RUN; tries++) {
        makes_left = tries % 3 == 0;
        char *object = abti_cache_get(&cache);
        if (object)
            objects[n++] = object;
    }
    is_int(n, RUN, "objects that cannot be made at once");
    is_int(objects[RUN - 1] - objects[0], (RUN - 1) * CELL, "no cell between them is lost");
    is_int(slab.made, RUN, "and no other was needed");
    makes_left = RUN;
    abti_cache_fini(&cache);
    abti_slab_fini(&slab);
}

static unsigned count_magazines(const struct abti_magazine *magazine)
{
    unsigned num = 0;

    for (; magazine; magazine = magazine->objects[0])
        num++;
    return num;
}

static unsigned count_full(const struct abti_slab *slab)
{
    unsigned num = 0;

    for (int shelf = 0; shelf < ABTI_SLAB_SHELVES; shelf++)
        num += count_magazines(slab->shelves[shelf].full);
    return num;
}

static unsigned count_empty(const struct abti_slab *slab)
{
    unsigned num = 0;

    for (int shelf = 0; shelf < ABTI_SLAB_SHELVES; shelf++)
        num += count_magazines(slab->shelves[shelf].empty);
    return num;
}

/* Streams come and go: what one had serves the next. */
static void test_caches_come_and_go(void)
{
    struct abti_slab slab;
    struct abti_cache cache;

    abti_slab_init(&slab, &spec);
    for (int i = 0; i < 100; i++) {
        void *object;
        if (abti_cache_init(&cache, &slab))
            bail_out("no memory");
        object = abti_cache_get(&cache);
        abti_cache_put(&cache, object);
        abti_cache_fini(&cache);
    }
    ok(count_full(&slab) + count_empty(&slab) < 8, "caches that come and go share their magazines");
    is_int(slab.made, RUN, "and their objects");
    abti_slab_fini(&slab);
}

/* --- Giving back --- */

static int retired, released, crowds;

static void retire(void *object)
{
    memset(object, 0xdd, CELL);
    retired++;
}

static void release(char *word)
{
    (void)word;
    released++;
}

static void note_crowd(void)
{
    crowds++;
}

/* What nobody has needed between two looks becomes cells again, which are used before new ones. */
static void test_give_back(bool words)
{
    enum { NUM = CELLS, IN_CACHE = 2 * BATCH };
    static void *objects[NUM];
    struct abti_slab_spec giving = spec;
    struct abti_slab slab;
    struct abti_cache cache;
    int n = 0;

    retired = released = crowds = 0;
    giving.arena.words = words;
    giving.retire = retire;
    giving.release = release;
    giving.kept = NUM / 2;
    giving.crowded = note_crowd;
    abti_slab_init(&slab, &giving);
    ok(!abti_cache_init(&cache, &slab), "a cache");
    for (int i = 0; i < NUM; i++)
        objects[i] = abti_cache_get(&cache);
    for (int i = 0; i < NUM / 2; i++)
        abti_cache_put(&cache, objects[i]);
    is_int(crowds, 0, "half of %d free objects are no crowd", NUM);
    ok(!abti_slab_look(&slab), "as a look finds, too");
    for (int i = NUM / 2; i < NUM; i++)
        abti_cache_put(&cache, objects[i]);
    ok(crowds > 0, "all of them are");
    while (abti_slab_give_back(&slab))
        ;
    is_int(retired, 0, "nothing is given back at the first look");
    ok(abti_slab_look(&slab), "there is a crowd at the second look");
    while (abti_slab_give_back(&slab))
        n++;
    ok(retired > 0 && retired <= NUM / 2 + BATCH, "what was there all the time is given back, %d objects", retired);
    is_int(n, retired / BATCH, "a magazine at a time");
    ok(!abti_slab_look(&slab), "the crowd is gone");
    while (abti_slab_give_back(&slab))
        ;
    ok(retired >= NUM - IN_CACHE, "the others with the next look");
    if (words)
        is_int(released, (NUM - IN_CACHE) / ABTI_ARENA_WORD, "in whole words of cells");
    is_int(count_full(&slab), 0, "the depot is empty");
    maps_left = 0;
    for (n = 0; n < NUM && (objects[n] = abti_cache_get(&cache)) != NULL; n++)
        ;
    is_int(n, NUM, "all cells are handed out again");
    ok(!abti_cache_get(&cache), "and no more");
    ok(are_different(objects, NUM), "each once");
    maps_left = 1000000;
    for (int i = 0; i < NUM; i++)
        abti_cache_put(&cache, objects[i]);
    abti_cache_flush(&cache);
    abti_slab_look(&slab);
    abti_slab_look(&slab);
    for (retired = 0; abti_slab_give_back(&slab);)
        ;
    is_int(retired, NUM, "those without a magazine, too");
    abti_cache_fini(&cache);
    abti_slab_fini(&slab);
}

/* Needed at times: the least that lay there is too much, not what lies there now. */
static void test_needed(void)
{
    enum { NUM = 20 * BATCH };
    void *objects[NUM];
    struct abti_slab_spec giving = spec;
    struct abti_slab slab;
    struct abti_cache cache;

    retired = 0;
    giving.retire = retire;
    abti_slab_init(&slab, &giving);
    ok(!abti_cache_init(&cache, &slab), "a cache");
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < NUM; i++)
            objects[i] = abti_cache_get(&cache);
        for (int i = 0; i < NUM; i++)
            abti_cache_put(&cache, objects[i]);
        abti_slab_look(&slab);
        while (abti_slab_give_back(&slab))
            ;
    }
    is_int(retired, 0, "what is needed between any two looks stays");
    abti_cache_fini(&cache);
    abti_slab_fini(&slab);
}

/* Somebody gives back all the time what others take and free. */
static atomic_bool trading;

static void *give_back_all_the_time(void *arg)
{
    long *magazines = arg;
    while (atomic_load(&trading)) {
        abti_slab_look(&shared);
        while (abti_slab_give_back(&shared))
            ++*magazines;
    }
    return NULL;
}

static void test_trade_and_give_back(void)
{
    pthread_t threads[NUM_THREADS], giver;
    struct abti_slab_spec giving = spec;
    long magazines = 0;

    giving.arena.words = true;
    giving.retire = NULL;
    giving.release = release;
    memset((void *)in_flight, 0, sizeof(in_flight));
    abti_slab_init(&shared, &giving);
    atomic_store(&trading, true);
    pthread_create(&giver, NULL, give_back_all_the_time, &magazines);
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_create(&threads[i], NULL, trade, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < NUM_THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&trading, false);
    pthread_join(giver, NULL);
    is_int(atomic_load(&broken), 0, "%d threads free each other's objects, and another gives %ld magazines back",
           NUM_THREADS, magazines);
    abti_slab_fini(&shared);
}

/* --- Where a chunk cannot be mapped --- */

static size_t most_bytes; /* that can be mapped at a time */

static bool map_little(struct abti_chunk *chunk, size_t size, bool huge)
{
    (void)huge;
    return size <= most_bytes && abti_chunk_map(chunk, size, false);
}

/* How many objects an arena gives before there is no memory, which is when the second chunk is wanted. */
static size_t take_chunk(struct abti_slab *slab, struct abti_cache *cache, void **objects, size_t most, size_t cell)
{
    size_t n = 0;

    ok(!abti_cache_init(cache, slab), "a cache");
    while (n < most && (objects[n] = abti_cache_get(cache)) != NULL)
        memset(objects[n++], 0x5a, cell);
    return n;
}

/* Cells of 8 pages, 64 to a chunk, and lean ones of 2. */
static void test_little(size_t most, size_t lean, size_t cell)
{
    enum { CELL_PAGES = 8, MOST = 200 };
    size_t page = abti_vm_page_size(), taken, walked = 0;
    struct abti_slab_spec little = spec;
    struct abti_slab slab;
    struct abti_cache cache;
    void *objects[MOST];
    bool all = true;

    little.arena = (struct abti_arena_spec){.cell = CELL_PAGES * page, .lean = lean * page, .map = map_little};
    little.arena.block = little.arena.span = little.arena.cell;
    little.arena.chunk = 64 * little.arena.cell;
    most_bytes = most * page;
    is_int(abti_arena_can_grow(&little.arena), cell > 0, "%zu pages can be mapped, a lean cell has %zu", most, lean);
    abti_slab_init(&slab, &little);
    taken = take_chunk(&slab, &cache, objects, MOST, cell * page);
    is_int(taken, cell ? MOST : 0, "and cells are made until there is no memory");
    for (size_t i = 0; i < taken; i++)
        all = all && abti_slab_has(&slab, objects[i]) && (i == 0 || (char *)objects[i] != objects[i - 1]);
    uint64_t used;
    for (char *word = NULL; (word = abti_slab_word_after(&slab, word, &used)) != NULL;)
        walked += (size_t)__builtin_popcountll(used);
    ok(all && walked >= taken && walked <= taken + RUN, "all are found again, of %zu that a walk finds", walked);
    all = slab.cells.num_extents == 0 || slab.cells.extents[0]->cell == cell * page;
    ok(all, "they have %zu pages", cell);
    for (size_t i = 0; i < taken; i++)
        abti_cache_put(&cache, objects[i]);
    abti_cache_fini(&cache);
    while (abti_slab_look(&slab), abti_slab_give_back(&slab))
        continue;
    for (size_t i = 0; i < slab.cells.num_extents; i++)
        all = all && slab.cells.extents[i]->chunk.size <= most_bytes;
    ok(all, "no chunk is larger than can be mapped");
    abti_slab_fini(&slab);
}

int main(void)
{
    test_one_cache();
    test_put_keeps();
    test_own_come_back(3, 3 * BATCH);
    test_own_come_back(1, 20 * BATCH);
    test_rounds_keep(false, false);
    test_rounds_keep(false, true);
    test_rounds_keep(true, false);
    test_make();
    test_no_memory();
    test_trade();
    test_flush();
    test_make_fails();
    test_caches_come_and_go();
    test_give_back(false);
    test_give_back(true);
    test_needed();
    test_trade_and_give_back();
    test_little(8 * 64, 0, 8);
    test_little(8 * 63, 2, 8);
    test_little(8 * 3, 2, 8);
    test_little(8, 2, 8);
    test_little(7, 2, 2);
    test_little(2, 2, 2);
    test_little(7, 0, 0);
    test_little(1, 2, 0);
    return done_testing();
}
