# The tests, one program per line, by the name of its C file without ".c". Every program prints TAP through tap.h.

# test/unit/<layer>/<module>.c: one module from the inside.
unit_tests = \
	test/unit/api/error \
	test/unit/arch/shadow \
	test/unit/base/heap \
	test/unit/base/parse \
	test/unit/rt/config \
	test/unit/rt/counters \
	test/unit/unit/key \
	test/unit/rt/kvconf \
	test/unit/pool/parking \
	test/unit/pool/pool \
	test/unit/pool/queue \
	test/unit/pool/ring \
	test/unit/pool/shortage \
	test/unit/pool/steal \
	test/unit/pool/thief_policy \
	test/unit/run/switch \
	test/unit/sync/xbarrier \
	test/unit/sync/timer \
	test/unit/unit/unitmap \
	test/unit/watch/registry \
	test/unit/watch/unwind \
	test/unit/lock/bias \
	test/unit/lock/futex \
	test/unit/lock/lockrank \
	test/unit/lock/spin \
	test/unit/mem/chunk \
	test/unit/mem/nodes \
	test/unit/mem/pages \
	test/unit/mem/stack \
	test/unit/os/affinity \
	test/unit/os/annotate \
	test/unit/os/clock \
	test/unit/os/env \
	test/unit/os/nodes \
	test/unit/os/vm \
	test/unit/pool/fifo \
	test/unit/pool/randws \
	test/unit/stream/halt \
	test/unit/stream/nodes \
	test/unit/stream/park \
	test/unit/stream/pool_backoff \
	test/unit/idle/repoll \
	test/unit/sync/waitq \
	test/unit/sync/rounds \
	test/unit/wait/adaptive \
	test/unit/wait/sleeper \
	test/unit/wait/word

# test/arch/*.c: what an architecture must provide.
arch_tests = \
	test/arch/ctx \
	test/arch/mask \
	test/arch/order

test_arch_ctx_LDADD = $(LDADD) -lm
test_api_task_alone_LDADD = $(LDADD) -lm
test_api_thread_row_LDADD = $(LDADD) -lm

# Modules that programs load; they are not installed.
check_LTLIBRARIES = test/api/events.la
test_api_events_la_SOURCES = test/api/events.c test/tool_watch.h
test_api_events_la_LDFLAGS = -module -avoid-version -rpath /nowhere

# test/api/<object>.c: the public functions from the outside, every error code, every kind of caller.
api_tests = \
	test/api/affinity \
	test/api/barrier \
	test/api/blocking \
	test/api/cond \
	test/api/deadlock \
	test/api/environment \
	test/api/driver \
	test/api/driver_wait \
	test/api/dump \
	test/api/enter_events \
	test/api/error \
	test/api/eventual \
	test/api/eventual_any \
	test/api/fork \
	test/api/fork_follow \
	test/api/fork_join \
	test/api/future \
	test/api/hog \
	test/api/idle \
	test/api/info \
	test/api/info_print \
	test/api/info_unwind \
	test/api/init \
	test/api/key \
	test/api/misuse \
	test/api/misuse_kinds \
	test/api/mutex \
	test/api/overflow \
	test/api/pool \
	test/api/pool_config \
	test/api/pool_context \
	test/api/pool_handle \
	test/api/pool_unit \
	test/api/pool_user \
	test/api/pool_user_def \
	test/api/rwlock \
	test/api/sched \
	test/api/sched_config \
	test/api/sched_stack \
	test/api/self \
	test/api/specific \
	test/api/stack_room \
	test/api/stranded \
	test/api/stats \
	test/api/trace \
	test/api/switch_hooks \
	test/api/task \
	test/api/task_alone \
	test/api/thread \
	test/api/thread_attr \
	test/api/thread_migrate \
	test/api/thread_row \
	test/api/thread_sleep \
	test/api/thread_stacks \
	test/api/thread_switch \
	test/api/timedwait \
	test/api/timer \
	test/api/tool \
	test/api/tool_sched \
	test/api/tool_switch \
	test/api/top \
	test/api/word \
	test/api/xstream \
	test/api/xstream_barrier \
	test/api/xstream_enter \
	test/api/xstream_park \
	test/api/xstream_sched

# test/clients/*.c: programs in the style of software that uses the interface, on the public header alone.
# ABT_TEST_STREAMS says how many streams they make.
client_tests = \
	test/clients/progress_server

