#include "watch/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "os/symbol.h"

/* "work+0x0 (program+0x11d9)" becomes "work at program+0x11d9". */
static void name_code(char text[ABTI_NAME_ROOM / 2], const struct abti_unit_note *note)
{
    char place[ABTI_NAME_ROOM / 2];
    abti_symbol_describe((uintptr_t)note->func, false, place, sizeof(place));
    char *begin = strstr(place, "+0x0 ("), *file = strchr(place, '('), *end = strrchr(place, ')');
    if (!file || !end) {
        snprintf(text, ABTI_NAME_ROOM / 2, "%s", place);
        return;
    }
    *end = '\0';
    if (begin)
        *begin = '\0';
    snprintf(text, ABTI_NAME_ROOM / 2, "%.60s%s%.60s", begin ? place : "", begin ? " at " : "", file + 1);
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
