# SPDX-License-Identifier: BSD-3-Clause
"""A script that imports this has --help: its own first comment is printed, and it ends. It ends quietly if its reader does."""
import signal
import sys

signal.signal(signal.SIGPIPE, signal.SIG_DFL)

if {"-h", "--help"} & set(sys.argv[1:]):
    print(sys.modules["__main__"].__doc__.strip())
    sys.exit()
