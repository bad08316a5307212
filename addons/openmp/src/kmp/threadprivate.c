/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables that each thread has for itself, of programs whose compiler does not leave that to the system. The first
 * thread of the process has the variable itself, each other one a copy, which begins as the variable did.
 */
#include "omp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kmp/kmp.h"

/* Functions of the program for a variable. They may be NULL. */
typedef void *(*kmp_constructor)(void *copy);
typedef void *(*kmp_copier)(void *copy, void *original);
typedef void (*kmp_destructor)(void *copy);

/* A variable, in the list of all. They stay. */
struct variable {
    struct variable *next;
    const void *data;
    size_t size;
    void *image; /* how it began; NULL: it was not used yet */
    kmp_constructor construct;
    kmp_copier copy;
    kmp_destructor destroy;
};

/* A copy, or the variable itself, in the list of those of its thread: what was used last is first. */
struct copy {
    struct copy *next;
    const struct variable *of;
    void *data;
};

static _Atomic(uint32_t) lock; /* of the list */
static struct variable *variables;
static _Thread_local struct copy *copies;
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void destroy_copies(void *unused)
{
    (void)unused;
    while (copies) {
        struct copy *copy = copies;
        copies = copy->next;
        if (copy->data != copy->of->data) {
            if (copy->of->destroy)
                copy->of->destroy(copy->data);
            free(copy->data);
        }
        free(copy);
    }
}

static void make_key(void)
{
    if (pthread_key_create(&at_end, destroy_copies) != 0)
        abtomp_fail("out of keys for threads");
}

static struct variable *find_variable_locked(const void *data)
{
    struct variable *variable = variables;
    while (variable && variable->data != data)
        variable = variable->next;
    if (!variable) {
        variable = abtomp_must_have(calloc(1, sizeof(*variable)));
        variable->data = data;
        variable->next = variables;
        variables = variable;
    }
    return variable;
}

ABTOMP_API void __kmpc_threadprivate_register(KMP_AT, void *data, kmp_constructor construct, kmp_copier copy,
                                              kmp_destructor destroy)
{
    abtomp_mutex_lock(&lock);
    struct variable *variable = find_variable_locked(data);
    variable->construct = construct;
    variable->copy = copy;
    variable->destroy = destroy;
    abtomp_mutex_unlock(&lock);
}

/* The variable, whose image is made at the first call. */
static const struct variable *use_variable(const void *data, size_t size)
{
    abtomp_mutex_lock(&lock);
    struct variable *variable = find_variable_locked(data);
    if (!variable->image) {
        variable->size = size;
        variable->image = memcpy(kmp_alloc(size), data, size);
    }
    abtomp_mutex_unlock(&lock);
    return variable;
}

static void *make_data(const struct variable *variable, void *data, size_t size)
{
    void *made = kmp_alloc(size);
    if (variable->construct)
        (void)variable->construct(made);
    else if (variable->copy)
        (void)variable->copy(made, data);
    else
        memcpy(made, variable->image, size);
    return made;
}

static struct copy *make_copy(void *data, size_t size)
{
    const struct variable *variable = use_variable(data, size);
    struct copy *copy = abtomp_must_have(malloc(sizeof(*copy)));
    copy->of = variable;
    copy->data = gettid() == getpid() ? data : make_data(variable, data, size);
    (void)pthread_once(&once, make_key);
    (void)pthread_setspecific(at_end, copy); /* any value: so that destroy_copies is called */
    copy->next = copies;
    copies = copy;
    return copy;
}

ABTOMP_API void *__kmpc_threadprivate(KMP_CALLER, void *data, size_t size)
{
    struct copy **before = &copies;
    while (*before && (*before)->of->data != data)
        before = &(*before)->next;
    struct copy *copy = *before;
    if (!copy)
        return make_copy(data, size)->data;
    *before = copy->next;
    copy->next = copies;
    copies = copy;
    return copy->data;
}

ABTOMP_API void *__kmpc_threadprivate_cached(KMP_CALLER, void *data, size_t size, void ***cache)
{
    (void)cache;
    return __kmpc_threadprivate(at, gtid, data, size);
}
