/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: every ULT waits for something that nobody does, and the program says nothing
 * run: ABT_DUMP_SIGNAL=USR1 ABT_DEADLOCK_CHECK=cycles
 * exit: 0
 * says: ==== begin of the dump of all ULT stacks
 * says: BLOCKED, function 0x[0-9a-f]+ account_deposit\+0x0
 * says: waits for cond 0x[0-9a-f]+, since [0-9.]+ s
 * says: ULT 0x[0-9a-f]+( \(id [0-9]+\))?: BLOCKED, function 0x[0-9a-f]+ account_withdraw\+0x0
 * says: waits for mutex 0x[0-9a-f]+, held by ULT 0x[0-9a-f]+( \(id [0-9]+\))?, BLOCKED, since [0-9.]+ s
 * says: ==== end of the dump
 */
#include <abt.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static ABT_mutex ledger, account;
static ABT_cond paid;

/* Keeps the ledger while it waits for money that is to be entered there. */
void account_deposit(void *arg)
{
    (void)arg;
    ABT_mutex_lock(ledger);
    ABT_mutex_lock(account);
    ABT_cond_wait(paid, account);
    ABT_mutex_unlock(account);
    ABT_mutex_unlock(ledger);
}

void account_withdraw(void *arg)
{
    (void)arg;
    ABT_mutex_lock(ledger);
    ABT_cond_signal(paid);
    ABT_mutex_unlock(ledger);
}

/* The program is asked what it waits for, as by `kill -USR1`, and ends. */
static void ask_and_leave(void *arg)
{
    (void)arg;
    ABTX_self_sleep(200000000);
    raise(SIGUSR1);
    for (int i = 0; i < 25; i++) /* a signal ends a sleep */
        usleep(100 * 1000);
    _exit(0);
}

int main(void)
{
    ABT_xstream stream, self;
    ABT_pool pool, own;
    ABT_thread asker, threads[2];

    ABT_init(0, NULL);
    ABT_mutex_create(&ledger);
    ABT_mutex_create(&account);
    ABT_cond_create(&paid);
    ABT_xstream_self(&self);
    ABT_xstream_get_main_pools(self, 1, &own);
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread_create(pool, ask_and_leave, NULL, ABT_THREAD_ATTR_NULL, &asker);
    ABT_thread_create(own, account_deposit, NULL, ABT_THREAD_ATTR_NULL, &threads[1]);
    ABT_thread_yield(); /* it has the ledger now */
    ABT_thread_create(own, account_withdraw, NULL, ABT_THREAD_ATTR_NULL, &threads[0]);
    ABT_thread_free(&threads[0]); /* for ever */
    return EXIT_FAILURE;
}
