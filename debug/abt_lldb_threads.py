# SPDX-License-Identifier: BSD-3-Clause
"""The plug-in for lldb by which units stand in its list of threads, see libabt_lldb.py, which loads it."""
import struct

from abt_model import CPUS
from libabt_lldb import SHOWN


class OperatingSystemPlugIn:
    """What lldb calls; its names are lldb's."""

    def __init__(self, process):
        self.process = process
        self.cpu = CPUS[process.GetTarget().GetTriple().split("-")[0]]

    def get_thread_info(self):
        """Units are shown until the process goes on."""
        for unit in [unit for unit, (_, _, stop) in SHOWN.items() if stop != self.process.GetStopID()]:
            del SHOWN[unit]
        return [{"tid": unit, "name": name, "queue": "libabt", "state": "stopped", "stop_reason": "none"}
                for unit, (name, _, _) in SHOWN.items()]

    def get_register_info(self):
        cpu, registers = self.cpu, []
        roles = {cpu.pc: "pc", cpu.sp: "sp", cpu.fp: "fp"}
        for i, (name, number) in enumerate(cpu.dwarf.items()):
            registers.append({"name": name, "bitsize": 64, "offset": 8 * i, "encoding": "uint", "format": "hex",
                              "set": 0, "gcc": number, "dwarf": number})
            if name in roles:
                registers[-1]["generic"] = roles[name]
        return {"sets": ["registers"], "registers": registers}

    def get_register_data(self, tid):
        registers = SHOWN[tid][1]
        return struct.pack(f"<{len(self.cpu.dwarf)}Q", *(registers[name] for name in self.cpu.dwarf))
