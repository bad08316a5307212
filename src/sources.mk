# The sources of the library: a variant is a file that is picked here.

abt_sources = \
	src/arch/shadow.c \
	src/arch/ucontext.c \
	src/api/affinity.c \
	src/api/barrier.c \
	src/api/blocking.c \
	src/api/cond.c \
	src/api/driver.c \
	src/api/error.c \
	src/api/eventual.c \
	src/api/fork.c \
	src/api/future.c \
	src/api/garbage.c \
	src/api/info.c \
	src/api/init.c \
	src/api/key.c \
	src/api/misuse.c \
	src/api/misuse_sync.c \
	src/api/misuse_unit.c \
	src/api/mutex.c \
	src/api/pool.c \
	src/api/pool_config.c \
	src/api/pool_user_def.c \
	src/api/rwlock.c \
	src/api/sched.c \
	src/api/sched_config.c \
	src/api/self.c \
	src/api/task.c \
	src/api/thread.c \
	src/api/thread_attr.c \
	src/api/thread_migrate.c \
	src/api/thread_query.c \
	src/api/timer.c \
	src/api/tool.c \
	src/api/watch.c \
	src/api/word.c \
	src/api/xstream.c \
	src/api/xstream_idle.c \
	src/base/assert.c \
	src/base/heap.c \
	src/base/parse.c \
	src/base/text.c \
	src/watch/dumpsignal.c \
	src/watch/info.c \
	src/watch/deadlock.c \
	src/watch/waits.c \
	src/watch/top.c \
	src/watch/topshot.c \
	src/watch/registry.c \
	src/watch/layout.c \
	src/watch/stackdump.c \
	src/watch/stranded.c \
	src/watch/unwind.c \
	src/run/create.c \
	src/fork/fork.c \
	src/fork/deque.c \
	src/fork/workers.c \
	src/stream/blocking.c \
	src/stream/carrier.c \
	src/stream/native.c \
	src/idle/driver.c \
	src/idle/idle.c \
	src/idle/leader.c \
	src/os/cxx.c \
	src/lock/bias.c \
	src/lock/futex_linux.c \
	src/lock/membarrier_linux.c \
	src/lock/spin.c \
	src/mem/arena.c \
	src/mem/chunk.c \
	src/mem/depot.c \
	src/mem/guard.c \
	src/mem/slab.c \
	src/mem/stack.c \
	src/os/affinity.c \
	src/os/annotate.c \
	src/os/clock.c \
	src/os/env.c \
	src/os/fault.c \
	src/os/limits.c \
	src/os/module.c \
	src/os/nodes.c \
	src/os/peek.c \
	src/os/vm.c \
	src/os/wakefd.c \
	src/run/observe.c \
	src/run/sched.c \
	src/pool/blocked.c \
	src/pool/fifo.c \
	src/pool/leftover.c \
	src/pool/make.c \
	src/pool/member.c \
	src/pool/parking.c \
	src/pool/pool.c \
	src/pool/queue.c \
	src/pool/randws.c \
	src/pool/request.c \
	src/pool/ring.c \
	src/pool/shortage.c \
	src/pool/stolen.c \
	src/pool/thief.c \
	src/pool/thief_policy.c \
	src/pool/user.c \
	src/rt/config.c \
	src/rt/handle.c \
	src/rt/kvconf.c \
	src/rt/libunwind.c \
	src/rt/rt.c \
	src/rt/self.c \
	src/rt/symbol.c \
	src/rt/tool.c \
	src/rt/variables.c \
	src/run/begin.c \
	src/run/block.c \
	src/run/cancel.c \
	src/run/child.c \
	src/run/end.c \
	src/run/join.c \
	src/run/migrate.c \
	src/run/publish.c \
	src/run/yield.c \
	src/stream/affinity.c \
	src/stream/dock.c \
	src/stream/entered.c \
	src/stream/events.c \
	src/stream/halt.c \
	src/stream/list.c \
	src/stream/main.c \
	src/stream/park.c \
	src/stream/helper.c \
	src/stream/pool_backoff.c \
	src/stream/reclaim.c \
	src/stream/sched_basic_wait.c \
	src/stream/sched_loop.c \
	src/stream/sched_make.c \
	src/stream/source.c \
	src/stream/source_ask.c \
	src/stream/source_search.c \
	src/stream/xstream.c \
	src/run/annotated.c \
	src/run/switch.c \
	src/sync/barrier.c \
	src/sync/cond.c \
	src/sync/eventual.c \
	src/sync/eventual_any.c \
	src/sync/future.c \
	src/sync/gate.c \
	src/sync/lookout.c \
	src/sync/hazard.c \
	src/sync/rounds.c \
	src/sync/mutex.c \
	src/sync/rwlock.c \
	src/sync/timer.c \
	src/sync/waiter.c \
	src/sync/wordq.c \
	src/sync/xbarrier.c \
	src/watch/json.c \
	src/watch/stats.c \
	src/watch/trace.c \
	src/watch/unit.c \
	src/unit/exceptions.c \
	src/unit/joining.c \
	src/unit/key.c \
	src/unit/ledger.c \
	src/unit/overflow.c \
	src/unit/ownstack.c \
	src/unit/saved.c \
	src/unit/unit.c \
	src/unit/unitmap.c \
	src/wait/adaptive.c \
	src/wait/cpus.c \
	src/wait/external.c \
	src/wait/group.c \
	src/wait/native.c \
	src/wait/sleeper.c \
	src/wait/task_linux.c \
	src/wait/threadword.c \
	src/wait/waketree.c \
	src/wait/word.c

abt_asm_sources =

# What a machine has of its own is found in its folder by the search for included files: src/arch/*/ctx.S.
if GENERIC_CTX
abt_sources += src/arch/generic/ctx.c
else
abt_asm_sources += src/arch/switch.S
endif

if HAVE_DLADDR1
abt_sources += src/os/loader_glibc.c
else
abt_sources += src/os/loader_none.c
endif

if ASSERT
abt_sources += src/lock/lockrank.c
endif

if DELAYS
abt_sources += src/lock/delay.c
endif
