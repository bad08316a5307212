# SPDX-License-Identifier: BSD-3-Clause
"""
lldb and libabt: its units, pools and streams, in a process or a core file. doc/debugging.md shows how to use it.

    command script import .../libabt_lldb.py
    abt
"""
import os
import sys

import lldb

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
BYTECODE_BEFORE = sys.dont_write_bytecode
sys.dont_write_bytecode = True  # nothing is to be left beside the installed files
import abt_model  # noqa: E402
import abt_text  # noqa: E402
sys.dont_write_bytecode = BYTECODE_BEFORE

# The units that stand in the list of threads: handle, (name, registers, when). abt_lldb_threads.py reads it.
SHOWN = {}


class Lldb(abt_model.Debugger):
    """What lldb knows."""

    def __init__(self, target):
        self.target, self.process = target, target.GetProcess()
        if not self.process.GetNumThreads():
            raise abt_model.AbtError("there is neither a process nor a core file")

    def read(self, address, size):
        error, data = lldb.SBError(), None
        if 0 < address < 1 << 63:
            data = self.process.ReadMemory(address, size, error)
            if not data:  # a core file lacks what the program's files have
                data = self.target.ReadMemory(self.target.ResolveLoadAddress(address), size, error)
        if not data or len(data) != size:
            raise abt_model.AbtError(f"memory at {address:#x} cannot be read")
        return data

    def symbol(self, name):
        for context in self.target.FindSymbols(name):
            address = context.GetSymbol().GetStartAddress().GetLoadAddress(self.target)
            if address != lldb.LLDB_INVALID_ADDRESS:
                return address
        return None

    def writable_ranges(self):
        for module in self.target.module_iter():
            for section in module.section_iter():
                if section.GetName().startswith(".data"):
                    yield section.GetLoadAddress(self.target), section.GetByteSize()

    def name(self, address):
        where = self.target.ResolveLoadAddress(address)
        symbol = where.GetSymbol()
        if not symbol or symbol.IsSynthetic():
            return None
        offset = address - symbol.GetStartAddress().GetLoadAddress(self.target)
        return symbol.GetName() + (f"+{offset}" if offset else "")

    def module(self, address):
        return self.target.ResolveLoadAddress(address).GetModule().GetFileSpec().fullpath

    def threads(self):
        cpu = abt_model.CPUS[self.machine()]
        for thread in self.process:
            if thread.GetThreadID() not in SHOWN:
                frame = thread.GetFrameAtIndex(0)
                pthread = frame.FindRegister(cpu.thread).GetValueAsUnsigned() # 0: lldb has no such register
                yield thread.GetIndexID(), pthread, frame.GetSP()

    def machine(self):
        name = self.target.GetTriple().split("-")[0]
        if name not in abt_model.CPUS or not abt_model.CPUS[name].dwarf:
            raise abt_model.AbtError(f"contexts of {name} are not known")
        return name


def refresh(debugger):
    """lldb asks for the list of threads anew when it is told where the plug-in is."""
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "abt_lldb_threads.py")
    debugger.HandleCommand(f"settings set target.process.python-os-plugin-path {path}")


def ult(debugger, model, word):
    """Shows a unit as one more thread: abt ult N | HANDLE; all are removed by abt ult off."""
    if word == "off":
        SHOWN.clear()
        refresh(debugger)
        return
    unit = model.find(word)
    if not unit:
        raise abt_model.AbtError(f"there is no unit {word}")
    yield abt_text.describe(model, unit)
    process = model.debugger.process
    SHOWN[unit.address] = f"{unit.kind()} {unit.label()}", abt_text.registers(model, unit), process.GetStopID()
    refresh(debugger)
    process.SetSelectedThreadByID(unit.address)
    yield from str(process.GetThreadByID(unit.address)).splitlines()


def abt(debugger, line, context, result, _):
    """Units, pools and execution streams of libabt."""
    word, _, argument = line.strip().partition(" ")
    try:
        if word not in abt_text.COMMANDS and word != "ult":
            for name, command in [*abt_text.COMMANDS.items(), ("ult", ult)]:
                result.AppendMessage(f"abt {name} -- {command.__doc__}")
            return
        model = abt_model.Model(Lldb(context.GetTarget()))
        lines = ult(debugger, model, argument) if word == "ult" else abt_text.COMMANDS[word](model, argument)
        for text in lines:
            result.AppendMessage(text)
    except abt_model.AbtError as error:
        result.SetError(f"abt: {error}")


def __lldb_init_module(debugger, _):
    debugger.HandleCommand(f"command script add -f {__name__}.abt abt")
