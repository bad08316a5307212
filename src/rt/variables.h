/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables as data: their values, messages and help all come from this table. */
#ifndef ABTI_RT_VARIABLES_H
#define ABTI_RT_VARIABLES_H

#include "rt/config.h"

enum abti_variable_type {
    ABTI_VARIABLE_BOOL,  /* bool */
    ABTI_VARIABLE_INT,   /* a field of 4 or 8 bytes, within the limits */
    ABTI_VARIABLE_SIZE,  /* likewise, and the text may have a unit */
    ABTI_VARIABLE_WORD,  /* int or an enum: one of the words */
    ABTI_VARIABLE_TEXT,  /* char *: a copy of the text; NULL where the variable is not set, or empty */
    ABTI_VARIABLE_CPUS,  /* struct abti_cpu_list *, with config->affinity */
    ABTI_VARIABLE_NODES, /* struct abti_cpu_list *, with config->numa */
    ABTI_VARIABLE_NONE,  /* no field: the variable has no effect */
};

enum abti_rounding { ABTI_ROUND_NOT, ABTI_ROUND_EVEN, ABTI_ROUND_LINE, ABTI_ROUND_POW2 };

/* The default is clamped too. Where min and max contradict each other max wins. */
struct abti_limits {
    uint64_t dflt, min, max;
};

/* What a word stands for. "no" and "yes" also stand for the others that mean them: 0, off, true, ... */
struct abti_word {
    const char *text;
    int value; /* the first word that has it is the one that is shown */
};

struct abti_variable {
    const char *name; /* without ABT_ */
    enum abti_variable_type type;
    unsigned offset, size;     /* of the field in struct abti_config */
    struct abti_limits limits; /* for BOOL and WORD the default only */
    unsigned memory_part;      /* max is at least the memory of the machine divided by this; 0: it stays */
    enum abti_rounding rounding;
    const struct abti_word *words; /* the last one has no text */
    /* Not NULL: puts in limits that depend on the machine, or on the variables that are before this one. */
    void (*derive)(const struct abti_config *config, struct abti_limits *limits);
    const char *help;    /* what it sets, on one line */
    const char *void_by; /* how the library was configured, so that the variable has no effect; NULL: it has one */
};

extern const struct abti_variable abti_variables[] ABTI_HIDDEN;
extern const size_t abti_num_variables ABTI_HIDDEN;

/* The limits of a variable, when those before it have been loaded. */
struct abti_limits abti_variable_limits(const struct abti_variable *variable, const struct abti_config *config);

/* The number that a field gets for a number within the limits. */
uint64_t abti_variable_rounded(const struct abti_variable *variable, uint64_t value);

/* The word for a value. */
const char *abti_variable_word(const struct abti_variable *variable, int value);

/* Finds the value of a word; false when there is no such word. */
bool abti_variable_find_word(const struct abti_variable *variable, const char *text, int *value);

/* True the first time that it is asked of a variable in this process: what there is to say of it is said once. */
bool abti_variable_tell_once(const struct abti_variable *variable);

/*
 * Says on stderr which variables have no effect, and, with ABT_PRINT_CONFIG, which names are none of ours: those may be
 * other software's. Once in a process.
 */
void abti_variables_tell(void);

#endif
