# SPDX-License-Identifier: BSD-3-Clause
"""What the blocked units of libabt wait for, and who holds that."""
from abt_model import BLOCKED, CPUS, AbtError, Record

# ABT_sync_event_type, and what the script calls it.
REASONS = {1: "suspended", 2: "word", 3: "stream", 4: "unit", 5: "mutex", 6: "cond", 7: "rwlock", 8: "eventual",
           9: "future", 10: "barrier"}
OTHERS = {"eventuals": "any of several eventuals", "suspended": "being resumed", "sleep": "a time",
          "lost": "not known: its stack is not in the core file"}
NEVER = (1 << 64) - 1


class Wait:
    """What one unit waits for."""

    def __init__(self, kind, address=0, unit=None, timed=False):
        self.kind = kind        # a word of REASONS, or "sleep", "eventuals", "lost"
        self.address = address  # of the object; 0: there is none
        self.unit = unit        # "unit": the one that is to end
        self.timed = timed      # until a deadline at most

    def key(self):
        return self.kind, self.unit.address if self.unit else self.address


class Waits:
    """The waits of all blocked units."""

    def __init__(self, model):
        self.model = model
        self.joined = {}  # the unit that a unit waits for, by address
        self.units = {unit.address: unit for unit in model.units()}
        self.queued = {}  # the waiters in the queue of a condition variable, by its address
        for unit in model.units():
            joiner = unit.joiner()
            if joiner and joiner[1]:
                self.joined[joiner[0]] = unit
        self.found = {}
        self.watched = bool(model.rt["config.watch_waits"])

    def of(self, unit):
        """None: it is not blocked."""
        if unit.state() != BLOCKED:
            return None
        if unit.address not in self.found:
            self.found[unit.address] = self.look(unit)
        return self.found[unit.address]

    def look(self, unit):
        """What a blocked unit has in its link (abti_unit_wait_for) counts only if it leads back to the unit."""
        if unit.address in self.joined:
            return Wait("unit", unit=self.joined[unit.address])
        if not self.has_frame(unit):
            return Wait("lost")
        for look in self.at_waiter, self.at_barrier:
            try:
                wait = look(unit, unit["next"])
            except AbtError:
                wait = None
            if wait:
                return wait
        return Wait("suspended")

    def at_waiter(self, unit, address):
        waiter = self.record("waiter", address)
        if not address or (waiter["unit"] or waiter["ult"]) != unit.address:
            return None
        kind = REASONS.get(waiter["reason"], "other")
        timed = waiter["claim"] != self.model.constant("ABTI_CLAIM_NONE") and waiter["deadline_ns"] != NEVER
        if not waiter["object"] and kind == "eventual":
            return Wait("eventuals", timed=timed)
        if kind == "suspended":
            return Wait("sleep")
        if kind == "cond" and self.is_in_mutex(waiter):
            return Wait("mutex", self.record("cond", waiter["object"])["mutex"], timed=timed)
        return Wait(kind, waiter["object"], timed=timed)

    def at_barrier(self, unit, address):
        barrier = self.record("barrier", address)
        if not address or barrier["local_pool"] != unit["pool"]:
            return None
        fits = 0 < barrier["num_local"] <= barrier["arrived"] <= barrier["num"] <= barrier["room"]
        return Wait("barrier", address) if fits else None

    def record(self, structure, address):
        return Record(self.model, structure, address)

    # --- Waiters ---

    def has_frame(self, unit):
        """Its stack is there: a core file may lack it."""
        cpu = CPUS[self.model.debugger.machine()]
        try:
            return cpu.resume(self.model.memory, unit["ctx"])[cpu.pc] != 0
        except AbtError:
            return False

    def ring(self, first):
        """The waiters of a queue."""
        waiter, seen = first, set()
        while waiter and waiter not in seen:
            seen.add(waiter)
            record = self.record("waiter", waiter)
            yield record
            waiter = record["next"]

    def is_in_mutex(self, waiter):
        """A waiter of a condition variable that has been signalled waits for the mutex already."""
        cond = self.record("cond", waiter["object"])
        if cond.address not in self.queued:
            self.queued[cond.address] = {other.address for other in self.ring(cond["waiters"])}
        return cond["mutex"] and waiter.address not in self.queued[cond.address]

    # --- Objects ---

    def state(self, wait):
        """What can be said of the object."""
        if wait.kind == "unit":
            return "which " + ("runs in its place" if wait.unit.in_place() else "is to end")
        if not wait.address:
            return ""
        describe = getattr(self, "state_of_" + wait.kind, None)
        return describe(wait.address) if describe else ""

    def state_of_mutex(self, address):
        mutex = self.record("mutex", address)
        if not mutex["word"] & self.model.constant("ABTI_MUTEX_LOCKED"):
            return "free"
        owner = self.owner(address)
        return f"held by {self.name(owner)}" if owner else "locked"

    def state_of_rwlock(self, address):
        rwlock = self.record("rwlock", address)
        if not rwlock["writer"]:
            return f"readers inside: {rwlock['readers']}"
        writer = self.writer(address)
        return f"written by {self.name(writer)}" if writer else "a writer is inside"

    def state_of_barrier(self, address):
        barrier = self.record("barrier", address)
        return f"{barrier['arrived']} of {barrier['num']} have come"

    def state_of_future(self, address):
        future = self.record("future", address)
        return f"{future['filled']} of {future['num']} are set"

    def owner(self, address):
        """The unit that holds a mutex; None: it is not known. Recursive ones say so, and all if waits are watched."""
        mutex = self.record("mutex", address)
        if not (self.watched or mutex["word"] & self.model.constant("ABTI_MUTEX_RECURSIVE")):
            return None
        owner = self.model.memory.word(mutex.at("owner_room") + 7 & -8)
        return self.units.get(owner)

    def writer(self, address):
        """The unit that has a reader-writer lock to itself; None: none, or a native thread."""
        return self.units.get(self.record("rwlock", address)["writer"])

    def since(self, unit):
        """For how long a blocked unit has waited, as text; "" if it is not known."""
        now, wait = self.model.debugger.now_ns() if self.watched else None, self.of(unit)
        if not now or not wait or wait.unit and wait.unit.in_place():
            return ""
        blocked_ns = self.record("stack", unit["stack"])["blocked_ns"]
        return f", for {(now - blocked_ns) / 1e9:.1f} s" if 0 < blocked_ns <= now else ""

    # --- Chains ---

    def next_of(self, unit):
        """Who has to do something for a blocked unit to go on; None: it is not known."""
        wait = self.of(unit)
        if not wait:
            return None
        if wait.unit:
            return wait.unit
        holder = {"mutex": self.owner, "rwlock": self.writer}.get(wait.kind)
        return holder(wait.address) if holder else None

    def name(self, unit):
        return f"{unit.kind()} {unit.label()}"

    def text(self, wait):
        if wait.unit:
            return f"the end of {self.name(wait.unit)}"
        text = OTHERS.get(wait.kind, f"{wait.kind} {wait.address:#x}" if wait.address else wait.kind)
        text += " (with a deadline)" if wait.timed else ""
        state = self.state(wait)
        return text + (f", {state}" if state else "")

    def chains(self):
        """(units, whether it is a cycle): cycles first, then from each unit that nobody waits for."""
        follows = {unit: follower for unit in self.model.units() if (follower := self.next_of(unit))}
        cycles, chains, seen = [], [], set()
        for unit in follows:
            path = {}
            while unit in follows and unit not in seen:
                seen.add(unit)
                path[unit] = len(path)
                unit = follows[unit]
            if unit in path:
                cycles.append([*path][path[unit]:] + [unit])
        targets = set(follows.values())
        for unit in follows:
            if unit in targets:
                continue
            path = {unit: None}
            while unit in follows and follows[unit] not in path:
                unit = follows[unit]
                path[unit] = None
            chains.append([*path] + ([follows[unit]] if unit in follows else []))
        return [(path, True) for path in cycles] + [(path, False) for path in chains]
