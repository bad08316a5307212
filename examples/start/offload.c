/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I keep a blocking call from stopping other units? A stream of its own makes such calls; its caller, a ULT,
 * waits for the answer by an eventual, and its stream runs others meanwhile.
 *
 *   cc offload.c $(pkg-config --cflags --libs argobots) -o offload
 */
#include <abt.h>
#include <stdio.h>
#include <unistd.h>

struct request {
    const char *path;
    ABT_eventual done;
};

static void blocking_call(void *arg)
{
    struct request *request = arg;
    usleep(20000); /* stands for a slow disk: the whole native thread stops */
    int result = access(request->path, R_OK);
    ABT_eventual_set(request->done, &result, sizeof(result));
}

static int offload(ABT_xstream stream, const char *path)
{
    struct request request = {.path = path};
    int *result, answer;
    ABT_eventual_create(sizeof(int), &request.done);
    ABT_thread_create_on_xstream(stream, blocking_call, &request, ABT_THREAD_ATTR_NULL, NULL);
    ABT_eventual_wait(request.done, (void **)&result);
    answer = *result;
    ABT_eventual_free(&request.done);
    return answer;
}

static volatile int is_done;

static void others(void *count)
{
    while (!is_done) {
        (*(long *)count)++;
        ABT_self_yield();
    }
}

int main(int argc, char **argv)
{
    ABT_xstream stream;
    ABT_pool pool;
    ABT_thread thread;
    long count = 0;

    if (ABT_init(argc, argv) != ABT_SUCCESS)
        return 1;
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_self_get_last_pool(&pool);
    ABT_thread_create(pool, others, &count, ABT_THREAD_ATTR_NULL, &thread);
    printf("/: %d\n", offload(stream, "/"));
    is_done = 1;
    ABT_thread_free(&thread);
    printf("others ran meanwhile: %s\n", count > 0 ? "yes" : "no");
    ABT_xstream_free(&stream);
    ABT_finalize();
    return count == 0;
}
