/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of the library's lock-free protocols. A model is a small C program that includes the protocol's own source
 * files and runs it on two to four threads; what it checks holds under every order that C11 allows, as far as a random
 * search by relacy finds out.
 *
 * The sources are compiled by -fsanitize=thread, whose calls go to checker.cc in place of the sanitizer: every atomic
 * access goes to relacy with the order that the source names, and every plain one is looked at for races. What the
 * library takes from the machine and the system stands in include/ (plain C in place of instructions) and in
 * checker.cc (futex, membarrier, giving way).
 *
 * Mutants are made by the checker itself: each access of the library's that a program makes, with each order that is
 * weaker. All of them have to be caught, except those in the model's table `model_kept`, which says why they are not.
 * A model has mutants of its own beside these, in `model_own_mutants`, where its sources ask model_is_mutant.
 */
#ifndef MODEL_CHECKER_H
#define MODEL_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MODEL_THREADS = 4 };

struct model_program {
    const char *name;
    int threads;
    int iterations;       /* in the default form; the long one makes 20 times as many */
    void (*before)(void); /* makes everything anew */
    void (*thread)(int index);
    void (*after)(void); /* looks at the end; NULL: there is nothing to look at */
};

/*
 * An order that no program sees weakened: of the access in `function` whose text has `access` in it. `weaker`: to which
 * order; NULL: to any.
 */
struct model_kept {
    const char *function, *access, *weaker, *why;
};

/* What a model defines. The tables end with a NULL. */
extern const char model_name[];
extern const char *const model_subjects[]; /* the files whose accesses are weakened */
extern const struct model_program model_programs[];
extern const struct model_kept model_kept[];
extern const char *const model_own_mutants[];

/* Is called whenever the thread goes on, so that variables of each thread can be set. A model may define it. */
void model_arrive(int index) __attribute__((weak));

/* The calling thread. */
int model_self(void);

bool model_is_mutant(const char *name);

/* Ends the search: the model does not hold. */
void model_fail(const char *what) __attribute__((noreturn));
#define model_assert(condition) ((condition) ? (void)0 : model_fail(#condition))

/* A choice of the search. */
unsigned model_choose(unsigned num);

/* Lets others do up to so many accesses, so that the caller does not come too early as a rule. */
void model_linger(unsigned most);

/* Lets others go on: in each loop that waits. */
void model_give_way(void);

/* The clock goes on so far. Otherwise it does by half a microsecond at each poll. */
void model_pass_time(uint64_t ns);

/* A fence in each thread, one after the other: what the system's membarrier promises. */
void model_fence_all(void);

/*
 * Says that the 8 bytes at `address` are accessed in pieces, which begin at the offsets in `mask`. An access to more
 * than one piece is one to each of them, with nothing in between; an order between the pieces is not assumed.
 */
void model_split(const void *address, unsigned mask);

/* One access in the sources, see include/base/delay.h. */
struct model_site {
    const char *file, *text, *function;
    int state;
};
void model_at(struct model_site *site, const char *function);

#ifdef __cplusplus
}
#endif

#endif
