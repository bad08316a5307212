#include "watch/cfi.h"

#include <link.h>
#include <string.h>
#include "os/peek.h"

/* --- Reading --- */

/* Bytes of the tables. They belong to a loaded file, and are trusted as much as its code; no read goes beyond `end`. */
struct cursor {
    const uint8_t *at, *end;
};

static uint64_t cfi_take(struct cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, bytes); /* little endian */
    c->at += bytes;
    return value;
}

static int64_t cfi_take_signed(struct cursor *c, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;
    return (int64_t)(cfi_take(c, bytes) << shift) >> shift;
}

static uint64_t cfi_take_uleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

static int64_t cfi_take_sleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end;) {
        uint8_t byte = *c->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if (byte & 0x40 && shift < 64)
            value |= ~UINT64_C(0) << shift;
        break;
    }
    return (int64_t)value;
}

/* A pointer as DW_EH_PE says. */
static uintptr_t cfi_take_pointer(struct cursor *c, unsigned encoding, uintptr_t data)
{
    uintptr_t base = (encoding & 0x70) == 0x10 ? (uintptr_t)c->at : (encoding & 0x70) == 0x30 ? data : 0;
    switch (encoding & 0x0f) {
    case 0x00: return base + (uintptr_t)cfi_take(c, sizeof(void *));
    case 0x01: return base + (uintptr_t)cfi_take_uleb(c);
    case 0x02: return base + (uintptr_t)cfi_take(c, 2);
    case 0x03: return base + (uintptr_t)cfi_take(c, 4);
    case 0x04: return base + (uintptr_t)cfi_take(c, 8);
    case 0x09: return base + (uintptr_t)cfi_take_sleb(c);
    case 0x0a: return base + (uintptr_t)cfi_take_signed(c, 2);
    case 0x0b: return base + (uintptr_t)cfi_take_signed(c, 4);
    case 0x0c: return base + (uintptr_t)cfi_take_signed(c, 8);
    default: c->at = c->end; return 0;
    }
}

/* --- Entries: what is said of a range of code --- */

struct entry {
    uintptr_t begin, size;
    uint64_t code_align;
    int64_t data_align;
    unsigned return_reg, encoding;
    bool is_signal, has_augmentation;
    struct cursor common, own; /* instructions */
};

/* The cfi_extent of an entry that begins at `at`, behind its length; empty: it is the last, or of a kind not known. */
static struct cursor cfi_extent(const uint8_t *at)
{
    struct cursor c = {at, at + 12};
    uint64_t length = cfi_take(&c, 4);
    if (length == 0xffffffff)
        length = cfi_take(&c, 8);
    c.end = c.at + length;
    return c;
}

static bool cfi_read_augmentation(struct entry *entry, struct cursor *c, const char *letters)
{
    entry->has_augmentation = *letters == 'z';
    if (!entry->has_augmentation)
        return *letters == '\0';
    uint64_t length = cfi_take_uleb(c);
    struct cursor data = {c->at, c->at + length};
    c->at += length;
    while (*++letters) {
        if (*letters == 'R') {
            entry->encoding = (unsigned)cfi_take(&data, 1);
        } else if (*letters == 'P') {
            unsigned encoding = (unsigned)cfi_take(&data, 1);
            (void)cfi_take_pointer(&data, encoding, 0);
        } else if (*letters == 'L') {
            (void)cfi_take(&data, 1);
        } else if (*letters == 'S') {
            entry->is_signal = true;
        }
    }
    return true;
}

/* What several entries have in common. */
static bool cfi_read_common(struct entry *entry, const uint8_t *at)
{
    struct cursor c = cfi_extent(at);
    if (cfi_take(&c, 4) != 0)
        return false;
    unsigned version = (unsigned)cfi_take(&c, 1);
    const char *letters = (const char *)c.at;
    c.at += strnlen(letters, (size_t)(c.end - c.at)) + 1;
    entry->code_align = cfi_take_uleb(&c);
    entry->data_align = cfi_take_sleb(&c);
    entry->return_reg = version == 1 ? (unsigned)cfi_take(&c, 1) : (unsigned)cfi_take_uleb(&c);
    if (entry->return_reg != ABTI_REG_PC || !cfi_read_augmentation(entry, &c, letters))
        return false;
    entry->common = c;
    return c.at <= c.end;
}

