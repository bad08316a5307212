/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I divide and conquer? Here by a merge sort, which forks until the parts are small.
 *
 *   cc fork_sort.c $(pkg-config --cflags --libs argobots) -o fork_sort
 */
#include <abt_fork.h>
#include <stdio.h>
#include <string.h>

enum { STREAMS = 2, NUMBERS = 1000000, SMALL = 64 };

static void insertion_sort(int *numbers, size_t num)
{
    for (size_t i = 1; i < num; i++) {
        int number = numbers[i];
        size_t k = i;
        for (; k > 0 && numbers[k - 1] > number; k--)
            numbers[k] = numbers[k - 1];
        numbers[k] = number;
    }
}

static void merge(int *numbers, int *room, size_t middle, size_t num)
{
    size_t a = 0, b = middle;

    for (size_t i = 0; i < num; i++)
        room[i] = b == num || (a < middle && numbers[a] <= numbers[b]) ? numbers[a++] : numbers[b++];
    memcpy(numbers, room, num * sizeof(int));
}

/* Tasks return something. Here it is how many numbers are sorted. */
ABTX_TASK(size_t, sort, (int *, numbers), (int *, room), (size_t, num))
{
    size_t half = num / 2;

    if (num <= SMALL) {
        insertion_sort(numbers, num);
        return num;
    }
    ABTX_FORK(sort, upper, numbers + half, room + half, num - half);
    ABTX_CALL(sort, numbers, room, half);
    ABTX_JOIN(sort, upper);
    merge(numbers, room, half, num);
    return num;
}

int main(int argc, char **argv)
{
    static int numbers[NUMBERS], room[NUMBERS];
    ABT_xstream streams[STREAMS];
    unsigned state = 1;
    int wrong = 0;

    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = (int)((state = state * 1103515245 + 12345) >> 1);
    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_self_get_xstream(&streams[0]);
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_create(ABT_SCHED_NULL, &streams[i]);
    ABTX_fork_start(STREAMS, streams);
    printf("%zu numbers are sorted\n", ABTX_RUN(sort, numbers, room, NUMBERS));
    for (int i = 1; i < STREAMS; i++)
        ABT_xstream_free(&streams[i]);
    ABT_finalize();
    for (size_t i = 1; i < NUMBERS; i++)
        wrong += numbers[i - 1] > numbers[i];
    return wrong != 0;
}
