/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * problem: a function forks a task and returns without joining it
 * exit: 0
 * says: libabt: a function has ended that has forked 1 task and not joined it
 */
#include <abt_fork.h>

ABTX_VOID_TASK(send_mail)
{
    (void)abtx_here;
}

/* The task lies in a frame that is gone before anybody has run it. */
ABTX_VOID_TASK(end_shift)
{
    ABTX_FORK(send_mail, mail);
    (void)mail_at;
}

int main(void)
{
    ABT_init(0, NULL);
    ABTX_RUN(end_shift);
    ABT_finalize();
    return 0;
}
