# GLT: the Generic Lightweight Threads interface on libabt, as headers and as a library.

gltdir = $(includedir)/glt
include_HEADERS += addons/glt/include/glt.h addons/glt/include/fast_glt.h
glt_HEADERS = \
	addons/glt/include/glt/generic.h \
	addons/glt/include/glt/generic_bodies.h \
	addons/glt/include/glt/generic_unit.h \
	addons/glt/include/glt/libabt.h \
	addons/glt/include/glt/libabt_bodies.h \
	addons/glt/include/glt/massivethreads.h \
	addons/glt/include/glt/massivethreads_bodies.h \
	addons/glt/include/glt/qthreads.h \
	addons/glt/include/glt/qthreads_bodies.h
lib_LTLIBRARIES += libglt.la
nodist_pkgconfig_DATA += glt.pc

# The loader finds the functions of libabt once: a call of each goes through no stub.
libglt_la_SOURCES = addons/glt/src/glt.c addons/glt/include/glt.h addons/glt/include/fast_glt.h $(glt_HEADERS)
libglt_la_CPPFLAGS = -Iinclude -I$(srcdir)/include -I$(srcdir)/addons/glt/include
libglt_la_CFLAGS = $(AM_CFLAGS) $(LIB_CFLAGS) -fvisibility=hidden
libglt_la_LDFLAGS = -version-info 2:0:0 -no-undefined -export-symbols-regex '^glt_' -Wl,--as-needed $(LDFLAGS_DEFS) \
	$(link_with_libabt)
libglt_la_DEPENDENCIES = libabt.la

glt_tests = \
	addons/glt/test/calls_fast \
	addons/glt/test/calls_myth \
	addons/glt/test/calls_qthread \
	addons/glt/test/calls_shared

glt_test_sources = addons/glt/test/calls.c addons/glt/test/calls.h addons/glt/test/second.c
glt_test_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/addons/glt/include
addons_glt_test_calls_fast_SOURCES = $(glt_test_sources)
addons_glt_test_calls_fast_CPPFLAGS = $(glt_test_cppflags) -DFASTGLT
addons_glt_test_calls_shared_SOURCES = $(glt_test_sources)
addons_glt_test_calls_shared_CPPFLAGS = $(glt_test_cppflags)
addons_glt_test_calls_shared_LDADD = libglt.la libabt.la

# Over stand-ins of the two other libraries.
addons_glt_test_calls_myth_SOURCES = $(glt_test_sources) addons/glt/test/standins/myth.c addons/glt/test/standins/myth/myth.h
addons_glt_test_calls_myth_CPPFLAGS = $(glt_test_cppflags) -I$(srcdir)/addons/glt/test/standins -DFASTGLT -DGLT_MASSIVETHREADS
addons_glt_test_calls_myth_LDADD = -lpthread
addons_glt_test_calls_qthread_SOURCES = $(glt_test_sources) addons/glt/test/standins/qthread.c \
	addons/glt/test/standins/qthread/qthread.h
addons_glt_test_calls_qthread_CPPFLAGS = $(glt_test_cppflags) -I$(srcdir)/addons/glt/test/standins -DFASTGLT -DGLT_QTHREADS
addons_glt_test_calls_qthread_LDADD = -lpthread
