# SPDX-License-Identifier: BSD-3-Clause
"""The commands that the wheel installs: each becomes the program of that name in prefix/bin."""
import os
import sys

from . import PREFIX, get_library


def become(interpreter, name, *arguments):
    program = str(PREFIX / "bin" / name)
    words = [*interpreter, program, *arguments, *sys.argv[1:]]
    os.execv(words[0], words)


def info():
    become([], "abt-info")


def run():
    become(["/bin/sh"], "abt-run", "--libdir", get_library())


def top():
    become([sys.executable], "abt-top")
