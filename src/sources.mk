# The sources of the library: a variant is a file that is picked here.

abt_sources = \
	src/api/affinity.c \
	src/api/barrier.c \
	src/api/cond.c \
	src/api/error.c \
	src/api/eventual.c \
	src/api/future.c \
	src/api/info.c \
	src/api/init.c \
	src/api/key.c \
	src/api/mutex.c \
	src/api/pool.c \
	src/api/pool_config.c \
	src/api/pool_user_def.c \
	src/api/rwlock.c \
	src/api/sched.c \
	src/api/sched_config.c \
	src/api/self.c \
	src/api/slot.c \
	src/api/stack_usage.c \
	src/api/task.c \
	src/api/thread.c \
	src/api/thread_attr.c \
	src/api/thread_migrate.c \
	src/api/thread_query.c \
	src/api/thread_sleep.c \
	src/api/timer.c \
	src/api/tool.c \
	src/api/unit.c \
	src/api/xstream.c \
	src/api/xstream_barrier.c \
	src/api/xstream_idle.c \
	src/base/heap.c \
	src/base/parse.c \
	src/core/annotated.c \
	src/core/config.c \
	src/core/end.c \
	src/core/esaffinity.c \
	src/core/halt.c \
	src/core/idle.c \
	src/core/join.c \
	src/core/key.c \
	src/core/kvconf.c \
	src/core/leftover.c \
	src/core/migrate.c \
	src/core/native.c \
	src/core/overflow.c \
	src/core/ownstack.c \
	src/core/park.c \
	src/core/parking.c \
	src/core/pool.c \
	src/core/queue.c \
	src/core/reclaim.c \
	src/core/ring.c \
	src/core/rt.c \
	src/core/sched.c \
	src/core/shortage.c \
	src/core/slot.c \
	src/core/stackuse.c \
	src/core/steal.c \
	src/core/switch.c \
	src/core/tool.c \
	src/core/timer.c \
	src/core/unit.c \
	src/core/unitmap.c \
	src/core/xsloop.c \
	src/core/xstream.c \
	src/ext/info.c \
	src/ext/stackdump.c \
	src/mem/arena.c \
	src/mem/chunk.c \
	src/mem/guard.c \
	src/mem/lazycache.c \
	src/mem/slab.c \
	src/mem/stack.c \
	src/os/affinity.c \
	src/os/annotate.c \
	src/os/bias.c \
	src/os/clock.c \
	src/os/env.c \
	src/os/fault.c \
	src/os/limits.c \
	src/os/spin.c \
	src/os/symbol.c \
	src/os/vm.c \
	src/os/wakefd.c \
	src/pool/fifo.c \
	src/pool/make.c \
	src/pool/randws.c \
	src/pool/user.c \
	src/sched/basic.c \
	src/sched/basic_wait.c \
	src/sched/loop.c \
	src/sched/make.c \
	src/sched/randws.c \
	src/sched/user.c \
	src/sync/barrier.c \
	src/sync/cond.c \
	src/sync/eventual.c \
	src/sync/eventual_any.c \
	src/sync/future.c \
	src/sync/gate.c \
	src/sync/mutex.c \
	src/sync/rwlock.c \
	src/sync/xbarrier.c

abt_asm_sources =

# Libraries that the chosen variants need.
abt_libs =

if ARCH_X86_64
abt_asm_sources += src/arch/x86_64/ctx.S
endif

if HAVE_FUTEX
abt_sources += src/os/futex_linux.c
else
abt_sources += src/os/futex_cond.c
endif

if HAVE_MEMBARRIER
abt_sources += src/os/membarrier_linux.c
else
abt_sources += src/os/membarrier_none.c
endif

if HAVE_EVENTFD
abt_sources += src/os/wakefd_eventfd.c
else
abt_sources += src/os/wakefd_none.c
endif

if HAVE_HWLOC
abt_sources += src/os/topo_hwloc.c
abt_libs += $(hwloc_LIBS)
else
abt_sources += src/os/topo_none.c
endif

if HAVE_LIBUNWIND
abt_sources += src/ext/unwind_libunwind.c
abt_libs += $(libunwind_LIBS)
if ARCH_X86_64
abt_sources += src/arch/x86_64/ucontext.c
endif
else
abt_sources += src/ext/unwind_none.c
endif

if DELAYS
abt_sources += src/os/delay.c
endif
