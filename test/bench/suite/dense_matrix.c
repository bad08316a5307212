/* SPDX-License-Identifier: BSD-3-Clause */
#include "dense_inside.h"

static struct {
    double *a, *b, *c, *answer;
    double *memory; /* strassen's own */
    int size;
} matrix;

/* A square part of a matrix, or one that stands alone. */
struct square {
    double *at;
    int row; /* from one row to the next */
};

static struct square quarter(struct square s, int size, int down, int right)
{
    return (struct square){s.at + (ptrdiff_t)(down * (size / 2)) * s.row + right * (size / 2), s.row};
}

static void multiply_part(struct square c, struct square a, struct square b, int size)
{
    for (int i = 0; i < size; i++) {
        double *restrict row = c.at + (ptrdiff_t)i * c.row;
        for (int k = 0; k < size; k++) {
            double factor = a.at[(ptrdiff_t)i * a.row + k];
            const double *restrict other = b.at + (ptrdiff_t)k * b.row;
            for (int j = 0; j < size; j++)
                row[j] += factor * other[j];
        }
    }
}

struct product {
    struct square c, a, b;
    int size;
};

/* c += a * b */
static void multiply(void *arg)
{
    enum { GRAIN = 32 };
    struct product *p = arg, parts[4];
    if (p->size <= GRAIN) {
        multiply_part(p->c, p->a, p->b, p->size);
        return;
    }
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++)
            parts[i] = (struct product){quarter(p->c, p->size, i / 2, i % 2), quarter(p->a, p->size, i / 2, k),
                                        quarter(p->b, p->size, k, i % 2), p->size / 2};
        dense_invoke(4, multiply, parts, sizeof(parts[0]));
    }
}

static void matmul_do(void)
{
    memset(matrix.c, 0, sizeof(double) * (size_t)(matrix.size * matrix.size));
    multiply(&(struct product){{matrix.c, matrix.size}, {matrix.a, matrix.size}, {matrix.b, matrix.size}, matrix.size});
}

/* Strassen's seven products: of sums of two quarters, each with the sign of the second, 0 for none. */
struct sum {
    signed char first, sign, second;
};
static const struct sum factors[7][2] = {{{0, 1, 3}, {0, 1, 3}},  {{2, 1, 3}, {0, 0, 0}}, {{0, 0, 0}, {1, -1, 3}},
                                         {{3, 0, 0}, {2, -1, 0}}, {{0, 1, 1}, {3, 0, 0}}, {{2, -1, 0}, {0, 1, 1}},
                                         {{1, -1, 3}, {2, 1, 3}}};
static const signed char signs[4][7] = {
    {1, 0, 0, 1, -1, 0, 1}, {0, 0, 1, 0, 1, 0, 0}, {0, 1, 0, 1, 0, 0, 0}, {1, -1, 1, 0, 0, 1, 0}};

static struct square add_quarters(const struct sum *sum, struct square s, int size, double *memory)
{
    struct square x = quarter(s, size, sum->first / 2, sum->first % 2);
    struct square y = quarter(s, size, sum->second / 2, sum->second % 2);
    if (!sum->sign)
        return x;
    for (int i = 0; i < size / 2; i++)
        for (int j = 0; j < size / 2; j++)
            memory[i * (size / 2) + j] = x.at[(ptrdiff_t)i * x.row + j] + sum->sign * y.at[(ptrdiff_t)i * y.row + j];
    return (struct square){memory, size / 2};
}

/* Memory: for the product, its factors, and what comes below. */
struct strassen {
    const struct product *whole;
    const struct sum *factors;
    double *memory;
};

enum { STRASSEN_GRAIN = 64 };

static size_t strassen_need(int size)
{
    size_t half = (size_t)size / 2;
    return size <= STRASSEN_GRAIN ? 0 : 7 * (3 * half * half + strassen_need(size / 2));
}

static void strassen(struct product *p, double *memory);

static void strassen_product(void *arg)
{
    struct strassen *s = arg;
    int size = s->whole->size, area = size / 2 * (size / 2);
    struct product p = {{s->memory, size / 2},
                        add_quarters(&s->factors[0], s->whole->a, size, s->memory + area),
                        add_quarters(&s->factors[1], s->whole->b, size, s->memory + 2 * (ptrdiff_t)area),
                        size / 2};
    strassen(&p, s->memory + 3 * (ptrdiff_t)area);
}

static void add_products(const struct product *p, const struct strassen *parts)
{
    int half = p->size / 2;
    for (int q = 0; q < 4; q++) {
        struct square c = quarter(p->c, p->size, q / 2, q % 2);
        for (int i = 0; i < half; i++) {
            double *restrict row = c.at + (ptrdiff_t)i * c.row;
            memset(row, 0, sizeof(double) * (size_t)half);
            for (int m = 0; m < 7; m++) {
                const double *restrict part = parts[m].memory + (ptrdiff_t)i * half;
                for (int j = 0; signs[q][m] && j < half; j++)
                    row[j] += signs[q][m] * part[j];
            }
        }
    }
}

/* c = a * b */
static void strassen(struct product *p, double *memory)
{
    struct strassen parts[7];
    if (p->size <= STRASSEN_GRAIN) {
        for (int i = 0; i < p->size; i++)
            memset(p->c.at + (ptrdiff_t)i * p->c.row, 0, sizeof(double) * (size_t)p->size);
        multiply_part(p->c, p->a, p->b, p->size);
        return;
    }
    for (int m = 0; m < 7; m++)
        parts[m] = (struct strassen){p, factors[m], memory + (size_t)m * strassen_need(p->size) / 7};
    dense_invoke(7, strassen_product, parts, sizeof(parts[0]));
    add_products(p, parts);
}

