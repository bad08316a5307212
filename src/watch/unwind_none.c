/* Where files are not ELF. */
#include "watch/unwind.h"

void abti_unwind_print(FILE *fp, abti_ctx ctx, const char *end)
{
    (void)fp;
    (void)ctx;
    (void)end;
}

void abti_unwind_print_regs(FILE *fp, const struct abti_regs *regs, const char *end)
{
    (void)fp;
    (void)regs;
    (void)end;
}
