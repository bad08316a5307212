/* Where files are not ELF. */
#include "watch/unwind.h"

void abti_unwind_ctx(abti_ctx ctx, const char *end, struct abti_calls *calls)
{
    (void)ctx;
    (void)end;
    calls->num = 0;
}

void abti_unwind_regs(const struct abti_regs *regs, const char *end, struct abti_calls *calls)
{
    (void)regs;
    (void)end;
    calls->num = 0;
}

void abti_unwind_print(FILE *fp, const struct abti_calls *calls)
{
    (void)fp;
    (void)calls;
}
