# libabt-io: the interface of the Mochi project's abt-io on libabtio.

if HAVE_ABT_IO
lib_LTLIBRARIES += libabt-io.la
include_HEADERS += addons/abt-io/include/abt-io.h
nodist_pkgconfig_DATA += abt-io.pc

libabt_io_la_SOURCES = \
	addons/abt-io/include/abt-io.h \
	addons/abt-io/src/calls.c \
	addons/abt-io/src/config.c \
	addons/abt-io/src/config.h \
	addons/abt-io/src/instance.c \
	addons/abt-io/src/instance.h
libabt_io_la_CPPFLAGS = -D_GNU_SOURCE -Iinclude -I$(srcdir)/include -I$(srcdir)/addons/io/include \
	-I$(srcdir)/addons/abt-io/include
libabt_io_la_CFLAGS = $(AM_CFLAGS) $(LIB_CFLAGS)
libabt_io_la_LDFLAGS = -version-info 0:0:0 -no-undefined -export-symbols-regex '^abt_io_' -Wl,--as-needed -Wl,-z,nodelete \
	-Wl,.libs/libabtio.so $(LDFLAGS_DEFS) $(link_with_libabt)
libabt_io_la_DEPENDENCIES = libabtio.la libabt.la
libabt_io_la_LIBADD = $(jansson_LIBS)

abt_io_tests = \
	addons/abt-io/test/calls \
	addons/abt-io/test/memory

abt_io_test_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/addons/abt-io/include
abt_io_test_libs = libabt-io.la libabtio.la libabt.la
addons_abt_io_test_calls_CPPFLAGS = $(abt_io_test_cppflags)
addons_abt_io_test_calls_LDADD = $(abt_io_test_libs)
addons_abt_io_test_memory_SOURCES = addons/abt-io/test/memory.c test/fault/fault.c test/fault/fault.h
addons_abt_io_test_memory_CPPFLAGS = $(abt_io_test_cppflags)
addons_abt_io_test_memory_LDADD = $(abt_io_test_libs)
endif
