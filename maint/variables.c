/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints doc/guide/variables.md from the table of variables, for maint/check-variables. Linked with the archive. */
#include "rt/variables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Defaults that depend on the machine or on other variables; each that the table computes has to be here. */
static const struct {
    const char *name, *text;
} computed[] = {
    {"MAX_NUM_XSTREAMS", "the number of CPUs"},
    {"SYS_PAGE_SIZE", "the system's"},
    {"THREAD_STACKSIZE", "16384; with guard pages by name two pages more"},
    {"SCHED_STACKSIZE", "4194304; with guard pages by name two pages more"},
    {"MEM_STACK_PAGE_SIZE", "8388608"},
    {"MEM_MAX_NUM_STACKS", "1024, or what 64 MiB hold"},
    {"MEM_LP_ALLOC", "by the build; mmap_hp_rp where ABT_HUGE_PAGE_SIZE is set"},
    {NULL, NULL},
};

static const char *computed_text(const char *name)
{
    for (int i = 0; computed[i].name; i++) {
        if (strcmp(computed[i].name, name) == 0)
            return computed[i].text;
    }
    return "?";
}

static void print_default(const struct abti_variable *variable)
{
    uint64_t dflt = variable->limits.dflt;
    if (variable->derive)
        printf("%s", computed_text(variable->name));
    else if (variable->type == ABTI_VARIABLE_BOOL)
        printf("%s", dflt ? "yes" : "no");
    else if (variable->type == ABTI_VARIABLE_WORD)
        printf("%s", abti_variable_word(variable, (int)dflt));
    else if (variable->type == ABTI_VARIABLE_TEXT || variable->type == ABTI_VARIABLE_CPUS)
        printf("none");
    else if (variable->type == ABTI_VARIABLE_NODES)
        printf("yes");
    else
        printf("%" PRIu64, dflt);
}

static void print_values(const struct abti_variable *variable)
{
    const char *between = "";
    switch (variable->type) {
    case ABTI_VARIABLE_BOOL: printf("yes, no"); break;
    case ABTI_VARIABLE_WORD:
        for (const struct abti_word *word = variable->words; word->text; word++, between = ", ")
            printf("%s%s", between, word->text);
        break;
    case ABTI_VARIABLE_TEXT: printf("a file"); break;
    case ABTI_VARIABLE_CPUS: printf("off, or a list"); break;
    case ABTI_VARIABLE_NODES: printf("yes, no, or a list"); break;
    case ABTI_VARIABLE_SIZE: printf("bytes, from %" PRIu64, variable->limits.min); break;
    default: printf("from %" PRIu64, variable->limits.min);
    }
}

int main(void)
{
    printf(
        "# Variables\n\nAll variables of the environment that the library reads, in `ABT_init`. `ABT_PRINT_CONFIG=1` makes it "
        "print\nthem with the values that they have on the machine. `ABT_ENV_X` is read where `ABT_X` is not set, "
        "and\n"
        "sizes may be written as 64k, 2MiB or 0x4000. This page is made from the table in `src/rt/variables.c`.\n\n"
        "| variable | default | values | what it does |\n|---|---|---|---|\n");
    for (size_t i = 0; i < abti_num_variables; i++) {
        const struct abti_variable *variable = &abti_variables[i];
        if (variable->type == ABTI_VARIABLE_NONE)
            continue;
        printf("| `ABT_%s` | ", variable->name);
        print_default(variable);
        printf(" | ");
        print_values(variable);
        printf(" | %s |\n", variable->help);
    }
    printf("\nThese are accepted and have no effect:");
    for (size_t i = 0; i < abti_num_variables; i++) {
        if (abti_variables[i].type == ABTI_VARIABLE_NONE)
            printf(" `ABT_%s`", abti_variables[i].name);
    }
    printf(
        ".\n\nlibabtio reads two, in `abtio_init`: `ABTIO_BACKEND`, which is auto (the default), io_uring or threads, "
        "and `ABTIO_SIGNAL`, the number of a real-time signal; [input and output](../io.md) describes them.\n\n"
        "Companions read others: libabtmpi `ABTMPI_MAIN_ULT` and `ABTMPI_IDLE_US` ([MPI](../mpi.md)); libabtomp those of "
        "OpenMP, `ABT_OMP_NESTED` and `ABT_OMP_SHARE` ([OpenMP](../openmp.md)); GLT `GLT_NUM_THREADS`, `GLT_NUM_POOLS` "
        "and `GLT_ERRORS` ([GLT](../glt.md)).\n");
    return 0;
}
