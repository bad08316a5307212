/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that Intel's compilers call for atomic updates: each with two operands whose results are known, and
 * some by several members at once.
 */
#include <complex.h>
#include <dlfcn.h>
#include <stdint.h>

#include "tap.h"
#include "watchdog.h"

static void *find(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function)
        diag("no function %s", name);
    return function;
}

/* A function that returns a type, as the program knows it; its name is put together of those of type and operation. */
#define CALL(type, types, name) ((type(*) types)find("__kmpc_atomic_" name))

static int wrong; /* results of the group of functions that is looked at */

#define SAME(a, b) ((a) == (b) ? (void)0 : (void)(wrong++, diag("line %d: %s is not %s", __LINE__, #a, #b)))

/* `lhs` and `rhs` give `result`. */
#define UPDATES(type, operand, name, lhs, rhs, result)                                                                 \
    {                                                                                                                  \
        type variable = (type)(lhs);                                                                                   \
        CALL(void, (void *, int, type *, operand), name)(NULL, 0, &variable, (operand)(rhs));                          \
        SAME(variable, (type)(result));                                                                                \
    }

#define CAPTURES(type, name, lhs, rhs, result)                                                                         \
    for (int is_new = 0; is_new < 2; is_new++) {                                                                       \
        type variable = (type)(lhs);                                                                                   \
        type got = CALL(type, (void *, int, type *, type, int), name)(NULL, 0, &variable, (type)(rhs), is_new);        \
        SAME(variable, (type)(result));                                                                                \
        SAME(got, is_new ? (type)(result) : (type)(lhs));                                                              \
    }

#define CAPTURES_TO(type, name, lhs, rhs, result)                                                                      \
    for (int is_new = 0; is_new < 2; is_new++) {                                                                       \
        type variable = (type)(lhs), got;                                                                              \
        CALL(void, (void *, int, type *, type, type *, int), name)(NULL, 0, &variable, (type)(rhs), &got, is_new);     \
        SAME(variable, (type)(result));                                                                                \
        SAME(got, is_new ? (type)(result) : (type)(lhs));                                                              \
    }

#define SYMMETRIC(captures, type, name, lhs, rhs, result)                                                              \
    UPDATES(type, type, name, lhs, rhs, result);                                                                       \
    captures(type, name "_cpt", lhs, rhs, result)

#define ORDERED(captures, type, name, lhs, rhs, result)                                                                \
    SYMMETRIC(captures, type, name, lhs, rhs, result)                                                                  \
    UPDATES(type, type, name "_rev", rhs, lhs, result);                                                                \
    captures(type, name "_cpt_rev", rhs, lhs, result)

#define ACCESSES(type, name)                                                                                           \
    {                                                                                                                  \
        type variable = (type)5;                                                                                       \
        SAME(CALL(type, (void *, int, type *), name "_rd")(NULL, 0, &variable), (type)5);                              \
        CALL(void, (void *, int, type *, type), name "_wr")(NULL, 0, &variable, (type)7);                              \
        SAME(variable, (type)7);                                                                                       \
    }

#define EXCHANGES(type, name)                                                                                          \
    {                                                                                                                  \
        type variable = (type)5;                                                                                       \
        SAME(CALL(type, (void *, int, type *, type), name "_swp")(NULL, 0, &variable, (type)7), (type)5);              \
        SAME(variable, (type)7);                                                                                       \
    }

#define COMPARES(type, size)                                                                                           \
    for (int is_equal = 0; is_equal < 2; is_equal++) {                                                                 \
        type variable = 5, out = -1, expected = is_equal ? 5 : 4, after = is_equal ? 9 : 5;                            \
        SAME(CALL(int, (void *, int, type *, type, type), "bool_" size "_cas")(NULL, 0, &variable, expected, 9),       \
             is_equal);                                                                                                \
        SAME(variable, after);                                                                                         \
        variable = 5;                                                                                                  \
        SAME(CALL(type, (void *, int, type *, type, type), "val_" size "_cas")(NULL, 0, &variable, expected, 9), 5);   \
        SAME(variable, after);                                                                                         \
        variable = 5;                                                                                                  \
        SAME(CALL(int, (void *, int, type *, type, type, type *), "bool_" size "_cas_cpt")(NULL, 0, &variable,         \
                                                                                           expected, 9, &out),         \
             is_equal);                                                                                                \
        SAME(variable, after);                                                                                         \
        SAME(out, (type)(is_equal ? -1 : 5));                                                                          \
        variable = 5;                                                                                                  \
        SAME(CALL(type, (void *, int, type *, type, type, type *), "val_" size "_cas_cpt")(NULL, 0, &variable,         \
                                                                                           expected, 9, &out),         \
             5);                                                                                                       \
        SAME(variable, after);                                                                                         \
        SAME(out, after);                                                                                              \
    }

