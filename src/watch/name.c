/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/name.h"

#include <inttypes.h>
#include <stdio.h>
#include "os/symbol.h"

const char *abti_name_unit(char text[ABTI_NAME_ROOM], const struct abti_unit_note *note)
{
    char code[ABTI_NAME_ROOM / 2], id[32];
    if (note->id == ABTI_NO_ID)
        snprintf(id, sizeof(id), "%p", (void *)note->unit);
    else
        snprintf(id, sizeof(id), "%" PRId64, note->id);
    const char *kind = abti_registry_kind_name(note->kind);
    if (!note->func) {
        snprintf(text, ABTI_NAME_ROOM, "%s %s", kind, id);
        return text;
    }
    snprintf(text, ABTI_NAME_ROOM, "%s %s (%s)", kind, id,
             abti_symbol_place(code, sizeof(code), (void *)(uintptr_t)note->func));
    return text;
}