static void strassen_do(void)
{
    struct product whole = {{matrix.c, matrix.size}, {matrix.a, matrix.size}, {matrix.b, matrix.size}, matrix.size};
    strassen(&whole, matrix.memory);
}

static void matrix_get(int size)
{
    size_t area = (size_t)(size * size);
    matrix.size = size;
    matrix.a = dense_get(area, sizeof(double));
    matrix.b = dense_get(area, sizeof(double));
    matrix.c = dense_get(area, sizeof(double));
    matrix.answer = dense_get(area, sizeof(double));
    matrix.memory = dense_get(strassen_need(size) + 1, sizeof(double));
}

static void matrix_make(int quick)
{
    matrix_get(quick ? 128 : 256);
    int size = matrix.size;
    for (int i = 0; i < size * size; i++) {
        matrix.a[i] = dense_draw();
        matrix.b[i] = dense_draw();
    }
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++)
            for (int j = 0; j < size; j++)
                matrix.answer[i * size + j] += matrix.a[i * size + k] * matrix.b[k * size + j];
}

static void matrix_free(void)
{
    free(matrix.a);
    free(matrix.b);
    free(matrix.c);
    free(matrix.answer);
    free(matrix.memory);
}

static long matrix_errors(void)
{
    return dense_count_different(matrix.c, matrix.answer, (long)matrix.size * matrix.size);
}

/* ---- Cholesky's factors: c becomes the lower triangle, in blocks ---- */

enum { BLOCK = 32 };

static double *block_at(ptrdiff_t i, ptrdiff_t k)
{
    return matrix.c + (i * matrix.size + k) * BLOCK;
}

static void factor_block(ptrdiff_t k)
{
    double *d = block_at(k, k);
    for (int j = 0; j < BLOCK; j++) {
        double *row = d + (ptrdiff_t)j * matrix.size;
        for (int i = 0; i <= j; i++) {
            const double *other = d + (ptrdiff_t)i * matrix.size;
            for (int m = 0; m < i; m++)
                row[i] -= row[m] * other[m];
            row[i] = i == j ? sqrt(row[i]) : row[i] / other[i];
        }
        for (int i = j + 1; i < BLOCK; i++)
            row[i] = 0;
    }
}

static void solve_blocks(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    ptrdiff_t k = *(ptrdiff_t *)arg;
    const double *d = block_at(k, k);
    for (ptrdiff_t i = begin; i < end; i++) {
        for (int r = 0; r < BLOCK; r++) {
            double *row = block_at(i, k) + (ptrdiff_t)r * matrix.size;
            for (int j = 0; j < BLOCK; j++) {
                const double *other = d + (ptrdiff_t)j * matrix.size;
                for (int m = 0; m < j; m++)
                    row[j] -= row[m] * other[m];
                row[j] /= other[j];
            }
        }
    }
}

static void update_block(ptrdiff_t i, ptrdiff_t j, ptrdiff_t k)
{
    double turned[BLOCK][BLOCK];
    for (int r = 0; r < BLOCK; r++)
        for (int m = 0; m < BLOCK; m++)
            turned[m][r] = -block_at(j, k)[(ptrdiff_t)r * matrix.size + m];
    multiply_part((struct square){block_at(i, j), matrix.size}, (struct square){block_at(i, k), matrix.size},
                  (struct square){turned[0], BLOCK}, BLOCK);
}

/* Block number `at` of the triangle behind k, row by row. */
static void update_blocks(ptrdiff_t begin, ptrdiff_t end, void *arg)
{
    ptrdiff_t k = *(ptrdiff_t *)arg;
    for (ptrdiff_t at = begin; at < end; at++) {
        ptrdiff_t i = (ptrdiff_t)((sqrt(8 * (double)at + 1) - 1) / 2);
        update_block(k + 1 + i, k + 1 + at - i * (i + 1) / 2, k);
    }
}

static void cholesky_do(void)
{
    ptrdiff_t num = matrix.size / BLOCK;
    memcpy(matrix.c, matrix.a, sizeof(double) * (size_t)(matrix.size * matrix.size));
    for (ptrdiff_t k = 0; k < num; k++) {
        ptrdiff_t left = num - k - 1;
        factor_block(k);
        dense_by->loop(k + 1, num, 1, solve_blocks, &k);
        dense_by->loop(0, left * (left + 1) / 2, 1, update_blocks, &k);
    }
}

/* a is positive definite: b times b turned, and more in the diagonal. */
static void cholesky_make(int quick)
{
    matrix_get(quick ? 128 : 384);
    int size = matrix.size;
    double *l = matrix.answer;
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++)
            matrix.a[i * size + j] = matrix.a[j * size + i] = i == j ? size : dense_draw();
    for (int i = 0; i < size; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = matrix.a[i * size + j];
            for (int m = 0; m < j; m++)
                sum -= l[i * size + m] * l[j * size + m];
            l[i * size + j] = i == j ? sqrt(sum) : sum / l[j * size + j];
        }
    }
}

static long cholesky_errors(void)
{
    long errors = 0;
    for (int i = 0; i < matrix.size; i++)
        errors += dense_count_different(matrix.c + (ptrdiff_t)i * matrix.size,
                                        matrix.answer + (ptrdiff_t)i * matrix.size, i + 1);
    return errors;
}

const struct dense_functions dense_matmul = {matrix_make, matmul_do, matrix_errors, matrix_free};
const struct dense_functions dense_strassen = {matrix_make, strassen_do, matrix_errors, matrix_free};
const struct dense_functions dense_cholesky = {cholesky_make, cholesky_do, cholesky_errors, matrix_free};
