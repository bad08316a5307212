#include "watch/unwind.h"

void abti_unwind_print(FILE *fp, abti_ctx ctx, const char *end)
{
    (void)fp;
    (void)ctx;
    (void)end;
}
