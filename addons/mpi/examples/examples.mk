# Examples of libabtmpi, built with everything else for each MPI that configure found, or alone by "make mpi-examples".
# maint/check-mpi-examples tests them.

mpi_example_common = addons/mpi/examples/common.c addons/mpi/examples/common.h $(team)
mpi_example_uts = addons/mpi/examples/uts.c examples/uts_tree.c examples/uts_tree.h $(mpi_example_common)
mpi_example_stencil = addons/mpi/examples/stencil.c addons/mpi/examples/wire.c addons/mpi/examples/wire.h \
	$(mpi_example_common)
mpi_example_gauss = addons/mpi/examples/gauss.c
mpi_example_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/examples
mpi_example_programs =

if HAVE_OPENMPI
mpi_example_programs += addons/mpi/examples/stencil_openmpi
addons_mpi_examples_stencil_openmpi_SOURCES = $(mpi_example_stencil)
addons_mpi_examples_stencil_openmpi_CPPFLAGS = $(mpi_example_cppflags) $(openmpi_CPPFLAGS)
addons_mpi_examples_stencil_openmpi_LDFLAGS = $(example_ldflags)
addons_mpi_examples_stencil_openmpi_LDADD = libabt.la $(openmpi_LIBS)
if HAVE_ABTOMP
mpi_example_programs += addons/mpi/examples/gauss_openmpi
addons_mpi_examples_gauss_openmpi_SOURCES = $(mpi_example_gauss)
addons_mpi_examples_gauss_openmpi_CPPFLAGS = $(openmpi_CPPFLAGS)
addons_mpi_examples_gauss_openmpi_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
addons_mpi_examples_gauss_openmpi_LDFLAGS = $(example_ldflags)
addons_mpi_examples_gauss_openmpi_LDADD = $(openmpi_LIBS)
endif
if HAVE_OPENSSL
mpi_example_programs += addons/mpi/examples/uts_openmpi
addons_mpi_examples_uts_openmpi_SOURCES = $(mpi_example_uts)
addons_mpi_examples_uts_openmpi_CPPFLAGS = $(mpi_example_cppflags) $(openmpi_CPPFLAGS)
addons_mpi_examples_uts_openmpi_LDFLAGS = $(example_ldflags)
addons_mpi_examples_uts_openmpi_LDADD = libabt.la $(openmpi_LIBS) $(openssl_LIBS) -lm
endif
endif

if HAVE_MPICH
mpi_example_programs += addons/mpi/examples/stencil_mpich
addons_mpi_examples_stencil_mpich_SOURCES = $(mpi_example_stencil)
addons_mpi_examples_stencil_mpich_CPPFLAGS = $(mpi_example_cppflags) $(mpich_CPPFLAGS)
addons_mpi_examples_stencil_mpich_LDFLAGS = $(example_ldflags)
addons_mpi_examples_stencil_mpich_LDADD = libabt.la $(mpich_LIBS)
if HAVE_ABTOMP
mpi_example_programs += addons/mpi/examples/gauss_mpich
addons_mpi_examples_gauss_mpich_SOURCES = $(mpi_example_gauss)
addons_mpi_examples_gauss_mpich_CPPFLAGS = $(mpich_CPPFLAGS)
addons_mpi_examples_gauss_mpich_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
addons_mpi_examples_gauss_mpich_LDFLAGS = $(example_ldflags)
addons_mpi_examples_gauss_mpich_LDADD = $(mpich_LIBS)
endif
if HAVE_OPENSSL
mpi_example_programs += addons/mpi/examples/uts_mpich
addons_mpi_examples_uts_mpich_SOURCES = $(mpi_example_uts)
addons_mpi_examples_uts_mpich_CPPFLAGS = $(mpi_example_cppflags) $(mpich_CPPFLAGS)
addons_mpi_examples_uts_mpich_LDFLAGS = $(example_ldflags)
addons_mpi_examples_uts_mpich_LDADD = libabt.la $(mpich_LIBS) $(openssl_LIBS) -lm
endif
endif

noinst_PROGRAMS += $(mpi_example_programs)

mpi-examples: $(mpi_example_programs)

.PHONY: mpi-examples
