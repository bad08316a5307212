/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BLAS of others, called by each member of a region. BLIS opens a region in each call, whose members wait for one
 * another by looks of their own; OpenBLAS opens one outside of regions only.
 *
 * Both have thread-local variables, so that each member of their regions has a thread. Those of BLIS hold settings
 * only, which its calls here leave alone: it runs as a BLAS without such variables, too, when they are hidden from
 * libabtomp.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "modes.h"
#include "sanitizers.h"

enum { SIZE = 256, ROUNDS = 5 }; /* so large that members of BLIS wait for one another */

static const struct blas {
    const char *name, *folder, *file;
    bool is_hidden; /* its thread-local variables are */
} blases[] = {{"BLIS", "blis-openmp", "libblis.so.4", false},
              {"BLIS without thread-local variables", "blis-openmp", "libblis.so.4", true},
              {"OpenBLAS", "openblas-openmp", "libopenblas.so.0", false}};

typedef void dgemm_fn(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                      const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static const struct blas *current;
static char path[4096];

/*
 * -- What hides them: this takes the place of the C library's function --
 *
 * Not that of a sanitizer, which calls it before it has begun to work.
 */
#if !UNDER_ASAN && !UNDER_TSAN

typedef int visit_fn(struct dl_phdr_info *info, size_t size, void *arg);

struct visit {
    visit_fn *visit;
    void *arg;
};

static int visit_hiding(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct visit *asked = arg;
    ElfW(Phdr) parts[64];
    struct dl_phdr_info changed = *info;
    if (!current->is_hidden || !strstr(info->dlpi_name, current->file) || info->dlpi_phnum > 64)
        return asked->visit(info, size, asked->arg);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        parts[i] = info->dlpi_phdr[i];
        if (parts[i].p_type == PT_TLS)
            parts[i].p_type = PT_NULL;
    }
    changed.dlpi_phdr = parts;
    return asked->visit(&changed, size < sizeof(changed) ? size : sizeof(changed), asked->arg);
}

int dl_iterate_phdr(visit_fn *visit, void *arg)
{
    static int (*original)(visit_fn *, void *);
    struct visit asked = {visit, arg};
    if (!original)
        *(void **)&original = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    return current ? original(visit_hiding, &asked) : original(visit, arg);
}
#endif

/* -- What runs -- */

/* A matrix times a vector. */
static void apply(double (*matrix)[SIZE], const double *vector, double *to)
{
    for (int i = 0; i < SIZE; i++) {
        to[i] = 0;
        for (int j = 0; j < SIZE; j++)
            to[i] += matrix[i][j] * vector[j];
    }
}

/* Multiplies two matrices of small numbers, so that sums are exact. Whether the product does what both do. */
static bool multiplies(dgemm_fn *dgemm, int seed)
{
    static const int size = SIZE;
    static const double one = 1, zero = 0;
    double(*a)[SIZE] = malloc(3 * sizeof(double[SIZE][SIZE])), (*b)[SIZE] = a + SIZE, (*c)[SIZE] = b + SIZE;
    double vector[SIZE], once[SIZE], twice[SIZE], at_once[SIZE];
    for (int i = 0; i < SIZE; i++) {
        vector[i] = (i * i + seed) % 17;
        for (int j = 0; j < SIZE; j++) {
            a[i][j] = (i * 7 + j * 3 + seed) % 11;
            b[i][j] = (i * 5 + j + 2 * seed) % 13;
        }
    }
    dgemm("N", "N", &size, &size, &size, &one, &b[0][0], &size, &a[0][0], &size, &zero, &c[0][0], &size, 1, 1);
    apply(b, vector, once);
    apply(a, once, twice);
    apply(c, vector, at_once);
    free(a);
    return memcmp(twice, at_once, sizeof(twice)) == 0;
}

static void run(void)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    dgemm_fn *dgemm = NULL;
    int right = 0;
    if (library)
        *(void **)&dgemm = dlsym(library, "dgemm_");
    check(dgemm != NULL, "it has dgemm_");
    if (!dgemm)
        return;
    check(multiplies(dgemm, 0), "a product outside of regions is right");
#pragma omp parallel num_threads(num_outer) reduction(+ : right)
    for (int i = 0; i < ROUNDS; i++)
        right += multiplies(dgemm, i + omp_get_thread_num());
    check(right == ROUNDS * num_outer, "each product in a region is right");
}

/* Where Debian has it: beside the C library, in a folder of its own. */
static bool is_installed(const struct blas *blas)
{
    Dl_info info;
    if (!dladdr(dlsym(RTLD_NEXT, "fork"), &info) || !strrchr(info.dli_fname, '/'))
        return false;
    int length = (int)(strrchr(info.dli_fname, '/') - info.dli_fname);
    snprintf(path, sizeof(path), "%s%.*s/%s/%s", strncmp(info.dli_fname, "/usr", 4) == 0 ? "" : "/usr", length,
             info.dli_fname, blas->folder, blas->file);
    return access(path, R_OK) == 0;
}

int main(void)
{
    watchdog_begin(0);
    if (UNDER_ASAN || UNDER_TSAN)
        skip_all("a sanitizer has a function for the modules of its own");
    setenv("BLIS_NUM_THREADS", "2", 1);
    setenv("OMP_NUM_THREADS", "2", 1);
    for (size_t i = 0; i < sizeof(blases) / sizeof(blases[0]); i++) {
        if (!is_installed(&blases[i])) {
            skip(1, "%s for OpenMP is not installed", blases[i].name);
            continue;
        }
        current = &blases[i];
        printf("# %s\n", current->name);
        run_modes(run);
    }
    return done_testing();
}
