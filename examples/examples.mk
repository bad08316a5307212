# The examples, built with everything else, or alone by "make examples". Each is a program of its own; demo runs them all.
# OpenSSL (for UTS) and OpenMP (to compare with) are used where configure found them.

example_programs = examples/nqueens examples/nested examples/custom_sched examples/custom_pool examples/external \
	examples/server examples/xs examples/demo
if HAVE_OPENSSL
example_programs += examples/uts
endif
if HAVE_OPENMP
example_programs += examples/openmp
endif

noinst_PROGRAMS = $(example_programs)

# They find the library of this build without a wrapper script.
example_ldflags = $(AM_LDFLAGS) -no-install
team = examples/team.c examples/team.h

xs_grid = examples/xs_grid.c examples/xs_grid.h

examples_uts_SOURCES = examples/uts.c examples/uts_tree.c examples/uts_tree.h $(team)
examples_uts_CPPFLAGS = $(AM_CPPFLAGS)
examples_uts_LDFLAGS = $(example_ldflags)
examples_uts_LDADD = $(LDADD) $(openssl_LIBS) -lm

examples_nqueens_SOURCES = examples/nqueens.c $(team)
examples_nqueens_LDFLAGS = $(example_ldflags)

examples_nested_SOURCES = examples/nested.c $(team)
examples_nested_LDFLAGS = $(example_ldflags)

examples_custom_sched_SOURCES = examples/custom_sched.c $(team)
examples_custom_sched_LDFLAGS = $(example_ldflags)

examples_custom_pool_SOURCES = examples/custom_pool.c examples/heap_pool.c examples/heap_pool.h $(team)
examples_custom_pool_LDFLAGS = $(example_ldflags)
examples_custom_pool_LDADD = $(LDADD) -lm

examples_external_SOURCES = examples/external.c $(team)
examples_external_LDFLAGS = $(example_ldflags)

examples_server_SOURCES = examples/server.c $(team)
examples_server_LDFLAGS = $(example_ldflags)
examples_server_LDADD = $(LDADD) -lm

examples_openmp_SOURCES = examples/openmp.c $(xs_grid) $(team)
examples_openmp_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
examples_openmp_LDFLAGS = $(example_ldflags)

examples_xs_SOURCES = examples/xs.c $(xs_grid) $(team)
examples_xs_LDFLAGS = $(example_ldflags)

examples_demo_SOURCES = examples/demo.c $(team)
examples_demo_LDFLAGS = $(example_ldflags)

# One file each, for users: installed with a makefile of their own, and compiled by maint/check-examples as they say.
start_examples = examples/start/Makefile examples/start/README.md examples/start/again.c examples/start/blocking.c \
	examples/start/channel.c examples/start/dataflow.c examples/start/dynamic.c examples/start/fib.c examples/start/fork_fib.c \
	examples/start/fork_queens.c examples/start/fork_sort.c examples/start/from_pthread.c \
	examples/start/hello.c examples/start/lifo.c examples/start/nested.c examples/start/offload.c \
	examples/start/priorities.c examples/start/profiler.c examples/start/queue.c \
	examples/start/readers.c examples/start/rounds.c examples/start/scheduler.c examples/start/server.c \
	examples/start/stacks.c examples/start/state.c examples/start/timeout.c examples/start/values.c

# Each function in use, for its page in the reference: installed and looked at in the same way.
reference_examples = examples/reference/Makefile examples/reference/README.md examples/reference/affinity.c \
	examples/reference/attributes.c examples/reference/barrier.c examples/reference/cancel.c \
	examples/reference/cond.c examples/reference/config.c examples/reference/cpp_futures.cpp \
	examples/reference/cpp_streams.cpp examples/reference/cpp_threads.cpp examples/reference/deadlock.c \
	examples/reference/device.c examples/reference/driver.c \
	examples/reference/dump.c examples/reference/enter.c examples/reference/errors.c examples/reference/eventual.c \
	examples/reference/fork_by_hand.c examples/reference/fork_cpp.cpp examples/reference/fork_invoke.c \
	examples/reference/fork_mutual.c examples/reference/future.c examples/reference/generator.c \
	examples/reference/handoff.c examples/reference/info.c examples/reference/io_acceptor.c \
	examples/reference/io_blocking.c examples/reference/io_directories.c examples/reference/io_files.c \
	examples/reference/io_files_nb.c examples/reference/io_operations.c examples/reference/io_receiver.c \
	examples/reference/io_registered.c examples/reference/io_sockets.c examples/reference/io_sockets_nb.c \
	examples/reference/keys.c examples/reference/leader.c examples/reference/migration.c examples/reference/mutex.c \
	examples/reference/older_names.c examples/reference/park.c examples/reference/pool.c \
	examples/reference/pool_many.c examples/reference/pool_old.c \
	examples/reference/pool_user.c examples/reference/sched.c examples/reference/sched_config.c \
	examples/reference/self.c \
	examples/reference/stack_room.c examples/reference/streams.c \
	examples/reference/switch_hooks.c examples/reference/tasklets.c examples/reference/timer.c \
	examples/reference/tool.c examples/reference/trace.c examples/reference/unit_facts.c \
	examples/reference/word.c \
	examples/reference/xstream_barrier.c

examples: $(example_programs)

.PHONY: examples
