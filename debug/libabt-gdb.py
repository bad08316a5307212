# SPDX-License-Identifier: BSD-3-Clause
"""
gdb and libabt: its units, pools and streams, in a process or a core file. doc/debugging.md shows how to use it.

    source .../libabt-gdb.py      where gdb does not load it by itself
    help abt
"""
import os
import sys
import time

import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator


def find_modules():
    """The rest of the script lies beside this file, or in libabt/ of the same share/ directory."""
    place = os.path.dirname(os.path.realpath(__file__))
    while True:
        for directory in place, os.path.join(place, "libabt"):
            if os.path.exists(os.path.join(directory, "abt_model.py")):
                return directory
        if place == os.path.dirname(place):
            raise ImportError("abt_model.py of libabt is not there")
        place = os.path.dirname(place)


if find_modules() not in sys.path:
    sys.path.insert(0, find_modules())
BYTECODE_BEFORE = sys.dont_write_bytecode
sys.dont_write_bytecode = True  # nothing is to be left beside the installed files
import abt_core  # noqa: E402
import abt_model  # noqa: E402
import abt_text  # noqa: E402
sys.dont_write_bytecode = BYTECODE_BEFORE


class Gdb(abt_model.Debugger):
    """What gdb knows."""

    machines = {"i386:x86-64": "x86_64", "aarch64": "aarch64", "riscv:rv64": "riscv64"}

    def __init__(self):
        if not gdb.selected_inferior().threads():
            raise abt_model.AbtError("there is neither a process nor a core file")

    def read(self, address, size):
        try:
            return bytes(gdb.selected_inferior().read_memory(address, size))
        except (gdb.error, OverflowError):
            raise abt_model.AbtError(f"memory at {address:#x} cannot be read") from None

    def symbol(self, name):
        try:
            return int(gdb.parse_and_eval(f"(unsigned long)&{name}"))
        except gdb.error:
            return None

    def writable_ranges(self):
        for line in gdb.execute("info files", to_string=True).splitlines():
            words = line.split()
            if len(words) >= 5 and words[1] == "-" and words[3] == "is" and words[4].startswith(".data"):
                yield int(words[0], 16), int(words[2], 16) - int(words[0], 16)

    def name(self, address):
        text = gdb.execute(f"info symbol {address:#x}", to_string=True)
        if text.startswith("No symbol"):
            return None
        return text.split(" in section ")[0].replace(" + ", "+")

    def module(self, address):
        return gdb.solib_name(address) or gdb.current_progspace().filename

    def threads(self):
        selected = gdb.selected_thread()
        frame = gdb.selected_frame() if selected else None
        cpu = abt_model.CPUS[self.machine()]
        try:
            for thread in gdb.selected_inferior().threads():
                thread.switch()
                newest = gdb.newest_frame()
                yield thread.num, self.value(newest, cpu.thread), self.value(newest, cpu.sp)
        finally:
            if selected:
                selected.switch()
                frame.select()

    @staticmethod
    def value(frame, register):
        if register is None:
            return 0
        try:
            return int(frame.read_register(register)) & (1 << 64) - 1
        except (gdb.error, ValueError):
            return 0

    def machine(self):
        name = gdb.selected_inferior().architecture().name()
        if name == "powerpc:common64":
            return "ppc64le" if "little endian" in gdb.execute("show endian", to_string=True) else "ppc64"
        if name not in self.machines:
            raise abt_model.AbtError(f"contexts of {name} are not known")
        return self.machines[name]

    def now_ns(self):
        connection = gdb.selected_inferior().connection if hasattr(gdb.Inferior, "connection") else None
        return time.monotonic_ns() if connection and connection.type == "native" else None


class Shown:
    """The unit that the selected thread shows instead of itself; `thread` is None while there is none."""

    thread, sp, pc, registers, title = None, 0, 0, {}, ""

    @classmethod
    def show(cls, registers, title):
        cpu = abt_model.CPUS[Gdb().machine()]
        cls.hide()
        frame = gdb.newest_frame()
        cls.sp, cls.pc = int(frame.read_register(cpu.sp)), int(frame.read_register(cpu.pc))
        cls.thread, cls.registers, cls.title = gdb.selected_thread().ptid, registers, title
        gdb.invalidate_cached_frames()

    @classmethod
    def hide(cls):
        if cls.thread:
            cls.thread = None
            gdb.invalidate_cached_frames()


