# libabtmpi: calls of MPI that suspend a ULT and not its stream. A library for each MPI, from the same sources and from
# wrappers that are made of the MPI's own header.

mpi_sources = \
	addons/mpi/src/blocks.c \
	addons/mpi/src/blocks.h \
	addons/mpi/src/call.c \
	addons/mpi/src/call.h \
	addons/mpi/src/continue.c \
	addons/mpi/src/fatal.c \
	addons/mpi/src/fatal.h \
	addons/mpi/src/finish.c \
	addons/mpi/src/finish.h \
	addons/mpi/src/host.c \
	addons/mpi/src/host.h \
	addons/mpi/src/own.c \
	addons/mpi/src/own.h \
	addons/mpi/src/progress.c \
	addons/mpi/src/progress.h \
	addons/mpi/src/region.c \
	addons/mpi/src/region.h \
	addons/mpi/src/state.c \
	addons/mpi/src/state.h \
	addons/mpi/src/ucx.c
mpi_cppflags = -D_GNU_SOURCE -Iinclude -I$(srcdir)/include -I$(srcdir)/addons/mpi/include -I$(srcdir)/addons/mpi/src $(addon_delays)
if !ASSERT
mpi_cppflags += -DNDEBUG
endif
# The names of the MPI library are defined anew, to be found before it.
mpi_cflags = $(AM_CFLAGS) $(LIB_CFLAGS) -fvisibility=default
mpi_ldflags = -shared -version-info 0:0:0 -no-undefined -export-symbols-regex '^(P?MPIX?_|ABTMPI_|ucp_worker_progress$$)' -Wl,-z,nodelete $(LDFLAGS_DEFS) '-Wl,-rpath,$$ORIGIN' \
	$(link_with_libabt)
mpis =

if HAVE_ABTMPI_OPENMPI
mpis += openmpi
lib_LTLIBRARIES += libabtmpi-openmpi.la
nodist_pkgconfig_DATA += abtmpi-openmpi.pc
libabtmpi_openmpi_la_SOURCES = $(mpi_sources) addons/mpi/src/host_openmpi.c
nodist_libabtmpi_openmpi_la_SOURCES = mpi/openmpi/wrappers.c
libabtmpi_openmpi_la_CPPFLAGS = $(mpi_cppflags) -Impi/openmpi $(openmpi_CPPFLAGS)
libabtmpi_openmpi_la_CFLAGS = $(mpi_cflags)
libabtmpi_openmpi_la_LDFLAGS = $(mpi_ldflags)
libabtmpi_openmpi_la_DEPENDENCIES = libabt.la
libabtmpi_openmpi_la_LIBADD = $(openmpi_LIBS)
endif

if HAVE_ABTMPI_MPICH
mpis += mpich
lib_LTLIBRARIES += libabtmpi-mpich.la
nodist_pkgconfig_DATA += abtmpi-mpich.pc
libabtmpi_mpich_la_SOURCES = $(mpi_sources) addons/mpi/src/host_mpich.c
nodist_libabtmpi_mpich_la_SOURCES = mpi/mpich/wrappers.c
libabtmpi_mpich_la_CPPFLAGS = $(mpi_cppflags) -Impi/mpich $(mpich_CPPFLAGS)
libabtmpi_mpich_la_CFLAGS = $(mpi_cflags)
libabtmpi_mpich_la_LDFLAGS = $(mpi_ldflags)
libabtmpi_mpich_la_DEPENDENCIES = libabt.la
libabtmpi_mpich_la_LIBADD = $(mpich_LIBS)
endif

if HAVE_ABTMPI
include_HEADERS += addons/mpi/include/abtmpi.h
endif

# ---- Rules for each MPI ----------------------------------------------------------------------------------------------

mpi/%/wrappers.c: addons/mpi/generate.py addons/mpi/functions.tsv Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && printf '#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n' | $(CC) $(CPPFLAGS) $($*_CPPFLAGS) -E - | \
	    python3 $(srcdir)/addons/mpi/generate.py $(srcdir)/addons/mpi/functions.tsv $(@D)

