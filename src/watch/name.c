#include "watch/name.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

const char *abti_name_code(char text[ABTI_NAME_ROOM], void *address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname)
        snprintf(text, ABTI_NAME_ROOM, "%p", address);
    else if (info.dli_sname && info.dli_saddr == address)
        snprintf(text, ABTI_NAME_ROOM, "%s at %s", info.dli_sname, info.dli_fname);
    else
        snprintf(text, ABTI_NAME_ROOM, "%s+0x%zx", info.dli_fname, (size_t)((char *)address - (char *)info.dli_fbase));
    return text;
}

const char *abti_name_unit(char text[ABTI_NAME_ROOM], const struct abti_unit_note *note)
{
    char code[ABTI_NAME_ROOM], id[32];
    if (note->id == ABTI_NO_ID)
        snprintf(id, sizeof(id), "%p", (void *)note->unit);
    else
        snprintf(id, sizeof(id), "%" PRId64, note->id);
    const char *kind = abti_registry_kind_name(note->kind);
    if (note->func)
        snprintf(text, ABTI_NAME_ROOM, "%s %s (%.190s)", kind, id, abti_name_code(code, (void *)(uintptr_t)note->func));
    else
        snprintf(text, ABTI_NAME_ROOM, "%s %s", kind, id);
    return text;
}
