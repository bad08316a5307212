/* SPDX-License-Identifier: BSD-3-Clause */
/* The types and constants of GLT over libabt: each is the one of abt.h with that name. Included by glt.h. */
#ifndef GLT_LIBABT_H_INCLUDED
#define GLT_LIBABT_H_INCLUDED

#include <abt.h>

#define GLT_DIRECT ABTX_DIRECT

#define GLT_thread ABT_xstream
#define GLT_pool ABT_pool
#define GLT_ult ABT_thread
#define GLT_ult_id ABT_thread_id
#define GLT_tasklet ABT_task
#define GLT_mutex ABT_mutex
#define GLT_barrier ABT_barrier
#define GLT_cond ABT_cond
#define GLT_future ABT_eventual
#define GLT_key ABT_key
#define GLT_timer ABT_timer

#define GLT_THREAD_NULL ABT_XSTREAM_NULL
#define GLT_POOL_NULL ABT_POOL_NULL
#define GLT_ULT_NULL ABT_THREAD_NULL
#define GLT_TASKLET_NULL ABT_TASK_NULL
#define GLT_MUTEX_NULL ABT_MUTEX_NULL
#define GLT_BARRIER_NULL ABT_BARRIER_NULL
#define GLT_COND_NULL ABT_COND_NULL
#define GLT_FUTURE_NULL ABT_EVENTUAL_NULL
#define GLT_KEY_NULL ABT_KEY_NULL
#define GLT_TIMER_NULL ABT_TIMER_NULL

#define GLT_bool ABT_bool
#define GLT_TRUE ABT_TRUE
#define GLT_FALSE ABT_FALSE
#define GLT_SUCCESS ABT_SUCCESS

/* What a program's own scheduler needs. */
#define GLT_unit ABT_unit
#define GLT_UNIT_NULL ABT_UNIT_NULL
#define GLT_unit_type ABT_unit_type
#define GLT_UNIT_TYPE_THREAD ABT_UNIT_TYPE_THREAD
#define GLT_UNIT_TYPE_ULT ABT_UNIT_TYPE_THREAD
#define GLT_UNIT_TYPE_TASK ABT_UNIT_TYPE_TASK
#define GLT_UNIT_TYPE_TASKLET ABT_UNIT_TYPE_TASK
#define GLT_UNIT_TYPE_EXT ABT_UNIT_TYPE_EXT

#define GLT_sched ABT_sched
#define GLT_SCHED_NULL ABT_SCHED_NULL
#define GLT_sched_def ABT_sched_def
#define GLT_sched_type ABT_sched_type
#define GLT_SCHED_TYPE_ULT ABT_SCHED_TYPE_ULT
#define GLT_SCHED_TYPE_TASK ABT_SCHED_TYPE_TASK
#define GLT_SCHED_TYPE_TASKLET ABT_SCHED_TYPE_TASK
#define GLT_sched_init_fn ABT_sched_init_fn
#define GLT_sched_run_fn ABT_sched_run_fn
#define GLT_sched_free_fn ABT_sched_free_fn
#define GLT_sched_get_migr_pool_fn ABT_sched_get_migr_pool_fn
#define GLT_sched_state ABT_sched_state
#define GLT_sched_predef ABT_sched_predef
#define GLT_SCHED_DEFAULT ABT_SCHED_DEFAULT
#define GLT_SCHED_BASIC ABT_SCHED_BASIC
#define GLT_SCHED_PRIO ABT_SCHED_PRIO
#define GLT_SCHED_RANDWS ABT_SCHED_RANDWS
#define GLT_sched_config ABT_sched_config
#define GLT_SCHED_CONFIG_NULL ABT_SCHED_CONFIG_NULL
#define GLT_sched_config_var ABT_sched_config_var
#define GLT_sched_config_type ABT_sched_config_type
#define GLT_SCHED_CONFIG_INT ABT_SCHED_CONFIG_INT
#define GLT_SCHED_CONFIG_DOUBLE ABT_SCHED_CONFIG_DOUBLE
#define GLT_SCHED_CONFIG_PTR ABT_SCHED_CONFIG_PTR
#define GLT_sched_config_var_end ABT_sched_config_var_end
#define GLT_sched_basic_freq ABT_sched_basic_freq
#define glt_scheduler_config_create ABT_sched_config_create
#define glt_scheduler_config_read ABT_sched_config_read

#endif
