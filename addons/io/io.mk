# libabtio: input and output that suspends a unit and not its stream. It uses the public headers only.

if HAVE_IO
lib_LTLIBRARIES += libabtio.la
include_HEADERS += addons/io/include/abtio.h
nodist_pkgconfig_DATA += abtio.pc

libabtio_la_SOURCES = \
	addons/io/include/abtio.h \
	addons/io/src/backend.c \
	addons/io/src/backend.h \
	addons/io/src/caller.h \
	addons/io/src/calls.c \
	addons/io/src/calls.h \
	addons/io/src/debug.c \
	addons/io/src/debug.h \
	addons/io/src/fifo.c \
	addons/io/src/fifo.h \
	addons/io/src/helpers.c \
	addons/io/src/helpers.h \
	addons/io/src/channel.h \
	addons/io/src/lookup.h \
	addons/io/src/multishot/acceptor.c \
	addons/io/src/multishot/buffers.c \
	addons/io/src/multishot/buffers.h \
	addons/io/src/multishot/multishot.c \
	addons/io/src/multishot/multishot.h \
	addons/io/src/multishot/receiver.c \
	addons/io/src/native.c \
	addons/io/src/native.h \
	addons/io/src/op.c \
	addons/io/src/op.h \
	addons/io/src/os/os.h \
	addons/io/src/ring/fixed.c \
	addons/io/src/ring/fixed.h \
	addons/io/src/run.c \
	addons/io/src/run.h \
	addons/io/src/signals.c \
	addons/io/src/signals.h
if IO_SYSCALLS
libabtio_la_SOURCES += addons/io/src/os/os_syscalls.c
else
libabtio_la_SOURCES += addons/io/src/os/os_libc.c
endif
if HAVE_IO_URING
libabtio_la_SOURCES += \
	addons/io/src/direct.h \
	addons/io/src/channel.c \
	addons/io/src/channel_change.c \
	addons/io/src/channel_list.c \
	addons/io/src/channel_list.h \
	addons/io/src/channel_own.h \
	addons/io/src/poller.c \
	addons/io/src/poller.h \
	addons/io/src/ring/fixed_ring.c \
	addons/io/src/ring/group.c \
	addons/io/src/ring/group.h \
	addons/io/src/ring/ring.c \
	addons/io/src/ring/ring.h \
	addons/io/src/ring/submit.c \
	addons/io/src/ring/submit.h
else
libabtio_la_SOURCES += addons/io/src/channel_none.c
endif
libabtio_la_CPPFLAGS = -D_GNU_SOURCE -Iinclude -I$(srcdir)/include -I$(srcdir)/addons/io/include -I$(srcdir)/addons/io/src \
	$(addon_delays)
if ASSERT
libabtio_la_CPPFLAGS += -DABTIO_BUILD_ASSERT=1
endif
libabtio_la_CFLAGS = $(AM_CFLAGS) $(LIB_CFLAGS) -fvisibility=hidden
libabtio_la_LDFLAGS = -version-info 1:0:0 -no-undefined -export-symbols-regex '^abtio_' -Wl,--as-needed -Wl,-z,nodelete \
	$(LDFLAGS_DEFS) $(link_with_libabt)
libabtio_la_DEPENDENCIES = libabt.la

io_tests = \
	addons/io/test/acceptors \
	addons/io/test/busy_stream \
	addons/io/test/cancel_units \
	addons/io/test/deadlines \
	addons/io/test/deadlocks \
	addons/io/test/ends \
	addons/io/test/faults \
	addons/io/test/files \
	addons/io/test/finalize \
	addons/io/test/fixed \
	addons/io/test/channels \
	addons/io/test/missed_ends \
	addons/io/test/nomem \
	addons/io/test/operations \
	addons/io/test/receivers \
	addons/io/test/receivers_end \
	addons/io/test/signals \
	addons/io/test/sockets
# Those for glibc alone: valgrind does not know the allocator of others, and they do not tell how much is allocated.
if !IO_SYSCALLS
io_tests += addons/io/test/soak addons/io/test/valgrind
endif
if HAVE_CXX
io_tests += addons/io/test/awaits
endif

io_test_libs = libabtio.la libabt.la
addons_io_test_acceptors_LDADD = $(io_test_libs)
addons_io_test_awaits_SOURCES = addons/io/test/awaits.cc test/cxx/tap.hh
addons_io_test_awaits_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++20
addons_io_test_awaits_LDADD = $(io_test_libs)
addons_io_test_busy_stream_LDADD = $(io_test_libs)
addons_io_test_cancel_units_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SOURCE='"$(abs_top_srcdir)"'
addons_io_test_cancel_units_LDADD = $(io_test_libs)
addons_io_test_deadlines_LDADD = $(io_test_libs)
addons_io_test_deadlocks_LDADD = $(io_test_libs)
addons_io_test_ends_LDADD = $(io_test_libs)
addons_io_test_faults_LDADD = $(io_test_libs)
addons_io_test_files_LDADD = $(io_test_libs)
addons_io_test_finalize_LDADD = $(io_test_libs)
addons_io_test_fixed_LDADD = $(io_test_libs)
addons_io_test_channels_LDADD = $(io_test_libs)
addons_io_test_missed_ends_LDADD = $(io_test_libs)
addons_io_test_nomem_SOURCES = addons/io/test/nomem.c test/fault/fault.c test/fault/fault.h
addons_io_test_nomem_LDADD = $(io_test_libs)
addons_io_test_operations_LDADD = $(io_test_libs)
addons_io_test_receivers_LDADD = $(io_test_libs)
addons_io_test_receivers_end_LDADD = $(io_test_libs)
addons_io_test_signals_LDADD = $(io_test_libs)
addons_io_test_soak_LDADD = $(io_test_libs)
addons_io_test_sockets_LDADD = $(io_test_libs)
addons_io_test_valgrind_LDADD = $(io_test_libs)
endif
