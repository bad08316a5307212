/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/name.h"

#include <inttypes.h>
#include <stdio.h>
#include "image/symbol.h"

/* "work at program+0x11d9" */
static void name_code(char text[ABTI_NAME_ROOM / 2], const struct abti_unit_note *note)
{
    struct abti_symbol symbol;
    abti_symbol_find(&symbol, (uintptr_t)note->func, false);
    text[0] = '\0';
    if (!*symbol.module)
        return;
    bool named = *symbol.function && symbol.offset == 0;
    snprintf(text, ABTI_NAME_ROOM / 2, "%.50s%s%.50s+0x%" PRIxPTR, named ? symbol.function : "", named ? " at " : "",
             symbol.module, symbol.module_offset);
}

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
    name_code(code, note);
    snprintf(text, ABTI_NAME_ROOM, "%s %s (%s)", kind, id, code);
    return text;
}
