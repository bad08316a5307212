/* SPDX-License-Identifier: BSD-3-Clause */
/* USDT probes: those that the library's notes tell of, where it was built with sys/sdt.h; and that they can be passed.
 */
#include <dlfcn.h>

#include "common.h"

static const char *const names[] = {"create", "revive",  "join",   "free",  "run",  "finish", "cancel",
                                    "yield",  "suspend", "resume", "sleep", "wake", "steal"};
enum { NUM_NAMES = sizeof(names) / sizeof(names[0]) };

/* How often the notes of the file have the probe; -1 without readelf. */
static int count_probe(const char *file, const char *name)
{
    char command[1000];
    int count = -1;

    snprintf(command, sizeof(command),
             "readelf -n '%s' 2> /dev/null | grep -A1 'Provider: libabt' | grep -c 'Name: %s$'", file, name);
    FILE *fp = popen(command, "r");
    if (!fp || fscanf(fp, "%d", &count) != 1)
        count = -1;
    if (fp)
        pclose(fp);
    return count;
}

int main(void)
{
    Dl_info info;
    ABT_thread thread;

    if (!dladdr((void *)(uintptr_t)ABT_init, &info))
        bail_out("no file");
    if (count_probe(info.dli_fname, "create") < 1)
        skip(NUM_NAMES, "built without sys/sdt.h, or there is no readelf");
    else
        for (int i = 0; i < NUM_NAMES; i++)
            ok(count_probe(info.dli_fname, names[i]) >= 1, "a probe: %s", names[i]);
    setenv("ABT_TRACE", "probes", 1);
    must(ABT_init(0, NULL));
    thread = ult_in(own_pool(), do_nothing, NULL);
    ok_abt(ABT_thread_free(&thread));
    must(ABT_finalize());
    return done_testing();
}
