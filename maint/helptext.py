# SPDX-License-Identifier: BSD-3-Clause
"""A script that imports this has --help: its own first comment is printed, and the script ends."""
import sys

if {"-h", "--help"} & set(sys.argv[1:]):
    print(sys.modules["__main__"].__doc__.strip())
    sys.exit()
