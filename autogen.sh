#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes configure and Makefile.in from configure.ac and Makefile.am.
set -eu
cd "$(dirname "$0")"
. maint/lib.sh
for tool in autoreconf:autoconf automake:automake libtoolize:libtool m4:m4; do
    command -v "${tool%:*}" > /dev/null && continue
    say "autogen.sh: ${tool%:*} is not installed. Please run:" >&2
    install_lines autoconf automake libtool m4 >&2
    exit 1
done
exec autoreconf -fi "$@"
