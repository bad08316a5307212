# libabtomp: OpenMP for unchanged programs, in place of libgomp.so.1. It uses the public headers,
# and has the policy of thieves in common with the library.

# Beside the library is a directory with the names by which programs ask for it, to be set as LD_LIBRARY_PATH. The file
# itself is there, and the library's own names are links to it: programs that look for OpenMP among the loaded files, as
# threadpoolctl does, go by the real name.
abtompdir = $(libdir)/abtomp
# The names by which programs of clang, and of Intel's compilers, ask for it.
abtomp_links = libomp.so.5 libiomp5.so

if HAVE_ABTOMP
lib_LTLIBRARIES += libabtomp.la

libabtomp_la_SOURCES = \
	addons/openmp/src/api/affinity.c \
	addons/openmp/src/api/alloc.c \
	addons/openmp/src/api/api.c \
	addons/openmp/src/api/device.c \
	addons/openmp/src/api/lock.c \
	addons/openmp/src/api/routines.h \
	addons/openmp/src/export.h \
	addons/openmp/src/gomp/gomp.h \
	addons/openmp/src/gomp/loop.c \
	addons/openmp/src/gomp/region.c \
	addons/openmp/src/gomp/sections.c \
	addons/openmp/src/gomp/target.c \
	addons/openmp/src/gomp/task.c \
	addons/openmp/src/icv/affinity.c \
	addons/openmp/src/icv/icv.c \
	addons/openmp/src/icv/icv.h \
	addons/openmp/src/icv/places.c \
	addons/openmp/src/icv/places.h \
	addons/openmp/src/kmp/atomic.c \
	addons/openmp/src/kmp/doacross.c \
	addons/openmp/src/kmp/doacross.h \
	addons/openmp/src/kmp/environment.c \
	addons/openmp/src/kmp/environment.h \
	addons/openmp/src/kmp/kmp.h \
	addons/openmp/src/kmp/loop.c \
	addons/openmp/src/kmp/object.c \
	addons/openmp/src/kmp/reduce.c \
	addons/openmp/src/kmp/region.c \
	addons/openmp/src/kmp/routines.c \
	addons/openmp/src/kmp/task.c \
	addons/openmp/src/kmp/threadprivate.c \
	addons/openmp/src/loop/ordered.c \
	addons/openmp/src/loop/range.c \
	addons/openmp/src/loop/range.h \
	addons/openmp/src/loop/share.c \
	addons/openmp/src/loop/share.h \
	addons/openmp/src/omp.h \
	addons/openmp/src/ompt/event.c \
	addons/openmp/src/ompt/inquiry.c \
	addons/openmp/src/ompt/ompt.h \
	addons/openmp/src/ompt/start.c \
	addons/openmp/src/ompt/tool.h \
	addons/openmp/src/sync/barrier.c \
	addons/openmp/src/sync/cancel.c \
	addons/openmp/src/sync/number.c \
	addons/openmp/src/sync/wait.c \
	addons/openmp/src/task/crew.c \
	addons/openmp/src/task/depend.c \
	addons/openmp/src/task/deque.c \
	addons/openmp/src/task/group.c \
	addons/openmp/src/task/relief.c \
	addons/openmp/src/task/relief.h \
	addons/openmp/src/task/task.c \
	addons/openmp/src/task/taskloop.c \
	addons/openmp/src/task/tasks.h \
	addons/openmp/src/team/parallel.c \
	addons/openmp/src/team/root.c \
	addons/openmp/src/team/self.c \
	addons/openmp/src/team/serial.c \
	addons/openmp/src/team/serial.h \
	addons/openmp/src/team/team.c \
	addons/openmp/src/team/verdict.c \
	addons/openmp/src/team/watch.c \
	src/pool/thief_policy.c \
	src/pool/thief_policy.h
libabtomp_la_CPPFLAGS = -D_GNU_SOURCE -Iinclude -I$(srcdir)/include -Iaddons/openmp/src -I$(srcdir)/addons/openmp/src -I$(srcdir)/src \
	$(abtomp_CPPFLAGS) $(addon_delays)
