/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes into a pipe and reads it by libabtio, as a program of an installed one. */
#include <abt.h>
#include <abtio.h>
#include <unistd.h>

int main(void)
{
    int fds[2];
    char text[3];
    if (ABT_init(0, 0) != ABT_SUCCESS || abtio_init(0) != 0 || pipe(fds) != 0)
        return 1;
    if (abtio_write(fds[1], "yes", 3, ABTIO_FOREVER) != 3 || abtio_read(fds[0], text, 3, ABTIO_FOREVER) != 3)
        return 2;
    return abtio_finalize() || ABT_finalize() || text[0] != 'y';
}
