# libabtmpi: calls of MPI that suspend a ULT and not its stream. A library for each MPI, from the same sources and from
# wrappers that are made of the MPI's own header.

mpi_sources = \
	addons/mpi/src/blocks.c \
	addons/mpi/src/blocks.h \
	addons/mpi/src/call.c \
	addons/mpi/src/call.h \
	addons/mpi/src/debug.h \
	addons/mpi/src/finish.c \
	addons/mpi/src/finish.h \
	addons/mpi/src/owner.c \
	addons/mpi/src/owner.h
mpi_cppflags = -D_GNU_SOURCE -Iinclude -I$(srcdir)/include -I$(srcdir)/addons/mpi/src
if ASSERT
mpi_cppflags += -DABTMPI_BUILD_ASSERT=1
endif
# The names of the MPI library are defined anew, to be found before it.
mpi_ldflags = -shared -version-info 0:0:0 -no-undefined -export-symbols-regex '^P?MPI_' -Wl,-z,nodelete $(LDFLAGS_DEFS) \
	$(link_with_libabt)
mpi_generate = @MKDIR_P@ mpi/$$mpi && echo '\#include <mpi.h>' | \
	    $(CC) $(CPPFLAGS) $$flags -E - | python3 $(srcdir)/addons/mpi/generate.py $(srcdir)/addons/mpi/functions.tsv mpi/$$mpi
mpi_generator = addons/mpi/generate.py addons/mpi/functions.tsv Makefile
mpi_tests =
mpi_test_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/addons/mpi/test

if HAVE_ABTMPI_OPENMPI
lib_LTLIBRARIES += libabtmpi-openmpi.la
nodist_pkgconfig_DATA += abtmpi-openmpi.pc
libabtmpi_openmpi_la_SOURCES = $(mpi_sources)
nodist_libabtmpi_openmpi_la_SOURCES = mpi/openmpi/wrappers.c
libabtmpi_openmpi_la_CPPFLAGS = $(mpi_cppflags) -Impi/openmpi $(openmpi_CPPFLAGS)
libabtmpi_openmpi_la_CFLAGS = $(AM_CFLAGS) $(LIB_CFLAGS) -fvisibility=default
libabtmpi_openmpi_la_LDFLAGS = $(mpi_ldflags)
libabtmpi_openmpi_la_DEPENDENCIES = libabt.la
libabtmpi_openmpi_la_LIBADD = $(openmpi_LIBS)
mpi/openmpi/wrappers.c: $(mpi_generator)
	$(AM_V_GEN)mpi=openmpi flags="$(openmpi_CPPFLAGS)"; $(mpi_generate)
$(libabtmpi_openmpi_la_OBJECTS): mpi/openmpi/wrappers.c
CLEANFILES += mpi/openmpi/wrappers.c mpi/openmpi/real.h
mpi_tests += \
	addons/mpi/test/openmpi/errors \
	addons/mpi/test/openmpi/suspend \
	addons/mpi/test/openmpi/tool \
	addons/mpi/test/openmpi/waits \
	addons/mpi/test/openmpi/yields
openmpi_test_cppflags = $(mpi_test_cppflags) $(openmpi_CPPFLAGS) -DJOB_RUN=\"$(openmpi_RUN)\"
openmpi_test_libs = libabtmpi-openmpi.la libabt.la $(openmpi_LIBS)
addons_mpi_test_openmpi_errors_SOURCES = addons/mpi/test/errors.c
addons_mpi_test_openmpi_errors_CPPFLAGS = $(openmpi_test_cppflags)
addons_mpi_test_openmpi_errors_LDADD = $(openmpi_test_libs)
addons_mpi_test_openmpi_errors_LDFLAGS = -Wl,--no-as-needed
addons_mpi_test_openmpi_suspend_SOURCES = addons/mpi/test/suspend.c
addons_mpi_test_openmpi_suspend_CPPFLAGS = $(openmpi_test_cppflags)
addons_mpi_test_openmpi_suspend_LDADD = $(openmpi_test_libs)
addons_mpi_test_openmpi_suspend_LDFLAGS = -Wl,--no-as-needed
addons_mpi_test_openmpi_tool_SOURCES = addons/mpi/test/tool.c
addons_mpi_test_openmpi_tool_CPPFLAGS = $(openmpi_test_cppflags)
addons_mpi_test_openmpi_tool_LDADD = $(openmpi_test_libs)
addons_mpi_test_openmpi_tool_LDFLAGS = -Wl,--no-as-needed
addons_mpi_test_openmpi_waits_SOURCES = addons/mpi/test/waits.c
addons_mpi_test_openmpi_waits_CPPFLAGS = $(openmpi_test_cppflags)
addons_mpi_test_openmpi_waits_LDADD = $(openmpi_test_libs)
addons_mpi_test_openmpi_waits_LDFLAGS = -Wl,--no-as-needed
addons_mpi_test_openmpi_yields_SOURCES = addons/mpi/test/yields.c
addons_mpi_test_openmpi_yields_CPPFLAGS = $(openmpi_test_cppflags)
addons_mpi_test_openmpi_yields_LDADD = $(openmpi_test_libs)
addons_mpi_test_openmpi_yields_LDFLAGS = -Wl,--no-as-needed
endif

