# SPDX-License-Identifier: BSD-3-Clause
"""Reads libabt's units, pools and streams out of a stopped process or a core file.

Nothing is called in the process, and no debugging information is needed: the library has a table of its layout
(src/watch/layout.h). What a debugger has to offer for that is class Debugger, which a front end derives.
"""
import struct

VERSION = 1
MAGIC = b"libabt's layout\0"
PAGE = 4096
NATIVE = 1 << 20  # bytes that the frames of a native thread may take before it calls the library
READY, RUNNING, BLOCKED, TERMINATED = range(4)
STATES = ("ready", "running", "blocked", "terminated")
EXECUTABLE = b"\x7fELF"


class AbtError(Exception):
    """What is told to the user in one line."""


class Debugger:
    """What the model asks of a debugger."""

    def read(self, address, size):
        """Bytes of memory; AbtError if they cannot be read."""
        raise NotImplementedError

    def symbol(self, name):
        """The address of a symbol of the program or its libraries; None: there is none."""
        raise NotImplementedError

    def writable_ranges(self):
        """(address, size) of each section that may hold the table of a program without symbols."""
        return ()

    def name(self, address):
        """The symbol at or before an address, with "+offset" if it is not there; None: there is none."""
        raise NotImplementedError

    def module(self, address):
        """The file that an address belongs to; None: it is not known."""
        raise NotImplementedError

    def threads(self):
        """(what the user calls it, its pthread_t or 0, its stack pointer) of each native thread."""
        raise NotImplementedError

    def machine(self):
        """A key of CPUS."""
        raise NotImplementedError

    def now_ns(self):
        """CLOCK_MONOTONIC of a process on this machine; None: it is a core file, or elsewhere."""
        return None


class Cpu:
    """A machine: the frame of a suspended context (arch/*/ctx.S), by offsets from its address."""

    def __init__(self, pc, sp, fp, size, saved, thread=None, dwarf=None, code=(1 << 64) - 1):
        self.pc, self.sp, self.fp = pc, sp, fp
        self.size = size      # the stack pointer of who goes on, less the context
        self.saved = saved    # where the frame has each register, pc among them
        self.thread = thread  # the register whose value is the pthread_t; None: there is none
        self.dwarf = dwarf    # the numbers of these and of sp in debugging information; None: lldb is not served
        self.code = code      # the bits of an address of code that are no signature

    def resume(self, memory, ctx):
        """The registers of the context that goes on there."""
        registers = {name: memory.word(ctx + offset) for name, offset in self.saved.items()}
        registers[self.pc] &= self.code
        registers[self.sp] = ctx + self.size
        return registers


def row(prefix, first, last, at):
    """The places of registers with numbers in their names, one behind the other."""
    return {f"{prefix}{first + i}": at + 8 * i for i in range(last - first + 1)}


CPUS = {
    "x86_64": Cpu("rip", "rsp", "rbp", 56, {"r12": 0, "r13": 8, "r14": 16, "r15": 24, "rbx": 32, "rbp": 40, "rip": 48},
                  "fs_base", {"r12": 12, "r13": 13, "r14": 14, "r15": 15, "rbx": 3, "rbp": 6, "rip": 16, "rsp": 7}),
    "aarch64": Cpu("pc", "sp", "x29", 176, {**row("x", 19, 29, 0), "pc": 88}, code=(1 << 48) - 1),
    "ppc64le": Cpu("pc", "r1", "r31", 528, {**row("r", 14, 31, 240), "pc": 528 + 16}),
    "ppc64": Cpu("pc", "r1", "r31", 608, {**row("r", 14, 31, 320), "pc": 608 + 16}),
    "riscv64": Cpu("pc", "sp", "fp", 208, {"pc": 0, "fp": 8, "s1": 16, **row("s", 2, 11, 24)}),
}


class Memory:
    """Memory by pages, each of which is read once: a model lives for one command."""

    def __init__(self, debugger):
        self.debugger, self.pages = debugger, {}
        self.order = "little"  # of the bytes of a number, as the library's table tells

    def page(self, number):
        if number not in self.pages:
            self.pages[number] = self.debugger.read(number * PAGE, PAGE)
        return self.pages[number]

    def read(self, address, size):
        first, last = address // PAGE, (address + size - 1) // PAGE
        try:
            data = b"".join(self.page(number) for number in range(first, last + 1))
        except AbtError:
            return self.debugger.read(address, size)  # what comes from a program's file may be no whole page
        return data[address % PAGE:][:size]

    def number(self, address, size):
        return int.from_bytes(self.read(address, size), self.order)

    def word(self, address):
        return self.number(address, 8)