if ASSERT
libabtomp_la_CPPFLAGS += -DABTOMP_BUILD_ASSERT=1
endif
libabtomp_la_CFLAGS = $(AM_CFLAGS) $(LIB_CFLAGS) -fvisibility=hidden
libabtomp_la_LDFLAGS = -shared -version-info 1:0:0 -no-undefined -Wl,--as-needed -Wl,-z,nodelete $(LDFLAGS_DEFS) \
	-Wl,--version-script=$(srcdir)/addons/openmp/src/gomp/abtomp.map '-Wl,-rpath,$$ORIGIN:$$ORIGIN/..' $(link_with_libabt)
libabtomp_la_DEPENDENCIES = libabt.la addons/openmp/src/gomp/abtomp.map

# Each GOMP_ and omp_ function has a second version, by which programs of clang ask for it. A file that defines some
# includes a list of both versions of those. To make the list the file is compiled with an empty one.
abtomp_versions = \
	addons/openmp/src/api/affinity.versions.h \
	addons/openmp/src/api/alloc.versions.h \
	addons/openmp/src/api/api.versions.h \
	addons/openmp/src/api/device.versions.h \
	addons/openmp/src/api/lock.versions.h \
	addons/openmp/src/gomp/loop.versions.h \
	addons/openmp/src/gomp/region.versions.h \
	addons/openmp/src/gomp/sections.versions.h \
	addons/openmp/src/gomp/target.versions.h \
	addons/openmp/src/gomp/task.versions.h
$(libabtomp_la_OBJECTS): $(abtomp_versions)
$(abtomp_versions): %.versions.h: %.c addons/openmp/src/gomp/abtomp.map addons/openmp/src/gomp/versions.awk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && : > $@ && \
	  $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(libabtomp_la_CPPFLAGS) $(CPPFLAGS) $(libabtomp_la_CFLAGS) $(CFLAGS) -O0 \
	    -fno-lto -w -S -o $@.s "$<" && \
	  $(AWK) -f $(srcdir)/addons/openmp/src/gomp/versions.awk $(srcdir)/addons/openmp/src/gomp/abtomp.map $@.s > $@.new && \
	  mv $@.new $@ && rm -f $@.s
CLEANFILES += $(abtomp_versions)

# The name of the file that libtool makes.
abtomp_file = $$(sed -n "s/^library_names='\([^ ]*\).*/\1/p" libabtomp.la)

# The same beside the library that has been built, for the tests: a second name of the file, which libtool needs.
all-local: .libs/abtomp/libgomp.so.1
.libs/abtomp/libgomp.so.1: libabtomp.la
	$(AM_V_GEN)$(MKDIR_P) .libs/abtomp && ln -f .libs/$(abtomp_file) $@ && touch $@ && \
	for each in $(abtomp_links); do ln -sf libgomp.so.1 .libs/abtomp/$$each; done

install-abtomp: install-libLTLIBRARIES
	$(MKDIR_P) "$(DESTDIR)$(abtompdir)"
	file=$(abtomp_file) && cd "$(DESTDIR)$(libdir)" && mv -f $$file abtomp/libgomp.so.1 && \
	  ln -s abtomp/libgomp.so.1 $$file && \
	  for each in $(abtomp_links); do ln -sf libgomp.so.1 abtomp/$$each; done

# The tests are programs like any other: compiled with OpenMP, and linked with libgomp. They find libabtomp in its place.
openmp_tests = \
	addons/openmp/test/atomics \
	addons/openmp/test/blas \
	addons/openmp/test/calls \
	addons/openmp/test/cancel \
	addons/openmp/test/constructor \
	addons/openmp/test/environment \
	addons/openmp/test/kmp \
	addons/openmp/test/loops \
	addons/openmp/test/nested \
	addons/openmp/test/nested_tls \
	addons/openmp/test/places \
	addons/openmp/test/plugin \
	addons/openmp/test/regions \
	addons/openmp/test/roots \
	addons/openmp/test/routines \
	addons/openmp/test/shortage \
	addons/openmp/test/smalltasks \
	addons/openmp/test/targets \
	addons/openmp/test/taskgraph \
	addons/openmp/test/tasks \
	addons/openmp/test/tools \
	addons/openmp/test/unused

if HAVE_IO
openmp_tests += \
	addons/openmp/test/io \
	addons/openmp/test/waits
