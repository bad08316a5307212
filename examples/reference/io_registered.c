/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How do I register memory and descriptors that are used often? Each stream's ring gets them once; the calls are the
 * same as ever.
 *
 *   cc io_registered.c $(pkg-config --cflags --libs abtio argobots) -o io_registered
 */
#define _GNU_SOURCE
#include <abt.h>
#include <abtio.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 256, SIZE = 4096, UNITS = 4 };

static int file, wrong;
static char *memory; /* a block for each unit */

static void reads_blocks(void *arg)
{
    int me = *(int *)arg;
    char *block = memory + me * SIZE;
    for (int i = me; i < BLOCKS; i += UNITS) {
        wrong += abtio_pread_all(file, block, SIZE, (off_t)i * SIZE, ABTIO_FOREVER) != SIZE;
        wrong += block[0] != (char)i || block[SIZE - 1] != (char)i;
    }
}

static void writes_blocks(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        memset(memory, i, SIZE);
        wrong += abtio_pwrite_all(file, memory, SIZE, (off_t)i * SIZE, ABTIO_FOREVER) != SIZE;
    }
}

int main(int argc, char **argv)
{
    char name[] = "/tmp/io_registered-XXXXXX";
    ABT_pool pool;
    ABT_thread units[UNITS];
    int ids[UNITS];
    abtio_info info;

    if (ABT_init(argc, argv) != ABT_SUCCESS || abtio_init(NULL) != 0)
        return 1;
    ABT_self_get_last_pool(&pool);
    memory = aligned_alloc(SIZE, (size_t)UNITS * SIZE);
    file = abtio_mkostemp(name, O_CLOEXEC, ABTIO_FOREVER);
    abtio_unlinkat(AT_FDCWD, name, 0, ABTIO_FOREVER);
    if (!memory || file < 0)
        return 1;
    /* What fails here may be left: the calls do without. */
    wrong += abtio_register_memory(memory, (size_t)UNITS * SIZE) != 0;
    wrong += abtio_register_file(file) != 0;
    writes_blocks();
    for (int i = 0; i < UNITS; i++) {
        ids[i] = i;
        ABT_thread_create(pool, reads_blocks, &ids[i], ABT_THREAD_ATTR_NULL, &units[i]);
    }
    for (int i = 0; i < UNITS; i++)
        ABT_thread_free(&units[i]);
    if (abtio_get_info(&info) == 0)
        printf("%d reads and writes: most in that memory: %s, and on that descriptor: %s\n", 2 * BLOCKS,
               info.num_in_memory > BLOCKS ? "yes" : "no", info.num_on_files > BLOCKS ? "yes" : "no");
    /* Before the memory is freed and the descriptor closed. */
    wrong += abtio_unregister_memory(memory) != 0;
    wrong += abtio_unregister_file(file) != 0;
    free(memory);
    abtio_close(file, ABTIO_FOREVER);
    abtio_finalize();
    ABT_finalize();
    return wrong != 0;
}