class Layout:
    """The library's table."""

    def __init__(self, debugger, memory):
        address = debugger.symbol("ABTI_debug_layout") or self.search(debugger)
        if not address:
            raise AbtError("the program does not use libabt, or none that is new enough")
        header = memory.read(address, 40)
        memory.order = "little" if header[16:20] == VERSION.to_bytes(4, "little") else "big"
        order = {"little": "<", "big": ">"}[memory.order]
        magic, version, count, entries, self.rt = struct.unpack(order + "16sIIQQ", header)
        if magic != MAGIC:
            raise AbtError("libabt's table of its layout cannot be read (has the program started?)")
        if version != VERSION:
            raise AbtError(f"libabt's layout has version {version}, and this script is for {VERSION}")
        if not entries:
            raise AbtError("the program has not started")
        self.fields, self.constants = {}, {}
        for raw, at, size in struct.iter_unpack(order + "32sII", memory.read(entries, 40 * count)):
            name = raw.rstrip(b"\0").decode()
            if size:
                self.fields[name] = at, size
            else:
                self.constants[name] = at

    def field(self, name):
        """(offset, size)"""
        if name not in self.fields:
            raise AbtError(f"the library does not say where {name} is: it is of another age than this script")
        return self.fields[name]

    @staticmethod
    def search(debugger):
        for address, size in debugger.writable_ranges():
            try:
                at = debugger.read(address, size).find(MAGIC)
            except AbtError:
                continue
            if at >= 0:
                return address + at
        return None


class Record:
    """A structure in memory: record["member"] is a number."""

    def __init__(self, model, structure, address):
        self.model, self.structure, self.address = model, structure, address

    def at(self, member):
        return self.address + self.model.layout.field(f"{self.structure}.{member}")[0]

    def __getitem__(self, member):
        offset, size = self.model.layout.field(f"{self.structure}.{member}")
        return self.model.memory.number(self.address + offset, size)

    def __eq__(self, other):
        return other is not None and self.address == other.address

    def __hash__(self):
        return hash(self.address)


class Unit(Record):
    """A work unit."""

    def __init__(self, model, address):
        super().__init__(model, "unit", address)

    def flag(self, name):
        return bool(self["flags"] & self.model.constant("ABTI_UNIT_" + name))

    def cold(self):
        if not self["cold"] & self.model.constant("ABTI_COLD_READY"):
            return None
        return Record(self.model, "cold", self.address + self.model.constant("ABTI_UNIT_COLD_OFFSET"))

    def id(self):
        """As the library calls it; None: nobody has asked for it yet."""
        cold = self.cold()
        return cold["id"] - 1 if cold and cold["id"] else None

    def kind(self):
        for flag, kind in (("PRIMARY", "primary ULT"), ("MAIN_SCHED", "main scheduler"),
                           ("SCHED", "stacked scheduler"), ("TASKLET", "tasklet")):
            if self.flag(flag):
                return kind
        return "ULT"

    def state(self):
        if self["join"] == self.model.constant("ABTI_JOIN_DONE"):
            return TERMINATED
        return self["state"] & 3  # above it a mark of watch/mark.h may stand

    def has_started(self):
        return self["es"] != 0

    def stream(self):
        """Where it runs or has run last."""
        index = self["es"]
        address = self.model.rt.at("by_index") + 8 * index
        return self.model.stream(self.model.memory.word(address)) if index else None

    def runs(self):
        """It is what its stream runs now, so that its registers are a native thread's."""
        stream = self.stream()
        return self.state() == RUNNING and stream is not None and stream["cur"] == self.address

    def has_context(self):
        return self.has_started() and not self.flag("TASKLET") and self.state() != TERMINATED and not self.runs()

    def joiner(self):
        """(address, whether it is a ULT) of the one that waits for its end."""
        join = self["join"]
        address = join & ~self.model.constant("ABTI_JOIN_TAGS")
        return (address, not join & self.model.constant("ABTI_JOIN_EXTERNAL")) if address else None

    def in_place(self):
        return bool(self["join"] & self.model.constant("ABTI_JOIN_IN_PLACE"))

    def stack(self):
        """(base, end) of the stack it runs on, which is its joiner's if it runs in place."""
        if not self.has_started() or not self["stack"] or self.flag("TASKLET"):
            return None
        stack = Record(self.model, "stack", self["stack"])
        return stack["base"], stack["end"]

    def label(self):
        return self.model.label(self)


