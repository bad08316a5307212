# SPDX-License-Identifier: BSD-3-Clause
"""Lightweight threads for runtimes. `python -m libabt` says what libabt serves in a process of Python."""
import pathlib

__version__ = "@VERSION@"

PREFIX = pathlib.Path(__file__).resolve().parent / "prefix"


def get_include():
    """The directory of abt.h and abtio.h."""
    return str(PREFIX / "include")


def get_library():
    """The directory of libabt.so.1, libabtio.so.1, and abtomp/ with the libraries for OpenMP."""
    return str(PREFIX / "lib")
