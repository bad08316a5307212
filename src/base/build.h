/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What configure decided, with the value each setting has when nothing was decided. This and the headers that pick
 * variants are the only places that look at configuration macros; code tests these names with a plain if.
 */
#ifndef ABTI_BASE_BUILD_H
#define ABTI_BASE_BUILD_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

/* Default stack size of a ULT in bytes. --enable-default-stacksize */
#ifndef ABTI_BUILD_STACKSIZE
#define ABTI_BUILD_STACKSIZE 16384
#endif

/* Stack overflow detection that is on without any variable set: 0 none, 1 canary, 2 mprotect, 3 mprotect strict,
   4 the best that can be had. */
#ifndef ABTI_BUILD_STACK_GUARD
#define ABTI_BUILD_STACK_GUARD 4
#endif

/* Lines of the log: 0 none, 1 on stderr, 2 made and thrown away. --enable-debug=log */
#ifndef ABTI_BUILD_LOG
#define ABTI_BUILD_LOG 0
#endif

/* They are on unless the environment says otherwise. --enable-debug=log */
#ifndef ABTI_BUILD_LOG_ON
#define ABTI_BUILD_LOG_ON 0
#endif

/* Stack printing leaves the raw memory out unless the environment says otherwise. --enable-stack-unwind=unwind-only */
#ifndef ABTI_BUILD_UNWIND_ONLY
#define ABTI_BUILD_UNWIND_ONLY 0
#endif

/* Huge page size of the system in bytes, 0 when configure found none. */
#ifndef ABTI_BUILD_HUGE_PAGE
#define ABTI_BUILD_HUGE_PAGE 0
#endif

/* The context switch is written in assembly. --disable-fcontext */
#ifndef ABTI_BUILD_FCONTEXT
#define ABTI_BUILD_FCONTEXT 1
#endif

/* Execution streams can be bound to CPUs. --disable-affinity */
#ifndef ABTI_BUILD_AFFINITY
#define ABTI_BUILD_AFFINITY 1
#endif

/* They are, unless ABT_SET_AFFINITY says no. --enable-affinity */
#ifndef ABTI_BUILD_BINDS
#define ABTI_BUILD_BINDS 0
#endif

/* It was asked for that ULT stacks are made known to valgrind. --enable-valgrind */
#ifndef ABTI_BUILD_VALGRIND
#define ABTI_BUILD_VALGRIND 0
#endif

/* They are: valgrind's header is there. */
#ifndef ABTI_BUILD_MEMCHECK
#define ABTI_BUILD_MEMCHECK 0
#endif

/* The experimental 2.0 behaviour. --enable-ver20-api */
#ifndef ABTI_BUILD_VER20
#define ABTI_BUILD_VER20 0
#endif

/* Argument and state checks. --enable-checks */
#ifndef ABTI_BUILD_CHECKS
#define ABTI_BUILD_CHECKS 1
#endif

/* Preconditions and the order of locks are checked. --enable-debug=ub_assert */
#ifndef ABTI_BUILD_ASSERT
#define ABTI_BUILD_ASSERT 0
#endif

/* Random delays around atomic operations. --enable-debug=delays */
#ifndef ABTI_BUILD_DELAYS
#define ABTI_BUILD_DELAYS 0
#endif

/* Every error code that is produced is reported on stderr. --enable-debug=err */
#ifndef ABTI_BUILD_PRINT_ERRNO
#define ABTI_BUILD_PRINT_ERRNO 0
#endif

/* Work units can be cancelled. --enable-feature */
#ifndef ABTI_BUILD_CANCEL
#define ABTI_BUILD_CANCEL 1
#endif

/* Work units can migrate. --enable-feature */
#ifndef ABTI_BUILD_MIGRATION
#define ABTI_BUILD_MIGRATION 1
#endif

/* Native threads that are no execution streams may call. --enable-feature */
#ifndef ABTI_BUILD_EXT_THREAD
#define ABTI_BUILD_EXT_THREAD 1
#endif

/* The tool interface, and with it statistics and traces. --disable-tool */
#ifndef ABTI_BUILD_TOOL
#define ABTI_BUILD_TOOL 1
#endif

/* The tool interface is on, unless ABT_TOOL says otherwise. --enable-tool */
#ifndef ABTI_BUILD_TOOL_ON
#define ABTI_BUILD_TOOL_ON 0
#endif

/* Idle native threads spin instead of sleeping. --enable-wait-policy */
#ifndef ABTI_BUILD_WAIT_ACTIVE
#define ABTI_BUILD_WAIT_ACTIVE 0
#endif

/* Thread-local variables are found without a call (the initial-exec model). --enable-tls-model */
#ifndef ABTI_BUILD_STATIC_TLS
#define ABTI_BUILD_STATIC_TLS 0
#endif

#endif