# test/cxx/*: programs in C++, and what comes of it for programs in C.
if HAVE_CXX
cxx_tests = \
	test/cxx/exceptions \
	test/cxx/fork \
	test/cxx/fork_throw \
	test/cxx/leaving \
	test/cxx/plugin \
	test/cxx/std_futures \
	test/cxx/std_futures20 \
	test/cxx/std_threads \
	test/cxx/std_threads20

test_cxx_exceptions_SOURCES = test/cxx/exceptions.cc test/cxx/tap.hh
test_cxx_fork_SOURCES = test/cxx/fork.cc test/cxx/tap.hh
test_cxx_fork_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++17
test_cxx_fork_throw_SOURCES = test/cxx/fork_throw.cc test/cxx/tap.hh
test_cxx_fork_throw_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++17
test_cxx_leaving_SOURCES = test/cxx/leaving.cc test/cxx/tap.hh
test_cxx_leaving_LDFLAGS = -export-dynamic
test_cxx_plugin_DEPENDENCIES = libabt.la test/cxx/late.la
test_cxx_std_futures_SOURCES = test/cxx/std_futures.cc test/cxx/tap.hh
test_cxx_std_futures_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++17
test_cxx_std_futures20_SOURCES = test/cxx/std_futures.cc test/cxx/tap.hh
test_cxx_std_futures20_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++20
test_cxx_std_threads_SOURCES = test/cxx/std_threads.cc test/cxx/tap.hh
test_cxx_std_threads_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++17
test_cxx_std_threads20_SOURCES = test/cxx/std_threads.cc test/cxx/tap.hh
test_cxx_std_threads20_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++20

# A plugin.
check_LTLIBRARIES += test/cxx/late.la
test_cxx_late_la_SOURCES = test/cxx/late.cc
test_cxx_late_la_LDFLAGS = -module -avoid-version -rpath /nowhere
else
cxx_tests = test/cxx/none
endif

# test/errors/*.c: every error code that the contract promises, by every kind of caller; see maint/check-errors.
error_tests = \
	test/errors/affinity \
	test/errors/info \
	test/errors/init \
	test/errors/pool \
	test/errors/pool_config \
	test/errors/sched \
	test/errors/self \
	test/errors/sync \
	test/errors/task \
	test/errors/thread \
	test/errors/thread_migrate \
	test/errors/thread_query \
	test/errors/thread_switch \
	test/errors/tool \
	test/errors/xstream

# test/fault/*.c: the n-th allocation fails. What fails it is in the program, cases.h makes it do so.
fault_tests = \
	test/fault/entering \
	test/fault/fork \
	test/fault/growth \
	test/fault/idle \
	test/fault/info \
	test/fault/init \
	test/fault/objects \
	test/fault/pool \
	test/fault/sched \
	test/fault/shortage \
	test/fault/thread \
	test/fault/tool \
	test/fault/waiting \
	test/fault/xstream

fault_harness = test/fault/fault.c test/fault/fault.h test/fault/cases.h
test_fault_entering_SOURCES = test/fault/entering.c $(fault_harness)
test_fault_fork_SOURCES = test/fault/fork.c $(fault_harness)
test_fault_growth_SOURCES = test/fault/growth.c $(fault_harness)
test_fault_idle_SOURCES = test/fault/idle.c $(fault_harness)
test_fault_info_SOURCES = test/fault/info.c $(fault_harness)
test_fault_init_SOURCES = test/fault/init.c $(fault_harness)
test_fault_objects_SOURCES = test/fault/objects.c $(fault_harness)
test_fault_pool_SOURCES = test/fault/pool.c $(fault_harness)
test_fault_sched_SOURCES = test/fault/sched.c $(fault_harness)
test_fault_shortage_SOURCES = test/fault/shortage.c $(fault_harness)
test_fault_thread_SOURCES = test/fault/thread.c $(fault_harness)
test_fault_tool_SOURCES = test/fault/tool.c $(fault_harness)
test_fault_waiting_SOURCES = test/fault/waiting.c $(fault_harness)
test_fault_xstream_SOURCES = test/fault/xstream.c $(fault_harness)

