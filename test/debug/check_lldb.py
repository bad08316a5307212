# SPDX-License-Identifier: BSD-3-Clause
"""For maint/check-gdb, in lldb: test/debug/blocked stands in `stopped`, or this is its core file. See expect.py."""
import os
import sys

import lldb

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import expect  # noqa: E402


def run(debugger, command):
    result = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(command, result)
    return result


def number(value):
    return value.GetValueAsUnsigned()


def text(target, value):
    data = target.ReadMemory(target.ResolveLoadAddress(number(value)), 32, lldb.SBError())
    return data.split(b"\0")[0].decode()


def expected_units(target):
    table = target.FindFirstGlobalVariable("expected")
    for i in range(number(target.FindFirstGlobalVariable("num_expected"))):
        row = table.GetChildAtIndex(i)
        handle, function, state, waits, mark = (row.GetChildAtIndex(j) for j in range(5))
        yield (number(handle), text(target, function), text(target, state), text(target, waits),
               mark.GetValueAsSigned())


def check_unit(debugger, unit):
    run(debugger, f"abt ult {unit[0]:#x}")
    thread, mark = debugger.GetSelectedTarget().GetProcess().GetSelectedThread(), None
    found = list(thread)
    for frame in found:
        if frame.GetFunctionName() == unit[1]:
            mark = frame.FindVariable("mark").GetValueAsSigned()
    expect.check_frames(unit, [frame.GetFunctionName() for frame in found], mark)
    run(debugger, "abt ult off")


def __lldb_init_module(debugger, _):
    target = debugger.GetSelectedTarget()
    threads = target.GetProcess().GetNumThreads()
    units = list(expected_units(target))

    def lines(command):
        return (run(debugger, command).GetOutput() or "").splitlines()

    expect.check_list(lines, units)
    for unit in units:
        if unit[2] == "blocked":
            check_unit(debugger, unit)
    expect.check_in_place(number(target.FindFirstGlobalVariable("num_in_place")))
    expect.check_pools(lines, units, number(target.FindFirstGlobalVariable("idle_pool")))
    expect.check_streams(lines)
    expect.check_waits(lines, units)
    expect.check_refusals(lambda command: run(debugger, command).GetError() or "", units)
    expect.check(target.GetProcess().GetNumThreads() == threads, "abt ult off")
    expect.report()
