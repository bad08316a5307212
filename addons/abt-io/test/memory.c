/* SPDX-License-Identifier: BSD-3-Clause */
/* The n-th request for memory or a thread fails: the call says so, nothing is left behind, and the next one works. */
#include "abt-io.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "../../../test/fault/fault.h"
#include "must.h"
#include "tap.h"
#include "watchdog.h"

static const char file[] = "/dev/zero";

/* Whether the end of a case was reached; it stops at the first failure, and frees what it has. */
static bool make_and_end(void)
{
    abt_io_instance_id instance = abt_io_init(2);
    if (instance == ABT_IO_INSTANCE_NULL)
        return false;
    char *config = abt_io_get_config(instance);
    bool done = config != NULL;
    free(config);
    abt_io_finalize(instance);
    return done;
}

static abt_io_instance_id common;

static bool read_and_wait(void)
{
    char byte = 'x';
    int fd = open(file, O_RDONLY);
    ssize_t size = abt_io_pread(common, fd, &byte, 1, 0);
    close(fd);
    if (size < 0 && size != -ENOMEM && size != -EAGAIN)
        fail("abt_io_pread gives %zd", size);
    return size == 1 && byte == '\0';
}

static bool start_two(void)
{
    int fds[2] = {-7, -7};
    abt_io_op_t *first = abt_io_open_nb(common, file, O_RDONLY, 0, &fds[0]);
    abt_io_op_t *second = abt_io_open_nb(common, file, O_RDONLY, 0, &fds[1]);
    bool done = first && second;
    if (first)
        abt_io_op_free(first);
    if (second)
        abt_io_op_free(second);
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        else
            done = false;
    }
    return done;
}

static bool seek_later(void)
{
    off_t place = -7;
    abt_io_op_t *op = abt_io_lseek_nb(common, 0, 0, SEEK_CUR, &place);
    if (!op)
        return false;
    abt_io_op_free(op);
    return place != -ENOMEM && place != -EAGAIN;
}

/* Each request of a case fails once, until a whole case asks for fewer. */
static void try_all(bool (*run)(void), const char *name)
{
    unsigned failed = 0, lived = 0;
    run(); /* what is kept for ever is there after this */
    for (unsigned n = 1; n < 1000; n++) {
        fault_arm(n, FAULT_ONE);
        bool done = run();
        if (!fault_disarm())
            break;
        failed++;
        lived += !done;
        if (!run()) {
            fail("%s works again after the request %u", name, n);
            return;
        }
    }
    ok(failed > 0 && lived > 0, "%s: each of %u requests failed, and %u ended it", name, failed, lived);
}

int main(void)
{
    watchdog_begin(0);
    if (!fault_is_possible())
        skip_all("the C library's functions cannot be interposed here");
    must(ABT_init(0, NULL));
    try_all(make_and_end, "an instance");
    common = abt_io_init(1);
    if (ok(common != ABT_IO_INSTANCE_NULL, "an instance for the rest")) {
        try_all(start_two, "two operations");
        try_all(seek_later, "an operation of a native thread");
        ok(read_and_wait(), "a read");
        struct fault_live before = fault_live();
        for (int i = 0; i < 10; i++)
            start_two();
        ok(fault_live().objects <= before.objects, "operations leave nothing behind");
        abt_io_finalize(common);
    }
    must(ABT_finalize());
    return done_testing();
}