if HAVE_ABTMPI_MPICH
lib_LTLIBRARIES += libabtmpi-mpich.la
nodist_pkgconfig_DATA += abtmpi-mpich.pc
libabtmpi_mpich_la_SOURCES = $(mpi_sources)
nodist_libabtmpi_mpich_la_SOURCES = mpi/mpich/wrappers.c
libabtmpi_mpich_la_CPPFLAGS = $(mpi_cppflags) -Impi/mpich $(mpich_CPPFLAGS)
libabtmpi_mpich_la_CFLAGS = $(AM_CFLAGS) $(LIB_CFLAGS) -fvisibility=default
libabtmpi_mpich_la_LDFLAGS = $(mpi_ldflags)
libabtmpi_mpich_la_DEPENDENCIES = libabt.la
libabtmpi_mpich_la_LIBADD = $(mpich_LIBS)
mpi/mpich/wrappers.c: $(mpi_generator)
	$(AM_V_GEN)mpi=mpich flags="$(mpich_CPPFLAGS)"; $(mpi_generate)
$(libabtmpi_mpich_la_OBJECTS): mpi/mpich/wrappers.c
CLEANFILES += mpi/mpich/wrappers.c mpi/mpich/real.h
mpi_tests += \
	addons/mpi/test/mpich/errors \
	addons/mpi/test/mpich/suspend \
	addons/mpi/test/mpich/tool \
	addons/mpi/test/mpich/waits
mpich_test_cppflags = $(mpi_test_cppflags) $(mpich_CPPFLAGS) -DJOB_RUN=\"$(mpich_RUN)\"
mpich_test_libs = libabtmpi-mpich.la libabt.la $(mpich_LIBS)
addons_mpi_test_mpich_errors_SOURCES = addons/mpi/test/errors.c
addons_mpi_test_mpich_errors_CPPFLAGS = $(mpich_test_cppflags)
addons_mpi_test_mpich_errors_LDADD = $(mpich_test_libs)
addons_mpi_test_mpich_errors_LDFLAGS = -Wl,--no-as-needed
addons_mpi_test_mpich_suspend_SOURCES = addons/mpi/test/suspend.c
addons_mpi_test_mpich_suspend_CPPFLAGS = $(mpich_test_cppflags)
addons_mpi_test_mpich_suspend_LDADD = $(mpich_test_libs)
addons_mpi_test_mpich_suspend_LDFLAGS = -Wl,--no-as-needed
addons_mpi_test_mpich_tool_SOURCES = addons/mpi/test/tool.c
addons_mpi_test_mpich_tool_CPPFLAGS = $(mpich_test_cppflags)
addons_mpi_test_mpich_tool_LDADD = $(mpich_test_libs)
addons_mpi_test_mpich_tool_LDFLAGS = -Wl,--no-as-needed
addons_mpi_test_mpich_waits_SOURCES = addons/mpi/test/waits.c
addons_mpi_test_mpich_waits_CPPFLAGS = $(mpich_test_cppflags)
addons_mpi_test_mpich_waits_LDADD = $(mpich_test_libs)
addons_mpi_test_mpich_waits_LDFLAGS = -Wl,--no-as-needed
endif
