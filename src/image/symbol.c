/* SPDX-License-Identifier: BSD-3-Clause */
#include "image/symbol.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "image/libunwind.h"
#include "image/module.h"
#include "lock/spin.h"

/* --- What was found lately --- */

enum { PLACES = 128, PLACES_SHIFT = 57 };

struct place {
    uintptr_t key; /* 0: none */
    struct abti_symbol symbol;
};

static struct {
    struct abti_spin lock;
    uint64_t changes;            /* abti_module_changes then */
    struct place places[PLACES]; /* by the key's hash */
} noted = {.lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)};

static bool symbol_recall(struct place *place, uint64_t changes)
{
    abti_spin_lock(&noted.lock);
    if (noted.changes != changes) {
        memset(noted.places, 0, sizeof(noted.places));
        noted.changes = changes;
    }
    const struct place *known_place = &noted.places[abti_hash(place->key) >> PLACES_SHIFT];
    bool known = known_place->key == place->key;
    if (known)
        *place = *known_place;
    abti_spin_unlock(&noted.lock);
    return known;
}

static void note_place(const struct place *place)
{
    abti_spin_lock(&noted.lock);
    noted.places[abti_hash(place->key) >> PLACES_SHIFT] = *place;
    abti_spin_unlock(&noted.lock);
}

/* --- Looking up --- */

/*
 * A cursor that is at the address. The nearest symbol before it is a name for it only if that is within the same
 * function: stripped files have symbols of few functions.
 */
static bool name_by_libunwind(const struct abti_libunwind *unw, uintptr_t code, char *name, size_t size,
                              uintptr_t *offset)
{
    ucontext_t context;
    struct abti_unw_cursor cursor;
    struct abti_unw_proc proc;
    abti_ucontext_at(code, 0, &context);
    if (unw->init_local2(&cursor, &context, ABTI_UNW_INIT_SIGNAL_FRAME) != 0)
        return false;
    int err = unw->get_proc_name(&cursor, name, size, offset);
    return (err == 0 || err == -ABTI_UNW_ENOMEM) && unw->get_proc_info(&cursor, &proc) == 0 &&
           code - *offset >= proc.start;
}

/* This waits for a thread that is in dlopen. */
static bool name_by_loader(uintptr_t code, char *name, size_t size, uintptr_t *offset)
{
    Dl_info info;
    if (!dladdr((void *)code, &info) || !info.dli_sname)
        return false;
    snprintf(name, size, "%s", info.dli_sname);
    *offset = code - (uintptr_t)info.dli_saddr;
    return true;
}

static void look_up(struct abti_symbol *symbol, uintptr_t code, bool is_return)
{
    struct abti_module module;
    const struct abti_libunwind *unw = abti_libunwind();
    *symbol = (struct abti_symbol){.offset = 0};
    code -= is_return;
    if (!abti_module_of(code, &module))
        return;
    snprintf(symbol->module, sizeof(symbol->module), "%s", *module.file ? module.file : "program");
    symbol->module_offset = code - module.base + is_return;
    bool named = unw ? name_by_libunwind(unw, code, symbol->function, sizeof(symbol->function), &symbol->offset)
                     : name_by_loader(code, symbol->function, sizeof(symbol->function), &symbol->offset);
    if (named)
        symbol->offset += is_return;
    else
        symbol->function[0] = '\0';
}

void abti_symbol_find(struct abti_symbol *symbol, uintptr_t code, bool is_return)
{
    struct place place = {.key = code << 1 | is_return};
    uint64_t changes = abti_module_changes();
    if (!symbol_recall(&place, changes)) {
        look_up(&place.symbol, code, is_return);
        note_place(&place);
    }
    *symbol = place.symbol;
}

/* --- Texts --- */

void abti_symbol_describe(uintptr_t code, bool is_return, char *text, size_t size)
{
    struct abti_symbol symbol;
    abti_symbol_find(&symbol, code, is_return);
    int length = 0; /* a text that is too long is cut */
    text[0] = '\0';
    if (*symbol.function)
        length = snprintf(text, size, "%s+0x%" PRIxPTR " (%s+0x%" PRIxPTR ")", symbol.function, symbol.offset,
                          symbol.module, symbol.module_offset);
    else if (*symbol.module)
        length = snprintf(text, size, "(%s+0x%" PRIxPTR ")", symbol.module, symbol.module_offset);
    if (length < 0)
        text[0] = '\0';
}

const char *abti_symbol_text(char *text, size_t size, void *function)
{
    struct abti_symbol symbol;
    abti_symbol_find(&symbol, (uintptr_t)function, false);
    const char *slash = strrchr(symbol.module, '/');
    if (*symbol.function && symbol.offset == 0)
        snprintf(text, size, "%s", symbol.function);
    else if (*symbol.module)
        snprintf(text, size, "%s+0x%" PRIxPTR, slash ? slash + 1 : symbol.module, symbol.module_offset);
    else
        snprintf(text, size, "%p", function);
    return text;
}

const char *abti_symbol_of(void *function)
{
    Dl_info info;
    return dladdr(function, &info) && info.dli_saddr == function ? info.dli_sname : NULL;
}

void abti_symbol_forget(void)
{
    memset(&noted, 0, sizeof(noted));
    abti_spin_init(&noted.lock, ABTI_RANK_LEAF);
}