class Model:
    """One look at a stopped process."""

    def __init__(self, debugger):
        self.debugger = debugger
        self.memory = Memory(debugger)
        self.layout = Layout(debugger, self.memory)
        self.rt = self.record("rt", self.layout.rt)
        if not self.rt["up"]:
            raise AbtError("ABT_init has not been called, or ABT_finalize has")
        self.names, self.numbers, self.listed = {}, None, None

    def constant(self, name):
        return self.layout.constants[name]

    def record(self, structure, address):
        return Record(self, structure, address) if address else None

    def linked(self, structure, address, member="next"):
        """The records of a list, in its order."""
        seen = set()
        while address and address not in seen:
            seen.add(address)
            record = self.record(structure, address)
            yield record
            address = record[member]

    def streams(self):
        return list(self.linked("es", self.rt["xstreams"]))

    def stream(self, address):
        return self.record("es", address)

    def pools(self):
        """In the order in which they were made."""
        return sorted(self.linked("pool", self.rt["pools"]), key=lambda pool: pool["id"])

    # --- Which descriptors are units ---

    def taken_cells(self):
        """Those that the arena has given away, in the order of their addresses."""
        slab = Record(self, "slab", self.rt.at("unit_slab"))
        size, block, span = (slab["spec.arena." + name] for name in ("cell", "block", "span"))
        arena = Record(self, "arena", slab.at("cells"))
        for i in range(arena["num_extents"]):
            extent = self.record("extent", self.memory.word(arena["extents"] + 8 * i))
            base, bits = extent["chunk.base"], extent.at("free[0]")
            for first in range(0, extent["num_cells"], 64):
                free = self.memory.word(bits + first // 8)
                for cell in range(first, min(first + 64, extent["num_cells"])):
                    if not free >> (cell - first) & 1:
                        yield base + cell // (span // size) * block + cell % (span // size) * size

    def is_live(self, unit):
        """See abti_unit_mark_free: a free descriptor has no function, and neither have some units."""
        if unit["func"] or unit.flag("PRIMARY"):
            return True
        stream = unit.stream() if unit.flag("MAIN_SCHED") else None
        return stream is not None and stream["main_unit"] == unit.address

    def units(self):
        """All units, by address."""
        if self.listed is None:
            self.listed = [unit for unit in (Unit(self, cell) for cell in self.taken_cells()) if self.is_live(unit)]
        return self.listed

    # --- What they are called ---

    def label(self, unit):
        """The id that the library has given, or "#" and the place in the list of all units."""
        number = unit.id()
        if number is not None:
            return str(number)
        if self.numbers is None:
            self.numbers = {unit.address: i for i, unit in enumerate(self.units())}
        return f"#{self.numbers[unit.address]}" if unit.address in self.numbers else hex(unit.address)

    def find(self, text):
        """The unit of a label or a handle; None: there is none."""
        for unit in self.units():
            if text in (self.label(unit), hex(unit.address)):
                return unit
        return None

    def function(self, address):
        """The symbol of a function, or its file and the offset in it."""
        if address not in self.names:
            self.names[address] = self.debugger.name(address) or self.in_module(address)
        return self.names[address]

    def in_module(self, address):
        module = self.debugger.module(address)
        if not module:
            return hex(address)
        module = module.rsplit("/", 1)[-1]
        base = address & -PAGE
        for _ in range(1 << 15):
            try:
                if self.memory.read(base, 4) == EXECUTABLE:
                    return f"{module}+{address - base:#x}"
            except AbtError:
                break
            base -= PAGE
        return f"{module}:{address:#x}"

    # --- Pools ---

    def queued(self, queue):
        """The units of a queue, in its order. What ends it is its `last` link, not the link itself."""
        unit, link = queue["head"], self.layout.field("unit.next")[0]
        while unit:
            yield Unit(self, unit)
            unit = self.memory.word(unit + link) if queue["last"] != unit + link else 0

    def pooled(self, pool):
        """The units in a built-in pool, the next one to run first."""
        ring = Record(self, "ring", pool.at("ring"))
        for i in range(ring["size"]):
            yield Unit(self, self.memory.word(ring["units"] + 8 * ((ring["head"] + i) & ring["mask"])))
        for queue in "queue", "inbox":
            yield from self.queued(Record(self, "queue", pool.at(queue)))

    def blocked(self, pool):
        """How many units are blocked out of a pool."""
        entered = pool["blocked.own_entered"] + pool["blocked.shared_entered"] + pool["blocked.granted"]
        left = pool["blocked.own_left"] + pool["blocked.shared_left"] + pool["blocked.remain"]
        return (entered - left) & 0xffffffff

    def servers(self, pool):
        """The ranks of the streams whose main scheduler runs units out of the pool."""
        ranks = []
        for stream in self.streams():
            sched = self.record("sched", stream["main_sched"])
            if sched and any(self.memory.word(sched["pools"] + 8 * i) == pool.address
                             for i in range(sched["num_pools"])):
                ranks.append(stream["rank"])
        return ranks

    # --- Streams ---

    def thread_of(self, stream):
        """What the user calls the native thread of a stream; None: it is not known."""
        stack = Unit(self, stream["cur"]).stack() if stream["cur"] else None
        base, end = stack or (0, 0)
        if base and Unit(self, stream["cur"])["stack"] == stream.at("native"):
            end += NATIVE  # it says only where the library was first called
        for thread, pthread, sp in self.debugger.threads():
            if pthread == stream["thread"] or not pthread and base <= sp < end:
                return thread
        return None
