/*
 * Symbols from the tables in ELF files, so that static functions are known, too. The file that an address is in does
 * not come from dladdr, which waits for a thread that is in dlopen: that thread may wait for this one.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "os/spin.h"
#include "os/symbol.h"

/* --- What was said lately --- */

enum { PLACES = 128, PLACES_SHIFT = 57 };

struct place {
    uintptr_t key; /* 0: none */
    char text[248];
};

static struct {
    struct abti_spin lock;
    unsigned long long adds, subs; /* how many files had been loaded and unloaded then */
    struct place places[PLACES];   /* by the key's hash */
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

static bool recall_place(struct place *place)
{
    abti_spin_lock(&noted.lock);
    const struct place *slot = &noted.places[abti_hash(place->key) >> PLACES_SHIFT];
    bool known = slot->key == place->key;
    if (known)
        *place = *slot;
    abti_spin_unlock(&noted.lock);
    return known;
}

static void note_place(const struct place *place)
{
    abti_spin_lock(&noted.lock);
    noted.places[abti_hash(place->key) >> PLACES_SHIFT] = *place;
    abti_spin_unlock(&noted.lock);
}

/* --- The file that an address is in --- */

struct module {
    uintptr_t code, base;
    char name[104]; /* empty: the program itself */
};

static bool module_contains(const struct dl_phdr_info *info, uintptr_t code)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && code - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module *module = arg;
    (void)size;
    if (!module_contains(info, module->code))
        return 0;
    snprintf(module->name, sizeof(module->name), "%s", info->dlpi_name ? info->dlpi_name : "");
    module->base = info->dlpi_addr;
    return 1;
}

/* --- Its symbols --- */

struct image {
    const char *bytes;
    size_t size;
};

/* Part of the file, or NULL: it is not all there. */
static const void *image_part(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset ? image->bytes + offset : NULL;
}

static const ElfW(Shdr) * find_section(const struct image *image, uint32_t type)
{
    const ElfW(Ehdr) *header = image_part(image, 0, sizeof(*header));
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header->e_shentsize != sizeof(ElfW(Shdr)))
        return NULL;
    const ElfW(Shdr) *sections = image_part(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*sections));
    for (unsigned i = 0; sections && i < header->e_shnum; i++) {
        if (sections[i].sh_type == type && sections[i].sh_link < header->e_shnum)
            return &sections[i];
    }
    return NULL;
}

static const char *name_in(const struct image *image, const ElfW(Shdr) * strings, const ElfW(Sym) * symbol)
{
    if (symbol->st_name >= strings->sh_size || !image_part(image, strings->sh_offset, strings->sh_size))
        return NULL;
    const char *name = image->bytes + strings->sh_offset + symbol->st_name;
    return memchr(name, '\0', strings->sh_size - symbol->st_name) ? name : NULL;
}

/* The function that the address is in: a symbol near by is no name for it, since stripped files have few. */
static const char *find_function(const struct image *image, uint32_t type, ElfW(Addr) at, ElfW(Addr) * start)
{
    const ElfW(Shdr) *table = find_section(image, type);
    if (!table)
        return NULL;
    const ElfW(Sym) *symbols = image_part(image, table->sh_offset, table->sh_size);
    const ElfW(Shdr) *strings = (const ElfW(Shdr) *)(image->bytes + ((const ElfW(Ehdr) *)image->bytes)->e_shoff);
    for (size_t i = 0; symbols && i < table->sh_size / sizeof(*symbols); i++) {
        const ElfW(Sym) *symbol = &symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
            at - symbol->st_value >= (symbol->st_size ? symbol->st_size : 1))
            continue;
        *start = symbol->st_value;
        return name_in(image, &strings[table->sh_link], symbol);
    }
    return NULL;
}

static bool map_image(const char *file, struct image *image)
{
    struct stat stat;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *bytes = MAP_FAILED;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size > 0)
        bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    *image = (struct image){bytes, (size_t)stat.st_size};
    return true;
}

/* "function+0x12" or nothing; its length. */
static int describe_function(const struct module *module, ElfW(Addr) offset, bool is_return, char *text, size_t size)
{
    struct image image;
    ElfW(Addr) start;
    int length = 0;
    if (!map_image(*module->name ? module->name : "/proc/self/exe", &image))
        return 0;
    const char *name = find_function(&image, SHT_SYMTAB, offset - is_return, &start);
    if (!name)
        name = find_function(&image, SHT_DYNSYM, offset - is_return, &start);
    if (name)
        length = snprintf(text, size, "%.100s+0x%" PRIxPTR " ", name, (uintptr_t)(offset - start));
    munmap((void *)(uintptr_t)image.bytes, image.size);
    return length;
}

static void look_place_up(uintptr_t code, bool is_return, char *text, size_t size)
{
    struct module module = {.code = code - is_return};
    text[0] = '\0';
    if (!dl_iterate_phdr(look_at_module, &module))
        return;
    int length = describe_function(&module, code - module.base, is_return, text, size);
    snprintf(text + length, size - (size_t)length, "(%.100s+0x%" PRIxPTR ")", *module.name ? module.name : "program",
             code - module.base);
}

void abti_symbol_describe(uintptr_t code, bool is_return, char *text, size_t size)
{
    struct place place = {.key = code << 1 | is_return};
    dl_iterate_phdr(forget_if_changed, NULL);
    if (!recall_place(&place)) {
        look_place_up(code, is_return, place.text, sizeof(place.text));
        note_place(&place);
    }
    snprintf(text, size, "%s", place.text);
}
