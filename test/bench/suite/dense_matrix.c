/* SPDX-License-Identifier: BSD-3-Clause */
#include "dense_inside.h"

static struct {
    double *a, *b, *c, *answer;
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

static void matrix_make(int quick)
{
    const int size = matrix.size = quick ? 128 : 256;
    const size_t area = (size_t)(size * size);
    matrix.a = dense_get(area, sizeof(double));
    matrix.b = dense_get(area, sizeof(double));
    matrix.c = dense_get(area, sizeof(double));
    matrix.answer = dense_get(area, sizeof(double));
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
}

static long matrix_errors(void)
{
    return dense_count_different(matrix.c, matrix.answer, (long)matrix.size * matrix.size);
}

const struct dense_functions dense_matmul = {matrix_make, matmul_do, matrix_errors, matrix_free};
