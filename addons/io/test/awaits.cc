/* SPDX-License-Identifier: BSD-3-Clause */
// Operations of libabtio that coroutines wait for, by co_await abt::async: stackless ones echo on many pipes at once.
#include <abt.hpp>
#include <abtio.h>

#include <unistd.h>
#include <vector>

#include "test/cxx/tap.hh"

enum { PIPES = 100, ROUNDS = 10 };

/* Reads a number, adds one, and writes it to the next pipe. */
static abt::future<long> pass_on(int from, int to)
{
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int number = 0;
        const ssize_t got = co_await abt::async(abtio_read_all, from, &number, sizeof(number), ABTIO_FOREVER);
        number++;
        const ssize_t put = co_await abt::async(abtio_write_all, to, &number, sizeof(number), ABTIO_FOREVER);
        sum += got == sizeof(number) && put == sizeof(number);
    }
    co_return sum;
}

static abt::future<int> late(int from)
{
    char byte;
    const ssize_t got = co_await abt::async(abtio_read, from, &byte, 1, abtio_after(1000000));
    co_return static_cast<int>(got);
}

static void test_ring()
{
    int ends[PIPES][2], first = 0;
    std::vector<abt::future<long>> members;
    for (auto &each : ends)
        must(pipe(each));
    for (int i = 0; i < PIPES; i++)
        members.push_back(pass_on(ends[i][0], ends[(i + 1) % PIPES][1]));
    ok(members[0].wait_for(std::chrono::seconds(0)) == abt::future_status::timeout, "a coroutine waits for its pipe");
    must(abtio_write_all(ends[0][1], &first, sizeof(first), ABTIO_FOREVER) != sizeof(first));
    long sum = 0;
    for (auto &member : members)
        sum += member.get();
    ok(sum == PIPES * ROUNDS, "a number goes round through all of them");
    must(abtio_read_all(ends[0][0], &first, sizeof(first), ABTIO_FOREVER) != sizeof(first));
    ok(first == PIPES * ROUNDS, "and comes back, one larger by each");
    ok(late(ends[1][0]).get() == -ETIMEDOUT, "a deadline");
    for (auto &each : ends) {
        close(each[0]);
        close(each[1]);
    }
}

int main(int argc, char **argv)
{
    abt::library library(argc, argv);
    must(abtio_init(nullptr));
    test_ring();
    abtio_finalize();
    return done_testing();
}