# A file in addons/mpi/test is a program of each MPI. automake does not know them, since it would want all their names.
mpi_test_names = between cancel continue crowd dies errors groups late mixed onesided peers plain region streams suspend tool unaware waits
mpi_test_names_of_mpich = four
mpi_test_names_of_openmpi = spawn yields
# With libabtio on the same streams.
if HAVE_IO
mpi_test_names += idle
endif
# With libabtomp.
if HAVE_ABTOMP
mpi_test_names += members tasks
endif
# For MPIs that have a Fortran compiler.
mpi_test_names_of_fortran = fortran
mpi_tests = $(foreach mpi,$(mpis),$(addprefix addons/mpi/test/$(mpi)/,$(mpi_test_names) $(mpi_test_names_of_$(mpi)) \
	$(if $($(mpi)_FORT),$(mpi_test_names_of_fortran))))
mpi_test_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/addons/mpi/include -I$(srcdir)/addons/mpi/test -I$(srcdir)/addons/io/include
# A program is linked with libabt even if it calls nothing there, but for one that knows nothing of it.
mpi_test_needed = -Wl,--no-as-needed
mpi_test_needs = addons/mpi/test/job.h test/tap.h test/watchdog.h test/sanitizers.h libabt.la

define mpi_rules
$$(libabtmpi_$(1)_la_OBJECTS): mpi/$(1)/wrappers.c
addons/mpi/test/$(1)/%: addons/mpi/test/%.c $$(mpi_test_needs) libabtmpi-$(1).la
	$$(AM_V_CC)$$(MKDIR_P) $$(@D) && $$(CC) $$(mpi_test_cppflags) $$($(1)_CPPFLAGS) -DJOB_RUN='"$$($(1)_RUN)"' $$(CPPFLAGS) \
	    $$(AM_CFLAGS) $$(CFLAGS) $$(mpi_test_cflags) -c -o $$@.o $$<
	$$(AM_V_CCLD)$$(LINK) $$(mpi_test_needed) $$@.o $$(filter %.o,$$^) libabtmpi-$(1).la libabt.la $$(mpi_test_libs) \
	    $$($(1)_LIBS) $$(LIBS)
addons/mpi/test/$(1)/late addons/mpi/test/$(1)/unaware: private mpi_test_needed = -Wl,--as-needed
addons/mpi/test/$(1)/idle: libabtio.la
addons/mpi/test/$(1)/idle: private mpi_test_libs = libabtio.la
addons/mpi/test/$(1)/members addons/mpi/test/$(1)/tasks: .libs/abtomp/libgomp.so.1
addons/mpi/test/$(1)/members addons/mpi/test/$(1)/tasks: private mpi_test_cflags = $$(OPENMP_CFLAGS)
addons/mpi/test/$(1)/members addons/mpi/test/$(1)/tasks: private mpi_test_libs = $$(OPENMP_CFLAGS) '-Wl,-rpath,$$(abs_builddir)/.libs/abtomp'
addons/mpi/test/$(1)/fortran: addons/mpi/test/$(1)/fortran_77.o addons/mpi/test/$(1)/fortran_08.o
addons/mpi/test/$(1)/fortran: private mpi_test_libs = $$($(1)_FORT_LIBS)
addons/mpi/test/$(1)/%.o: addons/mpi/test/%.f
	$$(AM_V_GEN)$$(MKDIR_P) $$(@D) && $$($(1)_FORT) -g -O1 -c -o $$@ $$<
addons/mpi/test/$(1)/%.o: addons/mpi/test/%.f90
	$$(AM_V_GEN)$$(MKDIR_P) $$(@D) && $$($(1)_FORT) -g -O1 -c -o $$@ $$<
endef
$(foreach mpi,$(mpis),$(eval $(call mpi_rules,$(mpi))))
$(eval CLEANFILES += $(foreach mpi,$(mpis),mpi/$(mpi)/wrappers.c mpi/$(mpi)/real.h))
$(eval test_programs += $(mpi_tests))
$(eval check_PROGRAMS += $(mpi_tests))
