#include "watch/unwind.h"

#include <inttypes.h>
#include "base/compiler.h"
#include "os/symbol.h"
#include "watch/cfi.h"

static void add_call(struct abti_calls *calls, const struct abti_frame *frame)
{
    calls->place[calls->num++] = frame->regs.value[ABTI_REG_PC] * 2 + !frame->exact;
}

/* False when there is no caller: also when a damaged stack leads back or away. */
static bool step_out(struct abti_frame *frame, const char *end)
{
    uintptr_t old = frame->regs.value[ABTI_REG_SP];
    if (!abti_cfi_step(frame))
        return false;
    uintptr_t sp = frame->regs.value[ABTI_REG_SP];
    return sp > old && (!end || sp <= (uintptr_t)end);
}

static void add_callers(struct abti_calls *calls, struct abti_frame *frame, const char *end)
{
    while (calls->num < ABTI_ARRAY_LEN(calls->place) && step_out(frame, end))
        add_call(calls, frame);
}

void abti_unwind_ctx(abti_ctx ctx, const char *end, struct abti_calls *calls)
{
    struct abti_frame frame = {.exact = true};
    calls->num = 0;
    abti_regs_of_ctx(&frame.regs, ctx);
    add_callers(calls, &frame, end);
}

void abti_unwind_regs(const struct abti_regs *regs, const char *end, struct abti_calls *calls)
{
    struct abti_frame frame = {.regs = *regs, .exact = true};
    calls->num = 0;
    add_call(calls, &frame);
    add_callers(calls, &frame, end);
}

void abti_unwind_print(FILE *fp, const struct abti_calls *calls)
{
    for (unsigned i = 0; i < calls->num; i++) {
        char text[248];
        uintptr_t pc = calls->place[i] >> 1;
        abti_symbol_describe(pc, calls->place[i] & 1, text, sizeof(text));
        fprintf(fp, "    #%-2u 0x%016" PRIxPTR " %s\n", i, pc, text);
    }
    if (calls->num == ABTI_ARRAY_LEN(calls->place))
        fputs("    ...\n", fp);
}
