/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring against a plain array: random pushes, pops and removes, through several growths. */
#include "pool/ring.h"
#include "tap.h"
#include "unit/unit.h"

enum { MOST = 3000, STEPS = 40000 };

static abti_unit units[MOST];
static abti_unit *model[MOST];
static size_t num;
static struct abti_ring ring;

static unsigned next_random(void)
{
    static unsigned state = 12345;
    state = state * 1103515245 + 12345;
    return state >> 8;
}

static bool is_as_model(void)
{
    bool right = abti_ring_size(&ring) == num;
    for (size_t i = 0; i < num && right; i++)
        right = abti_ring_at(&ring, i) == model[i];
    return right;
}

static void model_insert(size_t at, abti_unit *unit)
{
    for (size_t i = num++; i > at; i--)
        model[i] = model[i - 1];
    model[at] = unit;
}

static abti_unit *model_take(size_t at)
{
    abti_unit *unit = model[at];
    for (num--; at < num; at++)
        model[at] = model[at + 1];
    return unit;
}

static bool push(abti_unit *unit, bool to_head)
{
    if (abti_ring_is_full(&ring) && !abti_ring_grow(&ring))
        return false;
    abti_ring_push(&ring, unit, to_head);
    model_insert(to_head ? 0 : num, unit);
    return true;
}

static bool pop(bool from_tail)
{
    abti_unit *unit = model_take(from_tail ? num - 1 : 0);
    return abti_ring_pop(&ring, from_tail) == unit;
}

static bool take(size_t at)
{
    abti_unit *unit = model_take(at);
    return abti_ring_remove(&ring, unit) && !abti_ring_remove(&ring, unit);
}

static bool is_inside(const abti_unit *unit)
{
    for (size_t i = 0; i < num; i++) {
        if (model[i] == unit)
            return true;
    }
    return false;
}

/* Grows for the first half of the steps, then shrinks. */
static void test_random(void)
{
    bool right = true;
    for (int step = 0; step < STEPS && right; step++) {
        unsigned what = next_random() % 8, pushes = step < STEPS / 2 ? 5 : 3;
        abti_unit *unit = &units[next_random() % MOST];
        if (what < pushes)
            right = is_inside(unit) || push(unit, what % 2 == 0);
        else if (num > 0)
            right = what == 7 ? take(next_random() % num) : pop(what % 2 == 0);
        if (step % 64 == 0)
            right = right && is_as_model();
    }
    ok(right && is_as_model(), "as a plain array would be");
}

int main(void)
{
    ok(abti_ring_init(&ring), "made");
    ok(abti_ring_size(&ring) == 0 && !abti_ring_is_full(&ring), "empty");
    ok(!abti_ring_remove(&ring, &units[0]), "nothing to remove");
    test_random();
    size_t room = ring.mask + 1;
    ok(room >= 1024, "it has grown to %zu", room);
    abti_ring_fini(&ring);
    return done_testing();
}
