/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic updates that Intel's compilers call functions for: those of clang are instructions. A value of at most eight
 * bytes is exchanged by compare-and-swap; a larger one is changed under the lock that gcc's programs have for it.
 *
 * The names are made of the type, the operation, and the form: none changes the variable, "rev" exchanges the operands,
 * "cpt" returns the value before or after, "rd" reads, "wr" writes, "swp" writes and returns the value before.
 */
#include "omp.h"

#include <complex.h>
#include "gomp/gomp.h"
#include "kmp/kmp.h"

#define FUNCTION(type, name, ...) ABTOMP_API type __kmpc_atomic_##name(KMP_CALLER, __VA_ARGS__)

#define UNUSED ((void)at, (void)gtid)

/* Sets `old` and `new`, which is an expression of `old` and `rhs`, where `lhs` points to. acquire and release: the
   program orders its other accesses by this one, as by an instruction of the processor. */
#define CHANGE_WORD(type, expression)                                                                                  \
    type old, new;                                                                                                     \
    UNUSED;                                                                                                            \
    __atomic_load(lhs, &old, __ATOMIC_RELAXED);                                                                        \
    do                                                                                                                 \
        new = (type)(expression);                                                                                      \
    while (!__atomic_compare_exchange(lhs, &old, &new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))

#define CHANGE_LARGE(type, expression)                                                                                 \
    UNUSED;                                                                                                            \
    GOMP_atomic_start();                                                                                               \
    type old = *lhs, new = (type)(expression);                                                                         \
    *lhs = new;                                                                                                        \
    GOMP_atomic_end()

#define UPDATE(change, name, type, operand, expression)                                                                \
    FUNCTION(void, name, type *lhs, operand rhs)                                                                       \
    {                                                                                                                  \
        change(type, expression);                                                                                      \
        (void)old, (void)new;                                                                                          \
    }

#define CAPTURE(change, name, type, expression)                                                                        \
    FUNCTION(type, name, type *lhs, type rhs, int32_t is_new)                                                          \
    {                                                                                                                  \
        change(type, expression);                                                                                      \
        return is_new ? new : old;                                                                                     \
    }

/* Complex numbers of eight bytes are returned by a pointer. */
#define CAPTURE_TO(change, name, type, expression)                                                                     \
    FUNCTION(void, name, type *lhs, type rhs, type *out, int32_t is_new)                                               \
    {                                                                                                                  \
        change(type, expression);                                                                                      \
        *out = is_new ? new : old;                                                                                     \
    }

