# SPDX-License-Identifier: BSD-3-Clause
"""The commands of libabt's debugger scripts, as lines of text."""
from abt_model import CPUS, READY, RUNNING, STATES, TERMINATED, AbtError, Record, Unit
from abt_waits import Waits

POOL_KINDS = ("FIFO", "FIFO_WAIT", "RANDWS")
ACCESS = ("PRIV", "SPSC", "MPSC", "SPMC", "MPMC")
STREAM_STATES = ("running", "terminated")


def table(rows):
    """Rows of words in columns; the first is the head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip()


def pool_name(model, address):
    pool = model.record("pool", address)
    return str(pool["id"]) if pool else "-"


def rank_name(unit):
    stream = unit.stream()
    return str(stream["rank"]) if stream else "-"


def doing(model, waits, unit):
    """What a unit does or waits for."""
    state = unit.state()
    if state == RUNNING:
        thread = unit.runs() and model.thread_of(unit.stream())
        return (f"on thread {thread}" if thread else "") if unit.runs() else "its child runs"
    if state == READY:
        return "" if unit.has_started() else "not started"
    wait = waits.of(unit)
    return waits.text(wait) + waits.since(unit) if wait else ""


def ults(model, word):
    """All units, or those in one state."""
    if word and word not in STATES:
        raise AbtError(f"no state is called {word}: {', '.join(STATES)}")
    waits, counts = Waits(model), dict.fromkeys(STATES, 0)
    rows = [("id", "handle", "kind", "state", "pool", "stream", "function", "waits for")]
    for unit in model.units():
        state = STATES[unit.state()]
        counts[state] += 1
        if word in ("", state):
            rows.append((unit.label(), hex(unit.address), unit.kind(), state, pool_name(model, unit["pool"]),
                         rank_name(unit), model.function(unit["func"]) if unit["func"] else "-",
                         doing(model, waits, unit)))
    yield from table(rows)
    yield f"{sum(counts.values())} units: " + ", ".join(f"{count} {state}" for state, count in counts.items())


def pools(model, _):
    """All pools."""
    rows = [("id", "handle", "kind", "access", "size", "blocked", "streams")]
    for pool in model.pools():
        is_users = pool["form"] == model.constant("ABTI_POOL_USER")
        kind = "user-defined" if is_users else POOL_KINDS[pool["kind"]]
        size = "-" if is_users else str(sum(1 for _ in model.pooled(pool)))
        ranks = " ".join(map(str, model.servers(pool)))
        rows.append((str(pool["id"]), hex(pool.address), kind, ACCESS[pool["access"]], size,
                     str(model.blocked(pool)), ranks or "-"))
    yield from table(rows)


def pool(model, word):
    """The units that stand in one pool, the next one first."""
    found = next((pool for pool in model.pools() if word in (str(pool["id"]), hex(pool.address))), None)
    if not found:
        raise AbtError(f"there is no pool {word}")
    if found["form"] == model.constant("ABTI_POOL_USER"):
        raise AbtError("the pool is user-defined, and only its functions know what is in it")
    rows = [("id", "handle", "kind", "function")]
    for unit in model.pooled(found):
        rows.append((unit.label(), hex(unit.address), unit.kind(), model.function(unit["func"])))
    yield from table(rows)


def streams(model, _):
    """All execution streams."""
    rows = [("rank", "handle", "state", "thread", "runs", "function")]
    for stream in model.streams():
        unit = Unit(model, stream["cur"]) if stream["cur"] and not stream["state"] else None
        rows.append((str(stream["rank"]), hex(stream.address), STREAM_STATES[stream["state"]],
                     str(model.thread_of(stream) or "-"), f"{unit.kind()} {unit.label()}" if unit else "-",
                     model.function(unit["func"]) if unit and unit["func"] else "-"))
    yield from table(rows)


def waits_(model, _):
    """Objects with the units that wait for them, then who waits for whom."""
    waits, groups = Waits(model), {}
    for unit in model.units():
        wait = waits.of(unit)
        if wait:
            groups.setdefault(wait.key(), (wait, []))[1].append(unit)
    for path, is_cycle in waits.chains():
        names = [waits.name(unit) for unit in path]
        if is_cycle:
            yield "cycle: " + " -> ".join(names)
        elif len(path) > 2:
            yield "chain: " + " -> ".join(names)
    for wait, units in groups.values():
        yield f"{waits.text(wait)}:"
        for unit in units:
            function = model.function(unit["func"]) if unit["func"] else "main"
            yield f"    {waits.name(unit)} in {function}{waits.since(unit)}"
    if not groups:
        yield "no unit is blocked"


def describe(model, unit):
    """One unit, in a line."""
    waits = Waits(model)
    what = doing(model, waits, unit)
    function = f" {model.function(unit['func'])}({unit['arg']:#x})" if unit["func"] else ""
    return f"{waits.name(unit)} ({unit.address:#x}){function}: {STATES[unit.state()]}" + (f", {what}" if what else "")


def registers(model, unit):
    """Those with which a unit goes on; AbtError: it has none."""
    if unit.state() == TERMINATED:
        raise AbtError("the unit has ended")
    if not unit.has_started():
        raise AbtError("the unit has not started")
    if unit.runs():
        thread = model.thread_of(unit.stream())
        raise AbtError(f"the unit runs on thread {thread}" if thread else "the unit runs")
    if not unit.has_context():
        raise AbtError("the unit has no stack of its own")
    cpu = CPUS[model.debugger.machine()]
    found = cpu.resume(model.memory, unit["ctx"])
    if not found[cpu.pc]:
        raise AbtError("the unit's stack is not in the core file (`abt gcore' writes all of them)")
    return found


COMMANDS = {"ults": ults, "pools": pools, "pool": pool, "streams": streams, "waits": waits_}