endif

openmp_test_link = $(CCLD) $(AM_CFLAGS) $(CFLAGS) $(OPENMP_CFLAGS) $(LDFLAGS) -o $@ \
	'-Wl,-rpath,$$ORIGIN/../../../.libs/abtomp'
openmp_test_cflags = $(AM_CFLAGS) $(OPENMP_CFLAGS)
$(openmp_tests): .libs/abtomp/libgomp.so.1
addons_openmp_test_atomics_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_atomics_LINK = $(openmp_test_link)
addons_openmp_test_atomics_LDADD =
addons_openmp_test_calls_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_calls_LINK = $(openmp_test_link)
addons_openmp_test_calls_LDADD =
addons_openmp_test_cancel_SOURCES = addons/openmp/test/cancel.c addons/openmp/test/tasks.h
addons_openmp_test_cancel_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_cancel_LINK = $(openmp_test_link)
addons_openmp_test_cancel_LDADD =
addons_openmp_test_environment_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_environment_LINK = $(openmp_test_link)
addons_openmp_test_environment_LDADD =
addons_openmp_test_routines_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_routines_LINK = $(openmp_test_link)
addons_openmp_test_routines_LDADD =
addons_openmp_test_loops_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_loops_LINK = $(openmp_test_link)
addons_openmp_test_loops_LDADD =
addons_openmp_test_nested_SOURCES = addons/openmp/test/nested.c addons/openmp/test/tasks.h addons/openmp/test/modes.h
addons_openmp_test_nested_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_nested_LINK = $(openmp_test_link)
addons_openmp_test_nested_LDADD =
addons_openmp_test_nested_tls_SOURCES = addons/openmp/test/nested_tls.c addons/openmp/test/modes.h
addons_openmp_test_nested_tls_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_nested_tls_LINK = $(openmp_test_link)
addons_openmp_test_nested_tls_LDADD =
addons_openmp_test_regions_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_regions_LINK = $(openmp_test_link)
addons_openmp_test_regions_LDADD =
addons_openmp_test_smalltasks_SOURCES = addons/openmp/test/smalltasks.c addons/openmp/test/tasks.h
addons_openmp_test_smalltasks_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_smalltasks_LINK = $(openmp_test_link)
addons_openmp_test_smalltasks_LDADD =
addons_openmp_test_tasks_SOURCES = addons/openmp/test/tasks.c addons/openmp/test/tasks.h
addons_openmp_test_tasks_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_tasks_LINK = $(openmp_test_link)
addons_openmp_test_tasks_LDADD =
addons_openmp_test_targets_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_targets_LINK = $(openmp_test_link)
addons_openmp_test_targets_LDADD =
addons_openmp_test_taskgraph_SOURCES = addons/openmp/test/taskgraph.c addons/openmp/test/tasks.h
addons_openmp_test_taskgraph_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_taskgraph_LINK = $(openmp_test_link)
addons_openmp_test_taskgraph_LDADD =
addons_openmp_test_roots_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_roots_LINK = $(openmp_test_link)
addons_openmp_test_roots_LDADD =
# These call libabtio, too.
openmp_test_io_link = $(openmp_test_link) '-Wl,-rpath,$$ORIGIN/../../../.libs' -L.libs
addons_openmp_test_io_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_io_LINK = $(openmp_test_io_link)
addons_openmp_test_io_LDADD = -labtio -labt
addons_openmp_test_io_DEPENDENCIES = libabtio.la libabt.la
addons_openmp_test_waits_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_waits_LINK = $(openmp_test_io_link)
addons_openmp_test_waits_LDADD = -labtio -labt
addons_openmp_test_waits_DEPENDENCIES = libabtio.la libabt.la
# These have functions of the system of their own, which the library is to find.
addons_openmp_test_blas_SOURCES = addons/openmp/test/blas.c addons/openmp/test/modes.h
addons_openmp_test_blas_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_blas_LINK = $(openmp_test_link) -rdynamic
addons_openmp_test_blas_LDADD =
addons_openmp_test_places_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_places_LINK = $(openmp_test_link) -rdynamic
addons_openmp_test_places_LDADD =
# This one has a function of its own that makes threads.
addons_openmp_test_shortage_SOURCES = addons/openmp/test/shortage.c addons/openmp/test/modes.h
addons_openmp_test_shortage_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_shortage_LINK = $(openmp_test_link) -rdynamic
addons_openmp_test_shortage_LDADD =
# This one is a tool that looks at itself, and has an example of a tool look at it. A function that ends with a call would
# be seen to be called from where it was called.
addons_openmp_test_tools_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/addons/openmp/src/ompt
addons_openmp_test_tools_CFLAGS = $(openmp_test_cflags) -fno-optimize-sibling-calls
addons_openmp_test_tools_LINK = $(openmp_test_link) -rdynamic
addons_openmp_test_tools_LDADD =
tools_program = addons/openmp/test/tools$(EXEEXT)
$(tools_program): addons/openmp/examples/profile.so
addons/openmp/examples/profile.so: addons/openmp/examples/profile.c addons/openmp/src/ompt/ompt.h
	$(AM_V_CC)$(MKDIR_P) addons/openmp/examples && $(CC) $(CFLAGS) -O1 -shared -fPIC -I$(srcdir)/addons/openmp/src/ompt -o $@ \
	  $(srcdir)/addons/openmp/examples/profile.c
