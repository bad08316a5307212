/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite_native.h"

#include <string.h>

void suite_native(const struct suite_work *work, const struct native_kind *kind)
{
    static const long totals[] = {
        [NATIVE_LOCKS] = 200000, [NATIVE_SIGNALS] = 20000, [NATIVE_BROADCASTS] = 4000, [NATIVE_MEETS] = 4000};
    enum { LEAST = 3 };
    struct suite_samples samples = {NULL, 0, 0};
    size_t length = strlen(work->work);
    int wants_cpu = length > 4 && strcmp(work->work + length - 4, "-cpu") == 0;
    double start = suite_now_ns();

    while (samples.num < LEAST || suite_now_ns() - start < suite_budget_ns) {
        double wall, cpu;
        native_measure(kind, (enum native_work)work->variant, (int)work->n, totals[work->variant], &wall, &cpu);
        suite_add(&samples, wants_cpu ? cpu : wall);
    }
    suite_report(&samples, 1);
}
