/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/unwind.h"

#include <inttypes.h>
#include <stdbool.h>
#include "arch/cpu.h"
#include "base/compiler.h"
#include "rt/libunwind.h"
#include "rt/symbol.h"
#include "os/peek.h"

static void add_place(struct abti_calls *calls, uintptr_t pc, bool is_return)
{
    calls->place[calls->num++] = pc * 2 + is_return;
}

/* False when there is no caller: also when a damaged stack leads back or away. */
static bool step_out(const struct abti_libunwind *unw, struct abti_unw_cursor *cursor, uintptr_t *sp, const char *end)
{
    uintptr_t old = *sp;
    if (unw->step(cursor) <= 0 || unw->get_reg(cursor, ABTI_UNW_SP, sp) != 0)
        return false;
    return *sp > old && (!end || *sp <= (uintptr_t)end);
}

static void add_callers(const struct abti_libunwind *unw, ucontext_t *context, const char *end,
                        struct abti_calls *calls)
{
    struct abti_unw_cursor cursor;
    uintptr_t sp, pc;
    if (unw->init_local2(&cursor, context, ABTI_UNW_INIT_SIGNAL_FRAME) != 0 ||
        unw->get_reg(&cursor, ABTI_UNW_SP, &sp) != 0)
        return;
    while (calls->num < ABTI_ARRAY_LEN(calls->place)) {
        bool interrupted = unw->is_signal_frame(&cursor) > 0; /* it called nothing */
        if (!step_out(unw, &cursor, &sp, end) || unw->get_reg(&cursor, ABTI_UNW_IP, &pc) != 0)
            return;
        add_place(calls, pc, !interrupted);
    }
}

void abti_unwind_ctx(abti_ctx ctx, const char *end, struct abti_calls *calls)
{
    const struct abti_libunwind *unw = abti_libunwind();
    ucontext_t context;
    uintptr_t pc;
    calls->num = 0;
    if (unw) {
        abti_ctx_to_ucontext(ctx, &context);
        add_callers(unw, &context, end, calls);
    } else if (abti_peek(&pc, abti_ctx_resumes_at(ctx), sizeof(pc))) {
        add_place(calls, abti_cpu_code_at(pc), true);
    }
}

void abti_unwind_print(FILE *fp, const struct abti_calls *calls)
{
    for (unsigned i = 0; i < calls->num; i++) {
        char text[300];
        uintptr_t pc = calls->place[i] >> 1;
        abti_symbol_describe(pc, calls->place[i] & 1, text, sizeof(text));
        fprintf(fp, "    #%-2u 0x%016" PRIxPTR " %s\n", i, pc, text);
    }
    if (calls->num == ABTI_ARRAY_LEN(calls->place))
        fputs("    ...\n", fp);
    if (calls->num > 0 && !abti_libunwind())
        fprintf(fp, "    no callers are shown: " ABTI_LIBUNWIND_FILE "%s\n", ABTI_NO_LIBUNWIND);
}