CLEANFILES += addons/openmp/examples/profile.so
# This one opens a library with a constructor. What that has of libabt is there by then.
addons_openmp_test_constructor_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_constructor_LINK = $(openmp_test_link)
addons_openmp_test_constructor_LDADD =
constructor_program = addons/openmp/test/constructor$(EXEEXT)
$(constructor_program): addons/openmp/test/constructor_library.so
addons/openmp/test/constructor_library.so: addons/openmp/test/constructor_library.c
	$(AM_V_CC)$(MKDIR_P) addons/openmp/test && $(CC) -O1 -shared -fPIC $(OPENMP_CFLAGS) -Iinclude -I$(srcdir)/include \
	  -o $@ $(srcdir)/addons/openmp/test/constructor_library.c
CLEANFILES += addons/openmp/test/constructor_library.so
# This one opens a library that clang has compiled for this machine, if there is one. It is linked with libabtomp itself.
addons_openmp_test_kmp_SOURCES = addons/openmp/test/kmp.c addons/openmp/test/kmp.h
addons_openmp_test_kmp_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_kmp_LINK = $(openmp_test_link)
addons_openmp_test_kmp_LDADD =
kmp_program = addons/openmp/test/kmp$(EXEEXT)
$(kmp_program): addons/openmp/test/kmp_library.so
kmp_sources = addons/openmp/test/kmp_library.c addons/openmp/test/kmp_mixed.c addons/openmp/test/kmp_tasks.c
kmp_objects = $(kmp_sources:.c=.o)
addons/openmp/test/kmp_library.so: $(kmp_sources) addons/openmp/test/kmp.h .libs/abtomp/libgomp.so.1
	$(AM_V_CC)$(MKDIR_P) addons/openmp/test && rm -f $@ && if test $(host) = $(build) && command -v clang >/dev/null; then \
	  for each in kmp_library kmp_mixed kmp_tasks; do \
	    clang -O1 -fPIC -fopenmp -fopenmp-version=51 -c -o addons/openmp/test/$$each.o \
	      $(srcdir)/addons/openmp/test/$$each.c || exit 1; done && \
	  $(CC) -shared -o $@ $(kmp_objects) .libs/abtomp/libgomp.so.1; fi
CLEANFILES += addons/openmp/test/kmp_library.so $(kmp_objects)
# This one binds a function when it is called first: that is never.
addons_openmp_test_unused_SOURCES = addons/openmp/test/unused.c addons/openmp/test/native_threads.h
addons_openmp_test_unused_CFLAGS = $(openmp_test_cflags)
addons_openmp_test_unused_LINK = $(openmp_test_link) -Wl,-z,lazy
addons_openmp_test_unused_LDADD =
# This one is a program without OpenMP. It has a function of the system of its own.
addons_openmp_test_plugin_SOURCES = addons/openmp/test/plugin.c addons/openmp/test/native_threads.h
addons_openmp_test_plugin_LDFLAGS = -rdynamic
addons_openmp_test_plugin_LDADD =
else
install-abtomp:
endif
