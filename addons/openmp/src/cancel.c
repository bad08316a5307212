/* SPDX-License-Identifier: BSD-3-Clause */
/* Cancellation, which is never activated: omp_get_cancellation says so. Errors and warnings at run time. */
#include "omp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gomp.h"

bool GOMP_cancel(int which, bool is_wanted)
{
    (void)which;
    (void)is_wanted;
    return false;
}

bool GOMP_cancellation_point(int which)
{
    (void)which;
    return false;
}

bool GOMP_barrier_cancel(void)
{
    GOMP_barrier();
    return false;
}

/* The length is that of the message, or the largest size if it ends with a zero. */
static void say(const char *kind, const char *message, size_t length)
{
    if (length == SIZE_MAX)
        length = message ? strlen(message) : 0;
    fprintf(stderr, "libabtomp: %s%s%.*s\n", kind, message ? ": " : "", (int)length, message ? message : "");
}

void GOMP_warning(const char *message, size_t length)
{
    say("error directive encountered", message, length);
}

void GOMP_error(const char *message, size_t length)
{
    say("fatal error: error directive encountered", message, length);
    exit(EXIT_FAILURE);
}
