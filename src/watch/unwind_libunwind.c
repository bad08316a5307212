#include "watch/unwind.h"

#define UNW_LOCAL_ONLY
#include <inttypes.h>
#include <libunwind.h>
#include <link.h>
#include <string.h>
#include <ucontext.h>
#include "base/hash.h"
#include "os/spin.h"

/* What is told of an address: the function, and the file that it is from. */
struct place {
    uintptr_t code;
    char text[248];
};

/* --- Places that were looked up before: the symbols of a file are read anew each time, which takes long --- */

enum { PLACES = 64 };

static struct {
    struct abti_spin lock;
    unsigned long long adds, subs; /* how many files were loaded and unloaded when the places were noted */
    struct place places[PLACES];   /* by the address; code 0: none */
} noted = {.lock = ABTI_SPIN_INIT(ABTI_RANK_LEAF)};

static int forget_if_changed(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    abti_spin_lock(&noted.lock);
    if (noted.adds != info->dlpi_adds || noted.subs != info->dlpi_subs) {
        memset(noted.places, 0, sizeof(noted.places));
        noted.adds = info->dlpi_adds;
        noted.subs = info->dlpi_subs;
    }
    abti_spin_unlock(&noted.lock);
    return 1; /* each file says the same */
}

static struct place *slot_of(uintptr_t code)
{
    return &noted.places[abti_hash(code) >> 58];
}

static bool recall(struct place *place)
{
    abti_spin_lock(&noted.lock);
    const struct place *slot = slot_of(place->code);
    bool known = slot->code == place->code;
    if (known)
        *place = *slot;
    abti_spin_unlock(&noted.lock);
    return known;
}

static void note(const struct place *place)
{
    abti_spin_lock(&noted.lock);
    *slot_of(place->code) = *place;
    abti_spin_unlock(&noted.lock);
}

/* --- Looking them up --- */

struct object {
    uintptr_t code, base;
    const char *name; /* empty for the program itself */
};

static bool contains(const struct dl_phdr_info *info, uintptr_t code)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && code - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct object *object = arg;
    (void)size;
    if (!contains(info, object->code))
        return 0;
    object->name = info->dlpi_name;
    object->base = info->dlpi_addr;
    return 1;
}

/*
 * The nearest symbol before an address is a name for it only if it lies within the same function: stripped files have
 * symbols of few functions.
 */
static bool find_name(unw_cursor_t *cursor, uintptr_t code, char *name, size_t size, unw_word_t *offset)
{
    unw_proc_info_t info;
    int err = unw_get_proc_name(cursor, name, size, offset);
    if (err != 0 && err != -UNW_ENOMEM) /* it is cut off */
        return false;
    return unw_get_proc_info(cursor, &info) == 0 && code - *offset >= info.start_ip;
}

/*
 * The offset in the file is what addr2line needs, also where the names have been stripped. It does not come from
 * dladdr, which waits for a thread that is in dlopen: that thread may wait for this one.
 */
static void look_up(unw_cursor_t *cursor, struct place *place)
{
    char name[128];
    unw_word_t offset;
    struct object object = {.code = place->code};
    int length = 0;
    place->text[0] = '\0';
    if (find_name(cursor, place->code, name, sizeof(name), &offset))
        length = snprintf(place->text, sizeof(place->text), " %s+0x%" PRIxPTR, name, (uintptr_t)offset);
    if (dl_iterate_phdr(look_at_object, &object))
        snprintf(place->text + length, sizeof(place->text) - (size_t)length, " (%s+0x%" PRIxPTR ")",
                 *object.name ? object.name : "program", object.code - object.base);
}

/* --- Frames --- */

static void print_frame(FILE *fp, unsigned number, unw_cursor_t *cursor)
{
    unw_word_t ip;
    if (unw_get_reg(cursor, UNW_REG_IP, &ip) != 0)
        return;
    struct place place = {.code = (uintptr_t)ip};
    if (!recall(&place)) {
        look_up(cursor, &place);
        note(&place);
    }
    fprintf(fp, "    #%-2u 0x%016" PRIxPTR "%s\n", number, place.code, place.text);
}

/* Steps to the frame that called. False when there is none, also when a damaged stack leads back or away. */
static bool step(unw_cursor_t *cursor, unw_word_t *sp, const char *end)
{
    unw_word_t old = *sp;
    if (unw_step(cursor) <= 0 || unw_get_reg(cursor, UNW_REG_SP, sp) != 0)
        return false;
    return *sp > old && (!end || *sp <= (uintptr_t)end);
}

void abti_unwind_print(FILE *fp, abti_ctx ctx, const char *end)
{
    enum { MAX_FRAMES = 100 };
    ucontext_t context;
    unw_cursor_t cursor;
    unw_word_t sp = (uintptr_t)ctx;
    unsigned number = 0;

    dl_iterate_phdr(forget_if_changed, NULL);
    abti_ctx_to_ucontext(ctx, &context);
    if (unw_init_local2(&cursor, (unw_context_t *)&context, UNW_INIT_SIGNAL_FRAME) != 0)
        return;
    while (number < MAX_FRAMES && step(&cursor, &sp, end))
        print_frame(fp, number++, &cursor);
    if (number == MAX_FRAMES)
        fputs("    ...\n", fp);
}
