/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch/outside.h"

#include <signal.h>
#include <string.h>
#include "os/module.h"
#include "watch/capture.h"
#include "watch/dumpsignal.h"

/* What comes of what a thread does, which none does that sleeps. */
static bool is_of_own_doing(int sig)
{
    static const int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE};
    for (size_t i = 0; i < ABTI_ARRAY_LEN(all); i++) {
        if (sig == all[i])
            return true;
    }
    return false;
}

/* libabtio has a handler that does nothing by itself: it is enough that a system call ends. */
static bool is_libabtios(uintptr_t code)
{
    struct abti_module module;
    if (!abti_module_of(code, &module))
        return false;
    const char *slash = strrchr(module.file, '/');
    return strncmp(slash ? slash + 1 : module.file, "libabtio.", 9) == 0;
}

/* The library's own handlers pass signals on to those that were there before. */
static bool is_handled(int sig)
{
    struct sigaction now;
    if (is_of_own_doing(sig) || sigaction(sig, NULL, &now) != 0)
        return false;
    abti_capture_look_behind(sig, &now);
    abti_dumpsignal_look_behind(sig, &now);
    return now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN && !is_libabtios((uintptr_t)now.sa_handler);
}

void abti_outside_look(struct abti_outside *outside)
{
    abti_outsiders_count(&outside->threads);
    outside->handled = 0;
    for (int sig = 1; sig <= SIGRTMAX && outside->handled == 0; sig++)
        outside->handled = is_handled(sig) ? sig : 0;
}

bool abti_outside_is_known(const struct abti_outside *outside)
{
    return outside->threads.counted && outside->threads.strangers == 0 && outside->handled == 0;
}

void abti_outside_print(FILE *fp, const struct abti_outside *outside)
{
    unsigned guests = outside->threads.guests, strangers = outside->threads.strangers;
    if (guests > 0)
        fprintf(fp, "libabt:   %u native thread%s of the program's own wait%s in the library\n", guests,
                guests > 1 ? "s" : "", guests > 1 ? "" : "s");
    if (strangers > 0)
        fprintf(fp, "libabt:   %u native thread%s of the program's own could wake units\n", strangers,
                strangers > 1 ? "s" : "");
    if (!outside->threads.counted)
        fputs("libabt:   which other native threads there are the system does not tell\n", fp);
    if (outside->handled)
        fprintf(fp, "libabt:   the program's handler of signal %d could wake units\n", outside->handled);
}
