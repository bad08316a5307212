#!/bin/sh
# Makes configure and Makefile.in from configure.ac and Makefile.am.
set -eu
cd "$(dirname "$0")"
exec autoreconf -fi "$@"
