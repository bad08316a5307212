/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool/queue.h"
#include "tap.h"

enum { NUM = 6 };

static abti_unit units[NUM];

/* What is in the queue, as a text of digits. */
static const char *content(struct abti_queue *q)
{
    static char text[NUM + 1];
    size_t n = 0;
    for (abti_unit *unit = abti_load_relaxed(&q->head); unit && n < NUM; unit = abti_queue_next(q, unit))
        text[n++] = (char)('0' + (unit - units));
    text[n] = '\0';
    if (n != abti_queue_size(q) || (n == 0) != abti_queue_is_empty(q))
        return "size";
    /* The pointer to the last link is right: what is pushed stands at the end. */
    return text;
}

static void fill(struct abti_queue *q, int n)
{
    abti_queue_init(q);
    for (int i = 0; i < n; i++)
        abti_queue_push(q, &units[i]);
}

static void test_order(void)
{
    struct abti_queue q;
    fill(&q, 0);
    is_str(content(&q), "", "empty");
    ok(!abti_queue_pop(&q), "nothing to pop");
    fill(&q, 3);
    is_str(content(&q), "012", "in order");
    is_ptr(abti_queue_pop(&q), &units[0], "the first comes first");
    abti_queue_push(&q, &units[0]);
    is_str(content(&q), "120", "and goes last");
    abti_queue_pop_head(&q, &units[1]);
    is_str(content(&q), "20", "pop of the known head");
    ok(abti_queue_pop(&q) == &units[2] && abti_queue_pop(&q) == &units[0] && !abti_queue_pop(&q), "until it is empty");
    abti_queue_push(&q, &units[4]);
    is_str(content(&q), "4", "a push after that");
}

static void test_rotate(void)
{
    struct abti_queue q;
    fill(&q, 3);
    abti_queue_rotate_to(&q, &units[4], &units[0]);
    is_str(content(&q), "124", "rotate_to pushes one and pops the head");
    abti_queue_push(&q, &units[5]);
    is_str(content(&q), "1245", "the end is right");
    fill(&q, 1);
    abti_queue_rotate_to(&q, &units[4], &units[0]);
    is_str(content(&q), "4", "rotate_to with one other");
    abti_queue_push(&q, &units[5]);
    is_str(content(&q), "45", "the end is right");
}

static void test_push_chain(void)
{
    struct abti_queue q;
    fill(&q, 2);
    units[3].next = &units[4];
    abti_queue_push_chain(&q, &units[3], &units[4], 2);
    is_str(content(&q), "0134", "a chain goes to the end");
    is_int((long)abti_queue_size(&q), 4, "and is counted");
    abti_queue_push(&q, &units[5]);
    is_str(content(&q), "01345", "the end is right");
    fill(&q, 0);
    abti_queue_push_chain(&q, &units[2], &units[2], 1);
    abti_queue_push(&q, &units[5]);
    is_str(content(&q), "25", "a chain of one, to an empty queue");
}

static void test_remove(void)
{
    struct abti_queue q;
    static const char *const rest[] = {"12", "02", "01"}, *const then[] = {"125", "025", "015"};
    for (int i = 0; i < 3; i++) {
        fill(&q, 3);
        ok(abti_queue_remove(&q, &units[i]), "removes number %d", i);
        is_str(content(&q), rest[i], "the others stay");
        abti_queue_push(&q, &units[5]);
        is_str(content(&q), then[i], "the end is right");
        ok(!abti_queue_remove(&q, &units[i]), "it is there no more");
    }
    fill(&q, 1);
    ok(abti_queue_remove(&q, &units[0]), "removes the only one");
    is_str(content(&q), "", "and it is empty");
    abti_queue_push(&q, &units[5]);
    is_str(content(&q), "5", "a push after that");
    fill(&q, 0);
    ok(!abti_queue_remove(&q, &units[0]), "nothing to remove");
}

int main(void)
{
    test_order();
    test_rotate();
    test_push_chain();
    test_remove();
    return done_testing();
}
