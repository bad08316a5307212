/* SPDX-License-Identifier: BSD-3-Clause */
/* What the compiler makes programs call: the functions of libgomp.so.1, with their prototypes. */
#ifndef ABTOMP_GOMP_H
#define ABTOMP_GOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "export.h"

ABTOMP_API void *GOMP_alloc(size_t, size_t, uintptr_t);
ABTOMP_API void GOMP_atomic_end(void);
ABTOMP_API void GOMP_atomic_start(void);
ABTOMP_API void GOMP_barrier(void);
ABTOMP_API bool GOMP_barrier_cancel(void);
ABTOMP_API bool GOMP_cancel(int, bool);
ABTOMP_API bool GOMP_cancellation_point(int);
ABTOMP_API void GOMP_critical_end(void);
ABTOMP_API void GOMP_critical_name_end(void **);
ABTOMP_API void GOMP_critical_name_start(void **);
ABTOMP_API void GOMP_critical_start(void);
ABTOMP_API void GOMP_doacross_post(long *);
ABTOMP_API void GOMP_doacross_ull_post(unsigned long long *);
ABTOMP_API void GOMP_doacross_ull_wait(unsigned long long, ...);
ABTOMP_API void GOMP_doacross_wait(long, ...);
ABTOMP_API void GOMP_error(const char *, size_t);
ABTOMP_API void GOMP_free(void *, uintptr_t);
ABTOMP_API bool GOMP_loop_doacross_dynamic_start(unsigned, long *, long, long *, long *);
ABTOMP_API bool GOMP_loop_doacross_guided_start(unsigned, long *, long, long *, long *);
ABTOMP_API bool GOMP_loop_doacross_runtime_start(unsigned, long *, long *, long *);
ABTOMP_API bool GOMP_loop_doacross_start(unsigned, long *, long, long, long *, long *, uintptr_t *, void **);
ABTOMP_API bool GOMP_loop_doacross_static_start(unsigned, long *, long, long *, long *);
ABTOMP_API bool GOMP_loop_dynamic_next(long *, long *);
ABTOMP_API bool GOMP_loop_dynamic_start(long, long, long, long, long *, long *);
ABTOMP_API void GOMP_loop_end(void);
ABTOMP_API bool GOMP_loop_end_cancel(void);
ABTOMP_API void GOMP_loop_end_nowait(void);
ABTOMP_API bool GOMP_loop_guided_next(long *, long *);
ABTOMP_API bool GOMP_loop_guided_start(long, long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_maybe_nonmonotonic_runtime_next(long *, long *);
ABTOMP_API bool GOMP_loop_maybe_nonmonotonic_runtime_start(long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_nonmonotonic_dynamic_next(long *, long *);
ABTOMP_API bool GOMP_loop_nonmonotonic_dynamic_start(long, long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_nonmonotonic_guided_next(long *, long *);
ABTOMP_API bool GOMP_loop_nonmonotonic_guided_start(long, long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_nonmonotonic_runtime_next(long *, long *);
ABTOMP_API bool GOMP_loop_nonmonotonic_runtime_start(long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_ordered_dynamic_next(long *, long *);
ABTOMP_API bool GOMP_loop_ordered_dynamic_start(long, long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_ordered_guided_next(long *, long *);
ABTOMP_API bool GOMP_loop_ordered_guided_start(long, long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_ordered_runtime_next(long *, long *);
ABTOMP_API bool GOMP_loop_ordered_runtime_start(long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_ordered_start(long, long, long, long, long, long *, long *, uintptr_t *, void **);
ABTOMP_API bool GOMP_loop_ordered_static_next(long *, long *);
ABTOMP_API bool GOMP_loop_ordered_static_start(long, long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_runtime_next(long *, long *);
ABTOMP_API bool GOMP_loop_runtime_start(long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_start(long, long, long, long, long, long *, long *, uintptr_t *, void **);
ABTOMP_API bool GOMP_loop_static_next(long *, long *);
ABTOMP_API bool GOMP_loop_static_start(long, long, long, long, long *, long *);
ABTOMP_API bool GOMP_loop_ull_doacross_dynamic_start(unsigned, unsigned long long *, unsigned long long,
                                                     unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_doacross_guided_start(unsigned, unsigned long long *, unsigned long long,
                                                    unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_doacross_runtime_start(unsigned, unsigned long long *, unsigned long long *,
                                                     unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_doacross_start(unsigned, unsigned long long *, long, unsigned long long,
                                             unsigned long long *, unsigned long long *, uintptr_t *, void **);
ABTOMP_API bool GOMP_loop_ull_doacross_static_start(unsigned, unsigned long long *, unsigned long long,
                                                    unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_dynamic_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_dynamic_start(bool, unsigned long long, unsigned long long, unsigned long long,
                                            unsigned long long, unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_guided_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_guided_start(bool, unsigned long long, unsigned long long, unsigned long long,
                                           unsigned long long, unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_maybe_nonmonotonic_runtime_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_maybe_nonmonotonic_runtime_start(bool, unsigned long long, unsigned long long,
                                                               unsigned long long, unsigned long long *,
                                                               unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_nonmonotonic_dynamic_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool, unsigned long long, unsigned long long,
                                                         unsigned long long, unsigned long long, unsigned long long *,
                                                         unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_nonmonotonic_guided_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_nonmonotonic_guided_start(bool, unsigned long long, unsigned long long,
                                                        unsigned long long, unsigned long long, unsigned long long *,
                                                        unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_nonmonotonic_runtime_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_nonmonotonic_runtime_start(bool, unsigned long long, unsigned long long,
                                                         unsigned long long, unsigned long long *,
                                                         unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_ordered_dynamic_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_ordered_dynamic_start(bool, unsigned long long, unsigned long long, unsigned long long,
                                                    unsigned long long, unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_ordered_guided_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_ordered_guided_start(bool, unsigned long long, unsigned long long, unsigned long long,
                                                   unsigned long long, unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_ordered_runtime_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_ordered_runtime_start(bool, unsigned long long, unsigned long long, unsigned long long,
                                                    unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_ordered_start(bool, unsigned long long, unsigned long long, unsigned long long, long,
                                            unsigned long long, unsigned long long *, unsigned long long *, uintptr_t *,
                                            void **);
ABTOMP_API bool GOMP_loop_ull_ordered_static_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_ordered_static_start(bool, unsigned long long, unsigned long long, unsigned long long,
                                                   unsigned long long, unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_runtime_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_runtime_start(bool, unsigned long long, unsigned long long, unsigned long long,
                                            unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_start(bool, unsigned long long, unsigned long long, unsigned long long, long,
                                    unsigned long long, unsigned long long *, unsigned long long *, uintptr_t *,
                                    void **);
ABTOMP_API bool GOMP_loop_ull_static_next(unsigned long long *, unsigned long long *);
ABTOMP_API bool GOMP_loop_ull_static_start(bool, unsigned long long, unsigned long long, unsigned long long,
                                           unsigned long long, unsigned long long *, unsigned long long *);
ABTOMP_API void GOMP_ordered_end(void);
ABTOMP_API void GOMP_ordered_start(void);
ABTOMP_API void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
ABTOMP_API void GOMP_parallel_end(void);
ABTOMP_API void GOMP_parallel_loop_dynamic(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
ABTOMP_API void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
ABTOMP_API void GOMP_parallel_loop_guided(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
ABTOMP_API void GOMP_parallel_loop_guided_start(void (*)(void *), void *, unsigned, long, long, long, long);
ABTOMP_API void GOMP_parallel_loop_maybe_nonmonotonic_runtime(void (*)(void *), void *, unsigned, long, long, long,
                                                              unsigned);
ABTOMP_API void GOMP_parallel_loop_nonmonotonic_dynamic(void (*)(void *), void *, unsigned, long, long, long, long,
                                                        unsigned);
ABTOMP_API void GOMP_parallel_loop_nonmonotonic_guided(void (*)(void *), void *, unsigned, long, long, long, long,
                                                       unsigned);
ABTOMP_API void GOMP_parallel_loop_nonmonotonic_runtime(void (*)(void *), void *, unsigned, long, long, long, unsigned);
ABTOMP_API void GOMP_parallel_loop_runtime(void (*)(void *), void *, unsigned, long, long, long, unsigned);
ABTOMP_API void GOMP_parallel_loop_runtime_start(void (*)(void *), void *, unsigned, long, long, long);
ABTOMP_API void GOMP_parallel_loop_static(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
ABTOMP_API void GOMP_parallel_loop_static_start(void (*)(void *), void *, unsigned, long, long, long, long);
ABTOMP_API unsigned GOMP_parallel_reductions(void (*)(void *), void *, unsigned, unsigned);
ABTOMP_API void GOMP_parallel_sections(void (*)(void *), void *, unsigned, unsigned, unsigned);
ABTOMP_API void GOMP_parallel_sections_start(void (*)(void *), void *, unsigned, unsigned);
ABTOMP_API void GOMP_parallel_start(void (*)(void *), void *, unsigned);
ABTOMP_API void GOMP_scope_start(uintptr_t *);
ABTOMP_API unsigned GOMP_sections2_start(unsigned, uintptr_t *, void **);
ABTOMP_API void GOMP_sections_end(void);
ABTOMP_API bool GOMP_sections_end_cancel(void);
ABTOMP_API void GOMP_sections_end_nowait(void);
ABTOMP_API unsigned GOMP_sections_next(void);
ABTOMP_API unsigned GOMP_sections_start(unsigned);
ABTOMP_API void GOMP_single_copy_end(void *);
ABTOMP_API void *GOMP_single_copy_start(void);
ABTOMP_API bool GOMP_single_start(void);
ABTOMP_API void GOMP_target(int, void (*)(void *), const void *, size_t, void **, size_t *, unsigned char *);
ABTOMP_API void GOMP_target_data(int, const void *, size_t, void **, size_t *, unsigned char *);
ABTOMP_API void GOMP_target_data_ext(int, size_t, void **, size_t *, unsigned short *);
ABTOMP_API void GOMP_target_end_data(void);
ABTOMP_API void GOMP_target_enter_exit_data(int, size_t, void **, size_t *, unsigned short *, unsigned int, void **);
ABTOMP_API void GOMP_target_ext(int, void (*)(void *), size_t, void **, size_t *, unsigned short *, unsigned int,
                                void **, void **);
ABTOMP_API void GOMP_target_update(int, const void *, size_t, void **, size_t *, unsigned char *);
ABTOMP_API void GOMP_target_update_ext(int, size_t, void **, size_t *, unsigned short *, unsigned int, void **);
ABTOMP_API void GOMP_task(void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned, void **, int,
                          void *);
ABTOMP_API void GOMP_task_reduction_remap(size_t, size_t, void **);
ABTOMP_API void GOMP_taskgroup_end(void);
ABTOMP_API void GOMP_taskgroup_reduction_register(uintptr_t *);
ABTOMP_API void GOMP_taskgroup_reduction_unregister(uintptr_t *);
ABTOMP_API void GOMP_taskgroup_start(void);
ABTOMP_API void GOMP_taskloop(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned, unsigned long,
                              int, long, long, long);
ABTOMP_API void GOMP_taskloop_ull(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned,
                                  unsigned long, int, unsigned long long, unsigned long long, unsigned long long);
ABTOMP_API void GOMP_taskwait(void);
ABTOMP_API void GOMP_taskwait_depend(void **);
ABTOMP_API void GOMP_taskyield(void);
ABTOMP_API void GOMP_teams(unsigned int, unsigned int);
ABTOMP_API bool GOMP_teams4(unsigned int, unsigned int, unsigned int, bool);
ABTOMP_API void GOMP_teams_reg(void (*)(void *), void *, unsigned, unsigned, unsigned);
ABTOMP_API void GOMP_warning(const char *, size_t);
ABTOMP_API void GOMP_workshare_task_reduction_unregister(bool);
ABTOMP_API void GOMP_taskwait_depend_nowait(void **);

#endif
