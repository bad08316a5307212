# SPDX-License-Identifier: BSD-3-Clause
"""
Mends core files that gdb writes. What the kernel guards (MADV_GUARD_INSTALL) are pages that cannot be read in the
middle of a mapping, and gdb gives up the rest of a mapping at the first of them: it leaves out stacks of ULTs.
"""
import re
import struct

from abt_model import PAGE, AbtError

WARNING = re.compile(r"Memory read failed for corefile section, \d+ bytes at (0x[0-9a-f]+)")
PT_LOAD = 1
ELFDATA2LSB = 1


def segments(core):
    """(address, place in the file, bytes in the file) of each piece of memory."""
    core.seek(0)
    header = core.read(64)
    order = "<" if header[5] == ELFDATA2LSB else ">"
    at, = struct.unpack_from(order + "Q", header, 32)
    size, count = struct.unpack_from(order + "HH", header, 54)
    for i in range(count):
        core.seek(at + i * size)
        kind, _, offset, address, _, length = struct.unpack(order + "IIQQQQ", core.read(40))
        if kind == PT_LOAD:
            yield address, offset, length


def mend(path, warnings, read):
    """Writes what is missing, by `read(address, size)`. Returns how many bytes."""
    missing, written = [int(address, 16) for address in WARNING.findall(warnings)], 0
    with open(path, "r+b") as core:
        for begin, offset, length in list(segments(core)):
            for first in missing:
                if not begin <= first < begin + length:
                    continue
                for address in range(first, begin + length, PAGE):
                    try:
                        data = read(address, PAGE)
                    except AbtError:
                        continue
                    core.seek(offset + address - begin)
                    core.write(data)
                    written += PAGE
    return written
