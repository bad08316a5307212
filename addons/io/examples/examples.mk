# Examples of libabtio, built with everything else, or alone by "make io-examples". Those that need OpenSSL are built
# where configure found it. maint/check-io-examples tests them.

if HAVE_IO
io_example_programs = addons/io/examples/copy addons/io/examples/echo
addons_io_examples_echo_LDADD = libabtio.la libabt.la
addons_io_examples_echo_LDFLAGS = $(example_ldflags)
addons_io_examples_copy_LDADD = libabtio.la libabt.la
addons_io_examples_copy_LDFLAGS = $(example_ldflags)
if HAVE_OPENSSL
io_example_programs += addons/io/examples/file_server addons/io/examples/write_files

addons_io_examples_file_server_SOURCES = addons/io/examples/file_server.c addons/io/examples/answer.c \
	addons/io/examples/answer.h addons/io/examples/http.c addons/io/examples/http.h addons/io/examples/stream.c \
	addons/io/examples/stream.h
addons_io_examples_file_server_CPPFLAGS = $(AM_CPPFLAGS)
addons_io_examples_file_server_LDADD = libabtio.la libabt.la $(openssl_LIBS) -lssl -lcrypto
addons_io_examples_file_server_LDFLAGS = $(example_ldflags)

addons_io_examples_write_files_CPPFLAGS = $(AM_CPPFLAGS)
addons_io_examples_write_files_LDADD = libabtio.la libabt.la $(openssl_LIBS)
addons_io_examples_write_files_LDFLAGS = $(example_ldflags)
endif
noinst_PROGRAMS += $(io_example_programs)
endif

# Installed with a makefile of their own.
installed_io_examples = addons/io/examples/Makefile addons/io/examples/README.md addons/io/examples/answer.c \
	addons/io/examples/answer.h addons/io/examples/copy.c addons/io/examples/echo.c addons/io/examples/file_server.c \
	addons/io/examples/http.c addons/io/examples/http.h addons/io/examples/stream.c addons/io/examples/stream.h \
	addons/io/examples/write_files.c

io-examples: $(io_example_programs)

.PHONY: io-examples