static bool cfi_read_entry(struct entry *entry, const uint8_t *at)
{
    struct cursor c = cfi_extent(at);
    const uint8_t *here = c.at;
    uint32_t back = (uint32_t)cfi_take(&c, 4);
    if (back == 0 || !cfi_read_common(entry, here - back))
        return false;
    entry->begin = cfi_take_pointer(&c, entry->encoding, 0);
    entry->size = cfi_take_pointer(&c, entry->encoding & 0x0f, 0);
    if (entry->has_augmentation) {
        uint64_t length = cfi_take_uleb(&c);
        c.at += length;
    }
    entry->own = c;
    return c.at <= c.end;
}

/* By the sorted table of the file's PT_GNU_EH_FRAME. */
static bool cfi_find_entry(struct entry *entry, const uint8_t *header, size_t size, uintptr_t pc)
{
    enum { DATAREL_SDATA4 = 0x3b };
    struct cursor c = {header, header + size};
    unsigned version = (unsigned)cfi_take(&c, 1), of_frames = (unsigned)cfi_take(&c, 1),
             of_count = (unsigned)cfi_take(&c, 1);
    if (version != 1 || cfi_take(&c, 1) != DATAREL_SDATA4)
        return false;
    (void)cfi_take_pointer(&c, of_frames, (uintptr_t)header);
    size_t low = 0, high = cfi_take_pointer(&c, of_count, (uintptr_t)header), room = (size_t)(c.end - c.at) / 8;
    const uint8_t *table = c.at;
    high = high < room ? high : room;
    while (low < high) { /* how many begin at or below pc */
        size_t middle = (low + high) / 2;
        struct cursor item = {table + middle * 8, c.end};
        if ((uintptr_t)header + (uintptr_t)cfi_take_signed(&item, 4) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    struct cursor item = {table + (low - 1) * 8 + 4, c.end};
    return cfi_read_entry(entry, header + cfi_take_signed(&item, 4)) && pc - entry->begin < entry->size;
}

/* --- Rules: where the caller's registers are --- */

enum rule_kind { AS_USUAL, SAME, UNDEFINED, AT_OFFSET, IS_OFFSET, IN_REGISTER, AT_EXPRESSION, IS_EXPRESSION };

struct rule {
    enum rule_kind kind;
    int64_t value;
    struct cursor expression;
};

struct rules {
    struct rule cfa; /* IN_REGISTER with the offset in `value`, or IS_EXPRESSION */
    unsigned cfa_reg;
    struct rule reg[ABTI_NUM_REGS];
};

struct program {
    const struct entry *entry;
    struct rules now, initial, stack[4];
    unsigned depth;
    uintptr_t at, until;
};

static void cfi_set_rule(struct program *p, uint64_t reg, enum rule_kind kind, int64_t value)
{
    if (reg < ABTI_NUM_REGS)
        p->now.reg[reg] = (struct rule){.kind = kind, .value = value};
}

static void cfi_set_expression(struct rule *rule, enum rule_kind kind, struct cursor *c)
{
    uint64_t length = cfi_take_uleb(c);
    *rule = (struct rule){.kind = kind, .expression = {c->at, c->at + length}};
    c->at += length;
}

static void cfi_set_cfa(struct program *p, uint64_t reg, int64_t offset)
{
    p->now.cfa = (struct rule){.kind = IN_REGISTER, .value = offset};
    p->now.cfa_reg = reg < ABTI_NUM_REGS ? (unsigned)reg : ABTI_REG_SP;
}

static bool cfi_run_expression_rule(struct program *p, unsigned op, struct cursor *c)
{
    struct rule ignored;
    if (op == 0x0f) {
        cfi_set_expression(&p->now.cfa, IS_EXPRESSION, c);
        return true;
    }
    uint64_t reg = cfi_take_uleb(c);
    cfi_set_expression(reg < ABTI_NUM_REGS ? &p->now.reg[reg] : &ignored, op == 0x10 ? AT_EXPRESSION : IS_EXPRESSION,
                       c);
    return true;
}

static bool cfi_keep_state(struct program *p, bool restore)
{
    if (restore ? p->depth == 0 : p->depth == sizeof(p->stack) / sizeof(p->stack[0]))
        return false;
    if (restore)
        p->now = p->stack[--p->depth];
    else
        p->stack[p->depth++] = p->now;
    return true;
}

/* Those with an operation code of their own. False: it is not known. */
static bool cfi_run_extended(struct program *p, unsigned op, struct cursor *c)
{
    const int64_t align = p->entry->data_align;
    uint64_t reg = (op >= 0x05 && op <= 0x09) || op == 0x0c || op == 0x0d || op == 0x11 || op == 0x12 || op == 0x14 ||
                           op == 0x15 || op == 0x2f
                       ? cfi_take_uleb(c)
                       : 0;
    switch (op) {
    case 0x00: return true;
    case 0x01: p->at = cfi_take_pointer(c, p->entry->encoding, 0); return true;
    case 0x02: p->at += cfi_take(c, 1) * p->entry->code_align; return true;
    case 0x03: p->at += cfi_take(c, 2) * p->entry->code_align; return true;
    case 0x04: p->at += cfi_take(c, 4) * p->entry->code_align; return true;
    case 0x05: cfi_set_rule(p, reg, AT_OFFSET, (int64_t)cfi_take_uleb(c) * align); return true;
    case 0x06:
        if (reg < ABTI_NUM_REGS)
            p->now.reg[reg] = p->initial.reg[reg];
        return true;
    case 0x07: cfi_set_rule(p, reg, UNDEFINED, 0); return true;
    case 0x08: cfi_set_rule(p, reg, SAME, 0); return true;
    case 0x09: cfi_set_rule(p, reg, IN_REGISTER, (int64_t)cfi_take_uleb(c)); return true;
    case 0x0a: return cfi_keep_state(p, false);
    case 0x0b: return cfi_keep_state(p, true);
    case 0x0c: cfi_set_cfa(p, reg, (int64_t)cfi_take_uleb(c)); return true;
    case 0x0d: cfi_set_cfa(p, reg, p->now.cfa.value); return true;
    case 0x0e: cfi_set_cfa(p, p->now.cfa_reg, (int64_t)cfi_take_uleb(c)); return true;
    case 0x0f:
    case 0x10:
    case 0x16: return cfi_run_expression_rule(p, op, c);
    case 0x11: cfi_set_rule(p, reg, AT_OFFSET, cfi_take_sleb(c) * align); return true;
    case 0x12: cfi_set_cfa(p, reg, cfi_take_sleb(c) * align); return true;
    case 0x13: cfi_set_cfa(p, p->now.cfa_reg, cfi_take_sleb(c) * align); return true;
    case 0x14: cfi_set_rule(p, reg, IS_OFFSET, (int64_t)cfi_take_uleb(c) * align); return true;
    case 0x15: cfi_set_rule(p, reg, IS_OFFSET, cfi_take_sleb(c) * align); return true;
    case 0x2e: (void)cfi_take_uleb(c); return true;
    case 0x2f: cfi_set_rule(p, reg, AT_OFFSET, -(int64_t)cfi_take_uleb(c) * align); return true;
    default: return false;
    }
}

/* Up to the place that is asked for. */
static bool cfi_run_program(struct program *p, struct cursor c)
{
    while (c.at < c.end && p->at <= p->until) {
        unsigned byte = (unsigned)cfi_take(&c, 1), low = byte & 0x3f;
        switch (byte >> 6) {
        case 1: p->at += low * p->entry->code_align; break;
        case 2: cfi_set_rule(p, low, AT_OFFSET, (int64_t)cfi_take_uleb(&c) * p->entry->data_align); break;
        case 3:
            if (low < ABTI_NUM_REGS)
                p->now.reg[low] = p->initial.reg[low];
            break;
        default:
            if (!cfi_run_extended(p, low, &c))
                return false;
        }
    }
    return true;
}

static bool cfi_find_rules(struct program *p, const struct entry *entry, uintptr_t pc)
{
    *p = (struct program){.entry = entry, .at = entry->begin, .until = pc};
    cfi_set_cfa(p, ABTI_REG_SP, 0);
    if (!cfi_run_program(p, entry->common))
        return false;
    p->initial = p->now;
    return cfi_run_program(p, entry->own);
}

/* --- Expressions --- */

struct machine {
    uint64_t stack[16];
    unsigned depth;
    bool failed;
};

static void cfi_push(struct machine *m, uint64_t value)
{
    if (m->depth < sizeof(m->stack) / sizeof(m->stack[0]))
        m->stack[m->depth++] = value;
    else
        m->failed = true;
}

static uint64_t cfi_pop(struct machine *m)
{
    if (m->depth > 0)
        return m->stack[--m->depth];
    m->failed = true;
    return 0;
}

static uint64_t cfi_peek_word(struct machine *m, uint64_t address)
{
    uint64_t word = 0;
    if (!abti_peek(&word, (const void *)(uintptr_t)address, sizeof(word)))
        m->failed = true;
    return word;
}

static void cfi_calculate(struct machine *m, unsigned op)
{
    uint64_t b = cfi_pop(m), a = op == 0x06 || op == 0x1f ? 0 : cfi_pop(m);
    switch (op) {
    case 0x06: cfi_push(m, cfi_peek_word(m, b)); break;
    case 0x14: cfi_push(m, a), cfi_push(m, b), cfi_push(m, a); break;
    case 0x16: cfi_push(m, b), cfi_push(m, a); break;
    case 0x1a: cfi_push(m, a & b); break;
    case 0x1c: cfi_push(m, a - b); break;
    case 0x1e: cfi_push(m, a * b); break;
    case 0x1f: cfi_push(m, -b); break;
    case 0x21: cfi_push(m, a | b); break;
    case 0x22: cfi_push(m, a + b); break;
    case 0x24: cfi_push(m, a << (b & 63)); break;
    case 0x25: cfi_push(m, a >> (b & 63)); break;
    case 0x26: cfi_push(m, (uint64_t)((int64_t)a >> (b & 63))); break;
    case 0x27: cfi_push(m, a ^ b); break;
    case 0x29: cfi_push(m, a == b); break;
    case 0x2a: cfi_push(m, (int64_t)a >= (int64_t)b); break;
    case 0x2b: cfi_push(m, (int64_t)a > (int64_t)b); break;
    case 0x2c: cfi_push(m, (int64_t)a <= (int64_t)b); break;
    case 0x2d: cfi_push(m, (int64_t)a < (int64_t)b); break;
    case 0x2e: cfi_push(m, a != b); break;
    default: m->failed = true;
    }
}

static void cfi_run_operation(struct machine *m, const struct abti_regs *regs, struct cursor *c)
{
    unsigned op = (unsigned)cfi_take(c, 1);
    if (op >= 0x30 && op < 0x50)
        cfi_push(m, op - 0x30);
    else if (op >= 0x70 && op < 0x70 + ABTI_NUM_REGS)
        cfi_push(m, regs->value[op - 0x70] + (uint64_t)cfi_take_sleb(c));
    else if (op >= 0x08 && op <= 0x0f)
        cfi_push(m, op & 1 ? (uint64_t)cfi_take_signed(c, 1u << ((op - 8) / 2)) : cfi_take(c, 1u << ((op - 8) / 2)));
    else if (op == 0x10 || op == 0x11)
        cfi_push(m, op == 0x10 ? cfi_take_uleb(c) : (uint64_t)cfi_take_sleb(c));
    else if (op == 0x12)
        cfi_push(m, m->depth > 0 ? m->stack[m->depth - 1] : 0);
    else if (op == 0x13)
        (void)cfi_pop(m);
    else if (op == 0x23)
        cfi_push(m, cfi_pop(m) + cfi_take_uleb(c));
    else if (op != 0x96)
        cfi_calculate(m, op);
}

static bool cfi_evaluate(const struct rule *rule, const struct abti_regs *regs, const uintptr_t *cfa, uintptr_t *value)
{
    struct machine m = {.depth = 0};
    struct cursor c = rule->expression;
    if (cfa)
        cfi_push(&m, *cfa);
    while (c.at < c.end && !m.failed)
        cfi_run_operation(&m, regs, &c);
    *value = cfi_pop(&m);
    return !m.failed;
}

/* --- Steps --- */

static bool cfi_read_at(uintptr_t address, uintptr_t *value)
{
    return abti_peek(value, (const void *)address, sizeof(*value));
}

/* False: it is not known. */
static bool cfi_find_register(const struct rules *rules, unsigned reg, const struct abti_regs *regs, uintptr_t cfa,
                              uintptr_t *value)
{
    const struct rule *rule = &rules->reg[reg];
    switch (rule->kind) {
    case AS_USUAL: *value = reg == ABTI_REG_SP ? cfa : regs->value[reg]; return reg != ABTI_REG_PC;
    case SAME: *value = regs->value[reg]; return true;
    case AT_OFFSET: return cfi_read_at(cfa + (uintptr_t)rule->value, value);
    case IS_OFFSET: *value = cfa + (uintptr_t)rule->value; return true;
    case IN_REGISTER: *value = rule->value < ABTI_NUM_REGS ? regs->value[rule->value] : 0; return true;
    case AT_EXPRESSION: return cfi_evaluate(rule, regs, &cfa, value) && cfi_read_at(*value, value);
    case IS_EXPRESSION: return cfi_evaluate(rule, regs, &cfa, value);
    default: *value = 0; return false;
    }
}

static bool cfi_apply(const struct rules *rules, struct abti_frame *frame, bool is_signal)
{
    struct abti_frame caller = {.exact = is_signal};
    uintptr_t cfa;
    if (rules->cfa.kind == IN_REGISTER)
        cfa = frame->regs.value[rules->cfa_reg] + (uintptr_t)rules->cfa.value;
    else if (!cfi_evaluate(&rules->cfa, &frame->regs, NULL, &cfa))
        return false;
    for (unsigned reg = 0; reg < ABTI_NUM_REGS; reg++) {
        if (!cfi_find_register(rules, reg, &frame->regs, cfa, &caller.regs.value[reg]) && reg == ABTI_REG_PC)
            return false;
    }
    *frame = caller;
    return caller.regs.value[ABTI_REG_PC] != 0;
}

struct search {
    struct abti_frame *frame;
    bool found, stepped;
};

static bool cfi_is_in(const struct dl_phdr_info *info, uintptr_t pc, const ElfW(Phdr) * *table)
{
    bool in = false;
    *table = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && pc - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            in = true;
        if (segment->p_type == PT_GNU_EH_FRAME)
            *table = segment;
    }
    return in;
}

static int cfi_look_in_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *search = arg;
    const ElfW(Phdr) * table;
    struct abti_frame *frame = search->frame;
    uintptr_t pc = frame->regs.value[ABTI_REG_PC] - !frame->exact;
    (void)size;
    if (!cfi_is_in(info, pc, &table))
        return 0;
    struct entry entry = {.encoding = 0};
    struct program program;
    const uint8_t *header = table ? (const uint8_t *)(info->dlpi_addr + table->p_vaddr) : NULL;
    search->found = header && cfi_find_entry(&entry, header, table->p_memsz, pc);
    search->stepped =
        search->found && cfi_find_rules(&program, &entry, pc) && cfi_apply(&program.now, frame, entry.is_signal);
    return 1;
}

/* Code that nothing is said of, made at run time perhaps: it may keep frame pointers. */
static bool cfi_step_by_frame_pointer(struct abti_frame *frame)
{
    uintptr_t pair[2], fp = frame->regs.value[ABTI_REG_FP];
    if (fp < frame->regs.value[ABTI_REG_SP] || fp % sizeof(void *) != 0 ||
        !abti_peek(pair, (const void *)fp, sizeof(pair)) || pair[1] == 0)
        return false;
    frame->regs.value[ABTI_REG_FP] = pair[0];
    frame->regs.value[ABTI_REG_PC] = pair[1];
    frame->regs.value[ABTI_REG_SP] = fp + sizeof(pair);
    frame->exact = false;
    return true;
}

bool abti_cfi_step(struct abti_frame *frame)
{
    struct search search = {.frame = frame};
    dl_iterate_phdr(cfi_look_in_module, &search);
    return search.found ? search.stepped : cfi_step_by_frame_pointer(frame);
}