class UnitUnwinder(gdb.unwinder.Unwinder):
    """Below the innermost frame of a thread that shows a unit lie the unit's frames."""

    class FrameId:
        def __init__(self, sp, pc):
            self.sp, self.pc = sp, pc

    def __init__(self):
        super().__init__("libabt")

    def __call__(self, pending_frame):
        if not Shown.thread or gdb.selected_thread() is None or gdb.selected_thread().ptid != Shown.thread:
            return None
        cpu = abt_model.CPUS[Gdb().machine()]
        sp, pc = pending_frame.read_register(cpu.sp), pending_frame.read_register(cpu.pc)
        if int(sp) != Shown.sp or int(pc) != Shown.pc:
            return None
        # gdb takes a frame for corrupt whose stack lies lower than that of the frame below.
        sp = gdb.Value(Shown.registers[cpu.sp] - cpu.size).cast(sp.type)
        info = pending_frame.create_unwind_info(self.FrameId(sp, pc))
        for name, value in Shown.registers.items():
            register = pending_frame.read_register(name)
            info.add_saved_register(name, gdb.Value(value).cast(register.type))
        return info


class UnitFrame(FrameDecorator):
    """The innermost frame of a thread that shows a unit."""

    def function(self):
        return f"<{Shown.title}>"

    def address(self):
        return None

    def filename(self):
        return None

    def line(self):
        return None

    def frame_args(self):
        return None


class UnitFrameFilter:
    """Gives that frame its name in backtraces."""

    def __init__(self):
        self.name, self.priority, self.enabled = "libabt", 100, True
        gdb.frame_filters[self.name] = self

    @staticmethod
    def filter(frames):
        for frame in frames:
            is_first = Shown.thread and frame.inferior_frame().level() == 0
            yield UnitFrame(frame) if is_first and gdb.selected_thread().ptid == Shown.thread else frame


class Command(gdb.Command):
    """A command that prints lines of text."""

    def __init__(self, name, help_text):
        self.__doc__ = help_text
        super().__init__(f"abt {name}", gdb.COMMAND_STATUS)
        self.word = name

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        try:
            for line in abt_text.COMMANDS[self.word](abt_model.Model(Gdb()), argument.strip()):
                gdb.write(line + "\n")
        except abt_model.AbtError as error:
            raise gdb.GdbError(f"abt: {error}") from None


class AbtCommand(gdb.Command):
    """Units, pools and execution streams of libabt."""

    def __init__(self):
        super().__init__("abt", gdb.COMMAND_STATUS, prefix=True)


class UltCommand(gdb.Command):
    """Shows a unit in the place of the selected thread: backtrace, frame, up, info locals.
Usage: abt ult N | HANDLE | EXPRESSION | off
N is what `abt ults' calls it. `abt ult off' shows the thread again; so does going on."""

    def __init__(self):
        super().__init__("abt ult", gdb.COMMAND_STACK)

    @staticmethod
    def find(model, text):
        unit = model.find(text)
        if not unit and not text.isdigit():
            try:
                unit = model.find(hex(int(gdb.parse_and_eval(text))))
            except gdb.error:
                pass
        if not unit:
            raise abt_model.AbtError(f"there is no unit {text}")
        return unit

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        text = argument.strip()
        if not text:
            gdb.write(f"thread {gdb.selected_thread().num} shows {Shown.title}\n" if Shown.thread
                      else "no unit is shown\n")
            return
        if text == "off":
            Shown.hide()
            return
        try:
            model = abt_model.Model(Gdb())
            unit = self.find(model, text)
            title = abt_text.describe(model, unit)
            gdb.write(title + "\n")
            registers = abt_text.registers(model, unit)
        except abt_model.AbtError as error:
            raise gdb.GdbError(f"abt: {error}") from None
        Shown.show(registers, f"{unit.kind()} {unit.label()}")
        self.select_frame(model.layout.rt, from_tty)

    @staticmethod
    def select_frame(in_library, from_tty):
        """The innermost frame that is not the library's, if that can be told."""
        library = gdb.solib_name(in_library)
        first = frame = gdb.newest_frame().older()
        while frame and library and gdb.solib_name(frame.pc()) == library:
            frame = frame.older()
        if frame or first:
            (frame or first).select()
            gdb.execute("frame", from_tty)


class GcoreCommand(gdb.Command):
    """Writes a core file as `gcore' does, with the stacks of all ULTs, of which `gcore' loses some.
Usage: abt gcore [FILE]"""

    def __init__(self):
        super().__init__("abt gcore", gdb.COMMAND_FILES, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        path = os.path.expanduser(argument.strip()) or f"core.{gdb.selected_inferior().pid}"
        try:
            warnings = gdb.execute(f"generate-core-file {path}", to_string=True)
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from None
        abt_core.mend(path, warnings, Gdb().read)
        gdb.write(f"Saved corefile {path}\n")


def begin():
    """Once, also if several libraries or a user load the script."""
    if getattr(gdb, "libabt_commands", None):
        return
    gdb.libabt_commands = True
    AbtCommand()
    UltCommand()
    GcoreCommand()
    for name, function in abt_text.COMMANDS.items():
        Command(name, function.__doc__)
    gdb.unwinder.register_unwinder(None, UnitUnwinder(), replace=True)
    UnitFrameFilter()
    for event in gdb.events.cont, gdb.events.exited:
        event.connect(lambda _: Shown.hide())


begin()
