/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program's plugin that is linked with the library could not be loaded where the C library had little room left for
 * thread-local variables of libraries that come late (static TLS): the library took 80 bytes of it. It takes 16.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>
#include "child.h"
#include "emulated.h"
#include "regress.h"
#include "sanitizers.h"

enum { MOST = 16, COPIES = 10 };

struct found {
    const char *path;
    size_t tls; /* bytes */
};

static struct found library;

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct found *found = arg;
    const char *name = strrchr(info->dlpi_name, '/');

    if (!name || strncmp(name, "/libabt.so", strlen("/libabt.so")) != 0)
        return 0;
    found->path = info->dlpi_name;
    for (int i = 0; i < info->dlpi_phnum; i++)
        found->tls += info->dlpi_phdr[i].p_type == PT_TLS ? info->dlpi_phdr[i].p_memsz : 0;
    return 1;
}

/* In a new program, whose C library has little of it. */
static int exec_self(void *arg)
{
    setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=0:glibc.rtld.nns=1", 1);
    setenv("LOAD_LIBRARY", library.path, 1);
    execl("/proc/self/exe", arg, (char *)NULL);
    return 9;
}

/* Copies are libraries of their own. */
static int load_copies(const char *path)
{
    char dir[] = "/tmp/static_tls.XXXXXX", command[8192];
    int loaded = 0;

    if (!mkdtemp(dir))
        return 9;
    for (; loaded < COPIES; loaded++) {
        snprintf(command, sizeof(command), "cp -L '%s' %s/%d.so", path, dir, loaded);
        if (system(command) != 0)
            break;
        snprintf(command, sizeof(command), "%s/%d.so", dir, loaded);
        if (!dlopen(command, RTLD_NOW)) {
            fprintf(stderr, "copy %d: %s\n", loaded, dlerror());
            break;
        }
    }
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) != 0 || loaded < COPIES;
}

int main(int argc, char **argv)
{
    const char *path = getenv("LOAD_LIBRARY");
    char words[1024];

    if (path)
        return load_copies(path);
    regress_begin();
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("a sanitizer has thread-local variables of its own in the library");
    if (UNDER_DELAYS || ABTI_BUILD_ASSERT)
        skip_all("a build for checks keeps more for each thread");
    ABT_initialized(); /* so that the program wants the library */
    dl_iterate_phdr(look, &library);
    if (!library.path)
        skip_all("the library is a part of the program");
    ok(library.tls <= MOST, "%zu bytes of static TLS", library.tls);
    if (is_emulated()) {
        skip(1, "a program that a test starts is another machine's");
    } else {
        is_int(child_run(exec_self, argv[0], words, sizeof(words)), 0, "%d libraries like it can be loaded late",
               COPIES);
        diag("%s", words);
    }
    return done_testing();
}
