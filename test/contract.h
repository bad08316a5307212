/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the functions in a public header whose contract says that they wait. */
#ifndef TEST_CONTRACT_H
#define TEST_CONTRACT_H

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { CONTRACT_ROOM = 1 << 14 };

/* What has been read of a header: the comment above, and the declaration up to here. */
struct contract {
    char comment[CONTRACT_ROOM], declaration[CONTRACT_ROOM];
    bool in_comment;
};

static inline void contract_add(char *text, const char *line)
{
    if (strlen(text) + strlen(line) + 1 < CONTRACT_ROOM)
        strcat(text, line);
}

/* The function that is declared, whose name begins so; in place. NULL: it is something else. */
static inline const char *contract_function(char *declaration, const char *prefix)
{
    char *end = strchr(declaration, '(');

    if (!end || isspace((unsigned char)*declaration) || !strncmp(declaration, "typedef", 7) ||
        !strncmp(declaration, "static", 6) || *declaration == '#' || end[1] == '*')
        return NULL;
    char *name = end;
    while (name > declaration && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
        name--;
    *end = '\0';
    return !strncmp(name, prefix, strlen(prefix)) ? name : NULL;
}

/* Takes one more line. True: a declaration is complete. */
static inline bool contract_take(struct contract *c, const char *line)
{
    if (c->in_comment || !strncmp(line, "/*", 2)) {
        if (!c->in_comment)
            *c->comment = *c->declaration = '\0';
        contract_add(c->comment, line);
        c->in_comment = strstr(line, "*/") == NULL;
        return false;
    }
    if (*line == '\n') {
        *c->comment = *c->declaration = '\0';
        return false;
    }
    contract_add(c->declaration, line);
    return strchr(line, ';') != NULL;
}

/*
 * Calls `each` with each function whose name begins with the prefix and whose comment speaks of waiting, or that has a
 * parameter of that type, if it is not NULL. False: there is no such file.
 */
static inline bool contract_for_each(const char *path, const char *prefix, const char *type,
                                     void (*each)(const char *name))
{
    static struct contract c;
    char line[1024];
    regex_t waits;
    FILE *file = fopen(path, "r");

    if (!file)
        return false;
    c = (struct contract){.in_comment = false};
    regcomp(&waits, "(^|[^A-Za-z_])([Ww]aits?|[Bb]locks|[Yy]ields|[Ss]leeps)([^A-Za-z_]|$)", REG_EXTENDED | REG_NOSUB);
    while (fgets(line, sizeof(line), file)) {
        if (!contract_take(&c, line))
            continue;
        bool fits = regexec(&waits, c.comment, 0, NULL, 0) == 0 || (type && strstr(c.declaration, type));
        const char *name = contract_function(c.declaration, prefix);
        if (name && fits)
            each(name);
        *c.declaration = '\0';
    }
    regfree(&waits);
    fclose(file);
    return true;
}

#endif
