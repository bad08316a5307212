/* SPDX-License-Identifier: BSD-3-Clause */
#include "dense_inside.h"

const struct dense_runtime *dense_by;

void dense_invoke(int num, void (*func)(void *), void *args, size_t size)
{
    enum { MOST = 8 };
    void (*funcs[MOST])(void *);
    void *pointers[MOST];
    for (int i = 0; i < num; i++) {
        funcs[i] = func;
        pointers[i] = (char *)args + (size_t)i * size;
    }
    dense_by->invoke(num, funcs, pointers);
}

static void invoke_in_turn(int num, void (*const *funcs)(void *), void *const *args)
{
    for (int i = 0; i < num; i++)
        funcs[i](args[i]);
}

static void loop_at_once(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t grain, void (*body)(ptrdiff_t, ptrdiff_t, void *),
                         void *arg)
{
    body(begin, end, arg);
}

const struct dense_runtime dense_sequential = {invoke_in_turn, loop_at_once};

void *dense_get(size_t num, size_t size)
{
    void *memory = calloc(num, size);
    if (!memory) {
        perror("dense");
        exit(1);
    }
    return memory;
}

static uint64_t state;

/* splitmix64 */
static uint64_t draw(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

double dense_draw(void)
{
    return (double)(draw() >> 11) * 0x1p-52 - 1;
}

long dense_count_different(const double *got, const double *expected, long num)
{
    long errors = 0;
    for (long i = 0; i < num; i++)
        errors += !(fabs(got[i] - expected[i]) <= 1e-6 * (1 + fabs(expected[i])));
    return errors;
}

/* ---- Merge sort ---- */

static struct {
    int *in, *out, *spare, *answer;
    long num;
} sort;

struct merge {
    const int *a, *b;
    int *out;
    long num_a, num_b;
};

static void merge_part(const struct merge *m)
{
    const int *a = m->a, *b = m->b, *end_a = a + m->num_a, *end_b = b + m->num_b;
    int *out = m->out;
    while (a < end_a && b < end_b)
        *out++ = *b < *a ? *b++ : *a++;
    while (a < end_a)
        *out++ = *a++;
    while (b < end_b)
        *out++ = *b++;
}

/* How many elements of b are less than the key. */
static long count_less(const int *b, long num, int key)
{
    long low = 0;
    while (low < num) {
        long middle = (low + num) / 2;
        if (b[middle] < key)
            low = middle + 1;
        else
            num = middle;
    }
    return low;
}

static void merge(void *arg)
{
    enum { GRAIN = 16384 };
    struct merge *m = arg;
    if (m->num_a + m->num_b <= GRAIN) {
        merge_part(m);
        return;
    }
    if (m->num_a < m->num_b)
        *m = (struct merge){m->b, m->a, m->out, m->num_b, m->num_a};
    long a = m->num_a / 2, b = count_less(m->b, m->num_b, m->a[a]);
    struct merge halves[] = {{m->a, m->b, m->out, a, b},
                             {m->a + a, m->b + b, m->out + a + b, m->num_a - a, m->num_b - b}};
    dense_invoke(2, merge, halves, sizeof(halves[0]));
}

struct sort {
    const int *in;
    int *out, *spare;
    long num;
};

static void insertion_sort(const int *in, int *out, long num)
{
    for (long i = 0; i < num; i++) {
        long k = i;
        for (; k > 0 && out[k - 1] > in[i]; k--)
            out[k] = out[k - 1];
        out[k] = in[i];
    }
}

static void sort_part(const int *in, int *out, int *spare, long num)
{
    enum { FEW = 24 };
    long half = num / 2;
    if (num <= FEW) {
        insertion_sort(in, out, num);
        return;
    }
    sort_part(in, spare, out, half);
    sort_part(in + half, spare + half, out + half, num - half);
    merge_part(&(struct merge){spare, spare + half, out, half, num - half});
}

static void merge_sort(void *arg)
{
    enum { GRAIN = 4096 };
    struct sort *s = arg;
    long half = s->num / 2;
    if (s->num <= GRAIN) {
        sort_part(s->in, s->out, s->spare, s->num);
        return;
    }
    struct sort halves[] = {{s->in, s->spare, s->out, half},
                            {s->in + half, s->spare + half, s->out + half, s->num - half}};
    dense_invoke(2, merge_sort, halves, sizeof(halves[0]));
    merge(&(struct merge){s->spare, s->spare + half, s->out, half, s->num - half});
}

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort_make(int quick)
{
    sort.num = quick ? 30000 : 300000;
    sort.in = dense_get((size_t)sort.num, sizeof(int));
    sort.out = dense_get((size_t)sort.num, sizeof(int));
    sort.spare = dense_get((size_t)sort.num, sizeof(int));
    sort.answer = dense_get((size_t)sort.num, sizeof(int));
    for (long i = 0; i < sort.num; i++)
        sort.answer[i] = sort.in[i] = (int)draw();
    qsort(sort.answer, (size_t)sort.num, sizeof(int), by_value);
}

static void sort_free(void)
{
    free(sort.in);
    free(sort.out);
    free(sort.spare);
    free(sort.answer);
}

static void sort_do(void)
{
    merge_sort(&(struct sort){sort.in, sort.out, sort.spare, sort.num});
}

static long sort_errors(void)
{
    long errors = 0;
    for (long i = 0; i < sort.num; i++)
        errors += sort.out[i] != sort.answer[i];
    return errors;
}

/* ---- Heat that spreads in a plate, whose rim stays as it is ---- */

enum { HEAT_STEPS = 20 };

static struct {
    double *first, *even, *odd, *answer;
    int size;
} plate;

struct heat_step {
    const double *from;
    double *to;
};

static void heat_rows(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    const struct heat_step *s = arg;
    int size = plate.size;
    for (ptrdiff_t i = begin; i < end; i++) {
        const double *u = s->from + i * size;
        double *restrict to = s->to + i * size;
        for (int j = 1; j < size - 1; j++)
            to[j] = u[j] + 0.2 * (u[j - 1] + u[j + 1] + u[j - size] + u[j + size] - 4 * u[j]);
    }
}

static void heat_do(void)
{
    struct heat_step s = {plate.first, plate.odd};
    for (int step = 0; step < HEAT_STEPS; step++) {
        dense_by->loop(1, plate.size - 1, 16, heat_rows, &s);
        s.from = s.to;
        s.to = s.to == plate.odd ? plate.even : plate.odd;
    }
}

static void heat_make(int quick)
{
    plate.size = quick ? 128 : 512;
    size_t size = (size_t)plate.size, area = size * size;
    double **all[] = {&plate.first, &plate.even, &plate.odd, &plate.answer};
    for (int i = 0; i < 4; i++)
        *all[i] = dense_get(area, sizeof(double));
    for (size_t i = 0; i < area; i++)
        plate.first[i] = plate.even[i] = plate.odd[i] = plate.answer[i] = dense_draw();
    double *last = dense_get(area, sizeof(double));
    for (int step = 0; step < HEAT_STEPS; step++) {
        memcpy(last, plate.answer, area * sizeof(double));
        for (size_t at = size; at < area - size; at++)
            if (at % size != 0 && at % size != size - 1)
                plate.answer[at] = 0.2 * (last[at] + last[at - 1] + last[at + 1] + last[at - size] + last[at + size]);
    }
    free(last);
}

static void heat_free(void)
{
    free(plate.first);
    free(plate.even);
    free(plate.odd);
    free(plate.answer);
}

static long heat_errors(void)
{
    return dense_count_different(plate.even, plate.answer, (long)plate.size * plate.size); /* the steps are even */
}

/* ---- Fourier's transform ---- */

struct complex {
    double re, im;
};

static struct {
    struct complex *in, *out, *roots;
    long num;
} wave;

struct fft {
    const struct complex *in;
    struct complex *out;
    long num, stride;
};

static void fft_combine(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    const struct fft *f = arg;
    struct complex *restrict low = f->out, *restrict high = f->out + f->num / 2;
    for (ptrdiff_t k = begin; k < end; k++) {
        struct complex w = wave.roots[k * f->stride], x = low[k], y = high[k];
        struct complex t = {w.re * y.re - w.im * y.im, w.re * y.im + w.im * y.re};
        low[k] = (struct complex){x.re + t.re, x.im + t.im};
        high[k] = (struct complex){x.re - t.re, x.im - t.im};
    }
}

static void fft_part(struct fft *f)
{
    long half = f->num / 2;
    if (f->num == 1) {
        f->out[0] = f->in[0];
        return;
    }
    fft_part(&(struct fft){f->in, f->out, half, 2 * f->stride});
    fft_part(&(struct fft){f->in + f->stride, f->out + half, half, 2 * f->stride});
    fft_combine(0, half, f);
}

static void fft(void *arg)
{
    enum { GRAIN = 1024 };
    struct fft *f = arg;
    long half = f->num / 2;
    if (f->num <= GRAIN) {
        fft_part(f);
        return;
    }
    struct fft halves[] = {{f->in, f->out, half, 2 * f->stride},
                           {f->in + f->stride, f->out + half, half, 2 * f->stride}};
    dense_invoke(2, fft, halves, sizeof(halves[0]));
    dense_by->loop(0, half, GRAIN, fft_combine, f);
}

static void fft_do(void)
{
    fft(&(struct fft){wave.in, wave.out, wave.num, 1});
}

static void fft_make(int quick)
{
    wave.num = quick ? 4096 : 65536;
    wave.in = dense_get((size_t)wave.num, sizeof(*wave.in));
    wave.out = dense_get((size_t)wave.num, sizeof(*wave.out));
    wave.roots = dense_get((size_t)wave.num / 2, sizeof(*wave.roots));
    for (long i = 0; i < wave.num; i++)
        wave.in[i] = (struct complex){dense_draw(), dense_draw()};
    for (long i = 0; i < wave.num / 2; i++) {
        double angle = -2 * M_PI * (double)i / (double)wave.num;
        wave.roots[i] = (struct complex){cos(angle), sin(angle)};
    }
}

static void fft_free(void)
{
    free(wave.in);
    free(wave.out);
    free(wave.roots);
}

/* The whole by its definition would take too long: some frequencies of it. */
static long fft_errors(void)
{
    long errors = 0;
    for (long k = 1; k < wave.num; k += wave.num / 7) {
        double sum[2] = {0, 0};
        for (long i = 0; i < wave.num; i++) {
            double angle = -2 * M_PI * (double)(i * k % wave.num) / (double)wave.num;
            sum[0] += wave.in[i].re * cos(angle) - wave.in[i].im * sin(angle);
            sum[1] += wave.in[i].re * sin(angle) + wave.in[i].im * cos(angle);
        }
        errors +=
            dense_count_different(&wave.out[k].re, &sum[0], 1) + dense_count_different(&wave.out[k].im, &sum[1], 1);
    }
    return errors;
}

/* ---- All of them ---- */

static const struct dense_functions mergesort = {sort_make, sort_do, sort_errors, sort_free};
static const struct dense_functions heat = {heat_make, heat_do, heat_errors, heat_free};
static const struct dense_functions fourier = {fft_make, fft_do, fft_errors, fft_free};
static const struct dense_functions *present;

void dense_make(enum dense_work work, int quick)
{
    static const struct dense_functions *const works[] = {
        [DENSE_MERGESORT] = &mergesort, [DENSE_MATMUL] = &dense_matmul, [DENSE_HEAT] = &heat, [DENSE_FFT] = &fourier};
    state = 42;
    present = works[work];
    present->make(quick);
}

void dense_free(void)
{
    present->free();
}

void dense_do(const struct dense_runtime *runtime)
{
    dense_by = runtime;
    present->run();
}

long dense_errors(void)
{
    return present->errors();
}
