/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for GLT: C and C++, header-only and with the library. */
#include <glt.h>

#include <stdio.h>

static void add(void *arg)
{
    ++*(int *)arg;
}

int main(int argc, char **argv)
{
    int number = 41;
    GLT_ult ult;
    GLT_tasklet tasklet;

    glt_init(argc, argv);
    glt_ult_create(add, &number, &ult);
    glt_ult_join(&ult);
    glt_tasklet_create_to(add, &number, &tasklet, 1);
    glt_tasklet_join(&tasklet);
    printf("%d\n", number);
    glt_finalize();
    return number == 43 ? 0 : 1;
}
