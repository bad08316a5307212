/* SPDX-License-Identifier: BSD-3-Clause */
#include "rt/symbol.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/text.h"
#include "rt/libunwind.h"
#include "os/module.h"

/* What is known of an address of code. */
struct symbol {
    char function[120]; /* empty: not known */
    uintptr_t offset;   /* in the function */
    char module[120];   /* the file, "program" for the program itself; empty: in none */
    uintptr_t module_offset;
};

/* --- What was found lately --- */

enum { PLACES = 128, PLACES_SHIFT = 57 };

struct place {
    uintptr_t key; /* 0: none */
    struct symbol symbol;
};

static struct {
    pthread_mutex_t lock;
    uint64_t changes;            /* abti_module_changes then */
    struct place places[PLACES]; /* by the key's hash */
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool symbol_recall(struct place *place, uint64_t changes)
{
    pthread_mutex_lock(&noted.lock);
    if (noted.changes != changes) {
        memset(noted.places, 0, sizeof(noted.places));
        noted.changes = changes;
    }
    const struct place *known_place = &noted.places[abti_hash(place->key) >> PLACES_SHIFT];
    bool known = known_place->key == place->key;
    if (known)
        *place = *known_place;
    pthread_mutex_unlock(&noted.lock);
    return known;
}

static void note_place(const struct place *place)
{
    pthread_mutex_lock(&noted.lock);
    noted.places[abti_hash(place->key) >> PLACES_SHIFT] = *place;
    pthread_mutex_unlock(&noted.lock);
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
    abti_text_copy(name, size, info.dli_sname);
    *offset = code - (uintptr_t)info.dli_saddr;
    return true;
}

/* unw: NULL, if the loader is to be asked. That is what a signal handler may do. */
static void look_up(struct symbol *symbol, uintptr_t code, bool is_return, const struct abti_libunwind *unw)
{
    struct abti_module module;
    *symbol = (struct symbol){.offset = 0};
    code -= is_return;
    if (!abti_module_of(code, &module))
        return;
    abti_text_copy(symbol->module, sizeof(symbol->module), *module.file ? module.file : "program");
    symbol->module_offset = code - module.base + is_return;
    bool named = unw ? name_by_libunwind(unw, code, symbol->function, sizeof(symbol->function), &symbol->offset)
                     : name_by_loader(code, symbol->function, sizeof(symbol->function), &symbol->offset);
    if (named)
        symbol->offset += is_return;
    else
        symbol->function[0] = '\0';
}

static void symbol_find(struct symbol *symbol, uintptr_t code, bool is_return)
{
    struct place place = {.key = code << 1 | is_return};
    uint64_t changes = abti_module_changes();
    if (!symbol_recall(&place, changes)) {
        look_up(&place.symbol, code, is_return, abti_libunwind());
        note_place(&place);
    }
    *symbol = place.symbol;
}

/* --- Texts --- */

void abti_symbol_describe(uintptr_t code, bool is_return, char *text, size_t size)
{
    struct symbol symbol;
    symbol_find(&symbol, code, is_return);
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

static bool is_function(const struct symbol *symbol)
{
    return *symbol->function && symbol->offset == 0;
}

static void add_address(struct abti_text *to, const struct symbol *symbol, void *function)
{
    const char *slash = strrchr(symbol->module, '/');
    if (*symbol->module) {
        abti_text_add(to, slash ? slash + 1 : symbol->module);
        abti_text_add(to, "+");
    }
    abti_text_add_number(to, *symbol->module ? symbol->module_offset : (uintptr_t)function, 16);
}

const char *abti_symbol_text(char *text, size_t size, void *function)
{
    struct symbol symbol;
    struct abti_text to = {.chars = text, .size = size};
    symbol_find(&symbol, (uintptr_t)function, false);
    if (is_function(&symbol))
        abti_text_add(&to, symbol.function);
    else
        add_address(&to, &symbol, function);
    return text;
}

/* A long name is cut, and not the place. */
static const char *name_and_place(char *text, size_t size, const struct symbol *symbol, void *function)
{
    struct abti_text name = {.chars = text, .size = size / 2}, all = {.chars = text, .size = size};
    if (is_function(symbol)) {
        abti_text_add(&name, symbol->function);
        all.len = name.len;
        abti_text_add(&all, " at ");
    }
    add_address(&all, symbol, function);
    return text;
}

const char *abti_symbol_place(char *text, size_t size, void *function)
{
    struct symbol symbol;
    symbol_find(&symbol, (uintptr_t)function, false);
    return name_and_place(text, size, &symbol, function);
}

const char *abti_symbol_place_in_handler(char *text, size_t size, void *function)
{
    struct symbol symbol;
    look_up(&symbol, (uintptr_t)function, false, NULL);
    return name_and_place(text, size, &symbol, function);
}

void abti_symbol_forget(void)
{
    memset(&noted, 0, sizeof(noted));
    noted.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