#define ACCESS(change, name, type)                                                                                     \
    FUNCTION(type, name##_rd, type *lhs)                                                                               \
    {                                                                                                                  \
        change(type, old);                                                                                             \
        return new;                                                                                                    \
    }                                                                                                                  \
    UPDATE(change, name##_wr, type, type, rhs)

#define EXCHANGE(change, name, type)                                                                                   \
    FUNCTION(type, name##_swp, type *lhs, type rhs)                                                                    \
    {                                                                                                                  \
        change(type, rhs);                                                                                             \
        (void)old, (void)new;                                                                                          \
        return old;                                                                                                    \
    }

/* Operations. The sums, products and shifts of integers are modulo 2^64, of which the type keeps its part. */
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define WHOLE_ADD(a, b) ((uint64_t)(a) + (uint64_t)(b))
#define WHOLE_SUB(a, b) ((uint64_t)(a) - (uint64_t)(b))
#define WHOLE_MUL(a, b) ((uint64_t)(a) * (uint64_t)(b))
#define ANDB(a, b) ((a) & (b))
#define ORB(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define EQV(a, b) (~((a) ^ (b)))
#define ANDL(a, b) ((a) && (b))
#define ORL(a, b) ((a) || (b))
#define SHL(a, b) ((uint64_t)(a) << (b))
#define SHR(a, b) ((a) >> (b))
#define MAX(a, b) ((a) < (b) ? (b) : (a))
#define MIN(a, b) ((b) < (a) ? (b) : (a))

/* An operation of two values of one type: where the order of the operands is the same, and where it is not. */
#define SYMMETRIC(change, capture, name, type, OP)                                                                     \
    UPDATE(change, name, type, type, OP(old, rhs))                                                                     \
    capture(change, name##_cpt, type, OP(old, rhs))
#define ORDERED(change, capture, name, type, OP)                                                                       \
    SYMMETRIC(change, capture, name, type, OP)                                                                         \
    UPDATE(change, name##_rev, type, type, OP(rhs, old))                                                               \
    capture(change, name##_cpt_rev, type, OP(rhs, old))

#define ARITHMETIC(change, capture, name, type)                                                                        \
    SYMMETRIC(change, capture, name##_add, type, ADD)                                                                  \
    ORDERED(change, capture, name##_sub, type, SUB)                                                                    \
    SYMMETRIC(change, capture, name##_mul, type, MUL)                                                                  \
    ORDERED(change, capture, name##_div, type, DIV)                                                                    \
    ACCESS(change, name, type)

#define EXTREMES(change, name, type)                                                                                   \
    SYMMETRIC(change, CAPTURE, name##_max, type, MAX)                                                                  \
    SYMMETRIC(change, CAPTURE, name##_min, type, MIN)                                                                  \
    EXCHANGE(change, name, type)

#define INTEGERS(size, type, unsigned_type)                                                                            \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_add, type, WHOLE_ADD)                                                \
    ORDERED(CHANGE_WORD, CAPTURE, fixed##size##_sub, type, WHOLE_SUB)                                                  \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_mul, type, WHOLE_MUL)                                                \
    ORDERED(CHANGE_WORD, CAPTURE, fixed##size##_div, type, DIV)                                                        \
    ORDERED(CHANGE_WORD, CAPTURE, fixed##size##u_div, unsigned_type, DIV)                                              \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_andb, type, ANDB)                                                    \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_orb, type, ORB)                                                      \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_xor, type, XOR)                                                      \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_neqv, type, XOR)                                                     \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_eqv, type, EQV)                                                      \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_andl, type, ANDL)                                                    \
    SYMMETRIC(CHANGE_WORD, CAPTURE, fixed##size##_orl, type, ORL)                                                      \
    ORDERED(CHANGE_WORD, CAPTURE, fixed##size##_shl, type, SHL)                                                        \
    ORDERED(CHANGE_WORD, CAPTURE, fixed##size##_shr, type, SHR)                                                        \
    ORDERED(CHANGE_WORD, CAPTURE, fixed##size##u_shr, unsigned_type, SHR)                                              \
    UPDATE(CHANGE_WORD, fixed##size##_mul_float8, type, double, (double)old *rhs)                                      \
    UPDATE(CHANGE_WORD, fixed##size##_div_float8, type, double, (double)old / rhs)                                     \
    ACCESS(CHANGE_WORD, fixed##size, type)                                                                             \
    EXTREMES(CHANGE_WORD, fixed##size, type)                                                                           \
    COMPARE(size, type)

/* The functions of `compare`: whether the variable was as expected, or its value before; and its value now by a
 * pointer. */
#define COMPARE(size, type)                                                                                            \
    FUNCTION(int32_t, bool_##size##_cas, type *lhs, type expected, type desired)                                       \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return __atomic_compare_exchange_n(lhs, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);        \
    }                                                                                                                  \
    FUNCTION(type, val_##size##_cas, type *lhs, type expected, type desired)                                           \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        __atomic_compare_exchange_n(lhs, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);               \
        return expected;                                                                                               \
    }                                                                                                                  \
    FUNCTION(int32_t, bool_##size##_cas_cpt, type *lhs, type expected, type desired, type *out)                        \
    {                                                                                                                  \
        type old = __kmpc_atomic_val_##size##_cas(at, gtid, lhs, expected, desired);                                   \
        if (old != expected)                                                                                           \
            *out = old;                                                                                                \
        return old == expected;                                                                                        \
    }                                                                                                                  \
    FUNCTION(type, val_##size##_cas_cpt, type *lhs, type expected, type desired, type *out)                            \
    {                                                                                                                  \
        type old = __kmpc_atomic_val_##size##_cas(at, gtid, lhs, expected, desired);                                   \
        *out = old == expected ? desired : old;                                                                        \
        return old;                                                                                                    \
    }

INTEGERS(1, int8_t, uint8_t)
INTEGERS(2, int16_t, uint16_t)
INTEGERS(4, int32_t, uint32_t)
INTEGERS(8, int64_t, uint64_t)

ARITHMETIC(CHANGE_WORD, CAPTURE, float4, float)
EXTREMES(CHANGE_WORD, float4, float)
UPDATE(CHANGE_WORD, float4_add_float8, float, double, old + rhs)
UPDATE(CHANGE_WORD, float4_sub_float8, float, double, old - rhs)
UPDATE(CHANGE_WORD, float4_mul_float8, float, double, old *rhs)
UPDATE(CHANGE_WORD, float4_div_float8, float, double, old / rhs)

ARITHMETIC(CHANGE_WORD, CAPTURE, float8, double)
EXTREMES(CHANGE_WORD, float8, double)

ARITHMETIC(CHANGE_LARGE, CAPTURE, float10, long double)
EXTREMES(CHANGE_LARGE, float10, long double)

ARITHMETIC(CHANGE_WORD, CAPTURE_TO, cmplx4, float complex)
UPDATE(CHANGE_WORD, cmplx4_add_cmplx8, float complex, double complex, old + rhs)
UPDATE(CHANGE_WORD, cmplx4_sub_cmplx8, float complex, double complex, old - rhs)
UPDATE(CHANGE_WORD, cmplx4_mul_cmplx8, float complex, double complex, old *rhs)
UPDATE(CHANGE_WORD, cmplx4_div_cmplx8, float complex, double complex, old / rhs)
FUNCTION(void, cmplx4_swp, float complex *lhs, float complex rhs, float complex *out)
{
    CHANGE_WORD(float complex, rhs);
    (void)new;
    *out = old;
}

ARITHMETIC(CHANGE_LARGE, CAPTURE, cmplx8, double complex)
EXCHANGE(CHANGE_LARGE, cmplx8, double complex)
ARITHMETIC(CHANGE_LARGE, CAPTURE, cmplx10, long double complex)
EXCHANGE(CHANGE_LARGE, cmplx10, long double complex)

/* -- Operations of the program: a function makes a value of the two others -- */

typedef void (*kmp_operation)(void *out, void *lhs, void *rhs);

#define GENERAL_WORD(size, type)                                                                                       \
    FUNCTION(void, size, type *lhs, void *rhs, kmp_operation operate)                                                  \
    {                                                                                                                  \
        type old = __atomic_load_n(lhs, __ATOMIC_ACQUIRE), new;                                                        \
        UNUSED;                                                                                                        \
        do                                                                                                             \
            operate(&new, &old, rhs);                                                                                  \
        while (!__atomic_compare_exchange_n(lhs, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));                \
    }
GENERAL_WORD(1, int8_t)
GENERAL_WORD(2, int16_t)
GENERAL_WORD(4, int32_t)
GENERAL_WORD(8, int64_t)

#define GENERAL_LARGE(size)                                                                                            \
    FUNCTION(void, size, void *lhs, void *rhs, kmp_operation operate)                                                  \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        GOMP_atomic_start();                                                                                           \
        operate(lhs, lhs, rhs);                                                                                        \
        GOMP_atomic_end();                                                                                             \
    }
GENERAL_LARGE(10)
GENERAL_LARGE(16)
GENERAL_LARGE(20)
GENERAL_LARGE(32)

ABTOMP_API void __kmpc_atomic_start(void)
{
    GOMP_atomic_start();
}

ABTOMP_API void __kmpc_atomic_end(void)
{
    GOMP_atomic_end();
}