#define ARITHMETIC(captures, type, name)                                                                               \
    SYMMETRIC(captures, type, name "_add", 12, 3, 15)                                                                  \
    ORDERED(captures, type, name "_sub", 12, 3, 9)                                                                     \
    SYMMETRIC(captures, type, name "_mul", 12, 3, 36)                                                                  \
    ORDERED(captures, type, name "_div", 12, 3, 4)                                                                     \
    ACCESSES(type, name)

#define EXTREMES(type, name)                                                                                           \
    SYMMETRIC(CAPTURES, type, name "_max", -12, 3, 3)                                                                  \
    SYMMETRIC(CAPTURES, type, name "_max", 12, -3, 12)                                                                 \
    SYMMETRIC(CAPTURES, type, name "_min", -12, 3, -12)                                                                \
    SYMMETRIC(CAPTURES, type, name "_min", 12, -3, -3)                                                                 \
    EXCHANGES(type, name)

/* The results are those of the functions of all sizes; the largest numbers are those of the type. */
#define INTEGERS(type, unsigned_type, size)                                                                            \
    static void look_at_integers_##size(void)                                                                          \
    {                                                                                                                  \
        unsigned_type most = (unsigned_type)-1;                                                                        \
        ARITHMETIC(CAPTURES, type, "fixed" #size);                                                                     \
        EXTREMES(type, "fixed" #size)                                                                                  \
        UPDATES(type, type, "fixed" #size "_add", most / 2, 1, most / 2 + 1);                                          \
        ORDERED(CAPTURES, type, "fixed" #size "_div", -12, 3, -4)                                                      \
        ORDERED(CAPTURES, unsigned_type, "fixed" #size "u_div", most, 3, most / 3)                                     \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_andb", 12, 6, 4)                                                     \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_orb", 12, 6, 14)                                                     \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_xor", 12, 6, 10)                                                     \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_neqv", 12, 6, 10)                                                    \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_eqv", 12, 6, -11)                                                    \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_andl", 12, 3, 1)                                                     \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_andl", 12, 0, 0)                                                     \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_orl", 12, 0, 1)                                                      \
        SYMMETRIC(CAPTURES, type, "fixed" #size "_orl", 0, 0, 0)                                                       \
        ORDERED(CAPTURES, type, "fixed" #size "_shl", 3, 2, 12)                                                        \
        ORDERED(CAPTURES, type, "fixed" #size "_shr", -12, 2, -3)                                                      \
        ORDERED(CAPTURES, unsigned_type, "fixed" #size "u_shr", most, 2, most / 4)                                     \
        UPDATES(type, double, "fixed" #size "_mul_float8", 12, 2.5, 30);                                               \
        UPDATES(type, double, "fixed" #size "_div_float8", 12, 2.5, 4);                                                \
        COMPARES(type, #size)                                                                                          \
        is_int(wrong, 0, "integers of %d bytes", size);                                                                \
    }
INTEGERS(int8_t, uint8_t, 1)
INTEGERS(int16_t, uint16_t, 2)
INTEGERS(int32_t, uint32_t, 4)
INTEGERS(int64_t, uint64_t, 8)

static void look_at_reals(void)
{
    ARITHMETIC(CAPTURES, float, "float4");
    EXTREMES(float, "float4")
    UPDATES(float, double, "float4_add_float8", 12, 0.25, 12.25);
    UPDATES(float, double, "float4_sub_float8", 12, 0.25, 11.75);
    UPDATES(float, double, "float4_mul_float8", 12, 0.25, 3);
    UPDATES(float, double, "float4_div_float8", 12, 0.25, 48);
    ARITHMETIC(CAPTURES, double, "float8");
    EXTREMES(double, "float8")
    ARITHMETIC(CAPTURES, long double, "float10");
    EXTREMES(long double, "float10")
    is_int(wrong, 0, "real numbers");
}

static void look_at_complex(void)
{
    ARITHMETIC(CAPTURES_TO, float complex, "cmplx4");
    UPDATES(float complex, double complex, "cmplx4_add_cmplx8", 12, 2 * I, 12 + 2 * I);
    UPDATES(float complex, double complex, "cmplx4_sub_cmplx8", 12, 2 * I, 12 - 2 * I);
    UPDATES(float complex, double complex, "cmplx4_mul_cmplx8", 12, 2 * I, 24 * I);
    UPDATES(float complex, double complex, "cmplx4_div_cmplx8", 12, 2 * I, -6 * I);
    float complex variable = 5, out;
    CALL(void, (void *, int, float complex *, float complex, float complex *), "cmplx4_swp")
    (NULL, 0, &variable, I, &out);
    SAME(variable, I);
    SAME(out, 5);
    ARITHMETIC(CAPTURES, double complex, "cmplx8");
    EXCHANGES(double complex, "cmplx8");
    ORDERED(CAPTURES, double complex, "cmplx8_div", 12, 2 * I, -6 * I)
    ARITHMETIC(CAPTURES, long double complex, "cmplx10");
    EXCHANGES(long double complex, "cmplx10");
    ORDERED(CAPTURES, long double complex, "cmplx10_div", 12, 2 * I, -6 * I)
    is_int(wrong, 0, "complex numbers");
}

/* -- Operations of the program -- */

#define TRIPLE(type, name)                                                                                             \
    static void triple_##name(void *out, void *lhs, void *rhs)                                                         \
    {                                                                                                                  \
        *(type *)out = *(type *)lhs * 3 + *(type *)rhs;                                                                \
    }
TRIPLE(int8_t, int1)
TRIPLE(int16_t, int2)
TRIPLE(int32_t, int4)
TRIPLE(int64_t, int8)
TRIPLE(long double, real10)
TRIPLE(double complex, complex8)
TRIPLE(long double complex, complex10)

#define OPERATES(type, size, function)                                                                                 \
    {                                                                                                                  \
        type variable = 5, rhs = 2;                                                                                    \
        CALL(void, (void *, int, void *, void *, void (*)(void *, void *, void *)), size)                              \
        (NULL, 0, &variable, &rhs, function);                                                                          \
        SAME(variable, 17);                                                                                            \
    }

static void look_at_operations(void)
{
    OPERATES(int8_t, "1", triple_int1);
    OPERATES(int16_t, "2", triple_int2);
    OPERATES(int32_t, "4", triple_int4);
    OPERATES(int64_t, "8", triple_int8);
    OPERATES(long double, "10", triple_real10);
    OPERATES(double complex, "16", triple_complex8);
    OPERATES(long double complex, "20", triple_complex10);
    OPERATES(long double complex, "32", triple_complex10);
    is_int(wrong, 0, "operations of the program");
}

/* -- By several members -- */

enum { MEMBERS = 4, TIMES = 2000 };

static void add_one(void *out, void *lhs, void *rhs)
{
    *(double complex *)out = *(double complex *)lhs + *(double complex *)rhs;
}

/* Those of more than eight bytes exclude one another, and the constructs that gcc makes of them. */
static void add_at_once(void)
{
    int16_t small = 0;
    float single = 0;
    long double real = 0;
    double complex number = 0, one = 1;
    int plain = 0;
#pragma omp parallel num_threads(MEMBERS)
    for (int i = 0; i < TIMES; i++) {
        CALL(void, (void *, int, int16_t *, int16_t), "fixed2_add")(NULL, 0, &small, 1);
        CALL(void, (void *, int, float *, float), "float4_sub_rev")(NULL, 0, &single, 1);
        CALL(void, (void *, int, long double *, long double), "float10_add")(NULL, 0, &real, 1);
#pragma omp atomic
        real += 1;
        CALL(void, (void *, int, double complex *, double complex), "cmplx8_add")(NULL, 0, &number, 1);
        CALL(void, (void *, int, void *, void *, void (*)(void *, void *, void *)), "16")
        (NULL, 0, &number, &one, add_one);
        CALL(void, (void), "start")();
        plain++;
        CALL(void, (void), "end")();
    }
    SAME(small, MEMBERS * TIMES);
    SAME(single, 0);
    SAME(real, 2 * MEMBERS * TIMES);
    SAME(number, 2 * MEMBERS * TIMES);
    SAME(plain, MEMBERS * TIMES);
    is_int(wrong, 0, "by %d members at once", MEMBERS);
}

int main(void)
{
    watchdog_begin(0);
    look_at_integers_1();
    look_at_integers_2();
    look_at_integers_4();
    look_at_integers_8();
    look_at_reals();
    look_at_complex();
    look_at_operations();
    add_at_once();
    return done_testing();
}