# test/regress/<what>.c: one per mended bug.
regress_tests = \
	test/regress/associate_blocked \
	test/regress/associate_queried \
	test/regress/basic_wait_pools \
	test/regress/blocked_pool_free \
	test/regress/cancel_waits \
	test/regress/coroutine \
	test/regress/busy_stream_timers \
	test/regress/denied_calls \
	test/regress/directed_switches \
	test/regress/deep_main \
	test/regress/dump_again \
	test/regress/exit_in_wait \
	test/regress/fault_handlers \
	test/regress/fault_unloaded \
	test/regress/extremes \
	test/regress/finalize_reclaim \
	test/regress/finish_primary \
	test/regress/first_handoff \
	test/regress/fork_child \
	test/regress/fork_extremes \
	test/regress/fork_in_region \
	test/regress/fork_kept_deque \
	test/regress/free_mutex \
	test/regress/handoff_pool_free \
	test/regress/guard_pages \
	test/regress/in_place_counts \
	test/regress/join_idle \
	test/regress/key_destructor_stack \
	test/regress/loads_meanwhile \
	test/regress/locked_memory \
	test/regress/main_sched_exit \
	test/regress/many_exits \
	test/regress/mutex_streams \
	test/regress/mutex_turns \
	test/regress/odd_deadlines \
	test/regress/pop_threads_tail \
	test/regress/private_push \
	test/regress/private_resume \
	test/regress/region_functions \
	test/regress/replace_private \
	test/regress/resume_pool_free \
	test/regress/resume_waiting \
	test/regress/sched_request_free \
	test/regress/sched_reuse \
	test/regress/sched_stack_tls \
	test/regress/stack_guard \
	test/regress/stacked_joins \
	test/regress/static_tls \
	test/regress/stack_shortage \
	test/regress/stolen_waits \
	test/regress/tasklet_joiner \
	test/regress/tight_space \
	test/regress/wake_handover \
	test/regress/yield_events

# It reads the headers.
test_regress_region_functions_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SOURCE='"$(abs_top_srcdir)"'

# It loads the library by itself.
test_regress_fault_unloaded_LDADD =

# test/stress/*.c: much at once. ABT_TEST_SECONDS says how long each may take; see tap_seconds().
stress_tests = \
	test/stress/barriers \
	test/stress/bias \
	test/stress/blocked \
	test/stress/blocking \
	test/stress/checked \
	test/stress/drivers \
	test/stress/dumps \
	test/stress/footprint \
	test/stress/fork \
	test/stress/forkjoin \
	test/stress/frames \
	test/stress/give_back \
	test/stress/guards \
	test/stress/many \
	test/stress/migrate \
	test/stress/signals \
	test/stress/stack_queries \
	test/stress/producer \
	test/stress/steals \
	test/stress/tool_live \
	test/stress/wakeups \
	test/stress/words

# test/fuzz/*.c: random legal sequences of the whole interface, by a seed. maint/check-fuzz runs it for longer.
fuzz_tests = test/fuzz/fuzz
test_fuzz_fuzz_SOURCES = test/fuzz/children.c test/fuzz/crew.c test/fuzz/drivers.c test/fuzz/entered.c test/fuzz/events.c \
	test/fuzz/forks.c test/fuzz/fuzz.h test/fuzz/hooks.c test/fuzz/life.c test/fuzz/main.c test/fuzz/objects.c \
	test/fuzz/pools.c test/fuzz/queries.c test/fuzz/scheds.c test/fuzz/steps.c test/fuzz/streams.c test/fuzz/switches.c \
	test/fuzz/times.c test/fuzz/units.c test/fuzz/units.h test/fuzz/watch.c test/fuzz/words.c test/fuzz/world.c \
	test/fuzz/world.h
if HAVE_IO
test_fuzz_fuzz_SOURCES += test/fuzz/io.c
test_fuzz_fuzz_LDADD = libabtio.la $(LDADD)
else
test_fuzz_fuzz_SOURCES += test/fuzz/no_io.c
endif

# Some compilers call ceil.

# Its functions are to be found by name.
test_api_overflow_LDFLAGS = -export-dynamic
test_api_stats_LDFLAGS = -export-dynamic
test_api_trace_LDFLAGS = -export-dynamic
test_api_trace_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SOURCE='"$(abs_top_srcdir)"'
test_regress_cancel_waits_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SOURCE='"$(abs_top_srcdir)"'

# Works whose instructions maint/check-instructions counts.
bench_programs = test/bench/instructions
if HAVE_CXX
bench_programs += test/bench/instructions_hpp
test_bench_instructions_hpp_SOURCES = test/bench/instructions_hpp.cc
test_bench_instructions_hpp_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++17
endif
