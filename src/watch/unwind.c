#include "watch/unwind.h"

#include <inttypes.h>
#include "os/symbol.h"
#include "watch/cfi.h"

static void print_frame(FILE *fp, unsigned number, const struct abti_frame *frame)
{
    char place[248];
    uintptr_t pc = frame->regs.value[ABTI_REG_PC];
    abti_symbol_describe(pc, !frame->exact, place, sizeof(place));
    fprintf(fp, "    #%-2u 0x%016" PRIxPTR " %s\n", number, pc, place);
}

/* False when there is no caller: also when a damaged stack leads back or away. */
static bool step(struct abti_frame *frame, const char *end)
{
    uintptr_t old = frame->regs.value[ABTI_REG_SP];
    if (!abti_cfi_step(frame))
        return false;
    uintptr_t sp = frame->regs.value[ABTI_REG_SP];
    return sp > old && (!end || sp <= (uintptr_t)end);
}

static void print_callers(FILE *fp, struct abti_frame *frame, const char *end, unsigned number)
{
    enum { MAX_FRAMES = 100 };
    for (; number < MAX_FRAMES && step(frame, end); number++)
        print_frame(fp, number, frame);
    if (number == MAX_FRAMES)
        fputs("    ...\n", fp);
}

void abti_unwind_print(FILE *fp, abti_ctx ctx, const char *end)
{
    struct abti_frame frame = {.exact = true};
    abti_regs_of_ctx(&frame.regs, ctx);
    print_callers(fp, &frame, end, 0);
}

void abti_unwind_print_regs(FILE *fp, const struct abti_regs *regs, const char *end)
{
    struct abti_frame frame = {.regs = *regs, .exact = true};
    print_frame(fp, 0, &frame);
    print_callers(fp, &frame, end, 1);
}
