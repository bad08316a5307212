"""
For maint/check-gdb, inside gdb: the program test/debug/blocked has stopped in `stopped`, or this is its core file.
What the commands say is held against the program's own table.
"""
import re

import gdb

looked, wrong = 0, []


def check(holds, what):
    global looked
    looked += 1
    if not holds:
        wrong.append(what)


def lines(command):
    return gdb.execute(command, to_string=True).splitlines()


def cells(line):
    return re.split(r"\s{2,}", line)


def expected_units():
    table = gdb.parse_and_eval("expected")
    for i in range(int(gdb.parse_and_eval("num_expected"))):
        row = table[i]
        yield (int(row["handle"]), row["function"].string(), row["state"].string(), row["waits"].string(),
               int(row["mark"]))


def check_list(units):
    """Each unit stands in the list once, with the right state, function and wait, and no other does."""
    *rows, total = lines("abt ults")[1:]
    listed = {}
    for row in map(cells, rows):
        check(int(row[1], 16) not in listed, f"{row[1]} is listed twice")
        listed[int(row[1], 16)] = row
    kinds = [row[2] for row in listed.values()]
    check(kinds.count("primary") == 1 and kinds.count("main sched") == 2, "the primary ULT and two main schedulers")
    check(len(listed) == len(units) + 3, f"{len(listed)} units are listed, not {len(units) + 3}")
    check(total.startswith(f"{len(listed)} units: "), f"the total: {total}")
    for handle, function, state, waits, _ in units:
        row = listed.get(handle)
        check(row is not None, f"{handle:#x} is not listed")
        if not row:
            continue
        check(row[3] == state, f"{row}: {state}")
        check(row[6] == function, f"{row}: {function}")
        check(len(row) > 7 and row[7].startswith(waits) if waits else len(row) == 7, f"{row}: {waits}")
    check(len(lines("abt ults blocked")) == 2 + sum(unit[2] == "blocked" for unit in units), "abt ults blocked")


def frames():
    found, frame = [], gdb.newest_frame()
    while frame and len(found) < 60:
        found.append(frame)
        frame = frame.older()
    return found


def check_unit(handle, function, mark):
    """The frames of a blocked unit: its function with its variable, and the library's first function at the end."""
    gdb.execute(f"abt ult {handle:#x}", to_string=True)
    found = frames()
    own = [frame for frame in found if frame.name() == function]
    check(len(own) == 1, f"{function} {mark}: {[frame.name() for frame in found]}")
    if own:
        own[0].select()
        found_mark = int(gdb.parse_and_eval("mark"))
        check(found_mark == mark, f"{function} {mark}: mark is {found_mark}")
    outermost = found[-1].unwind_stop_reason()
    check(len(found) < 60 and outermost in (gdb.FRAME_UNWIND_OUTERMOST, gdb.FRAME_UNWIND_NO_REASON),
          f"{function} {mark}: {gdb.frame_stop_reason_string(outermost)}")
    first = found[-1].name()
    check(first is None or first.startswith("abti_ctx_"), f"{function} {mark} begins in {first}")
    return len(found)


def check_text(unit):
    gdb.execute(f"abt ult {unit[0]:#x}")
    text = "\n".join(lines("bt"))
    check(re.match(r"#0 +<ULT #?\d+>", text) and unit[1] in text, f"bt: {text}")
    check(f"mark = {unit[4]}" in "\n".join(lines(f"frame function {unit[1]}") + lines("info locals")), "info locals")
    if len(gdb.selected_inferior().threads()) > 1:
        check(" shows ULT" in lines("abt ult")[0], "abt ult")
    gdb.execute("abt ult off")
    check(frames()[0].name() == "stopped", "abt ult off")


def check_pools(units):
    rows = [cells(row) for row in lines("abt pools")[1:]]
    total = {int(row[0]): row for row in rows}
    waiting = {}
    for row in map(cells, lines("abt ults blocked")[1:-1]):
        waiting[int(row[4])] = waiting.get(int(row[4]), 0) + 1
    for number, row in total.items():
        check(int(row[5]) == waiting.get(number, 0), f"pool {row}: {waiting.get(number, 0)} are blocked")
    idle = int(gdb.parse_and_eval("idle_pool"))
    row = next(row for row in rows if int(row[1], 16) == idle)
    ready = [unit for unit in units if unit[2] == "ready"]
    check(row[4] == str(len(ready)) and row[6] == "-", f"pool {row}: {len(ready)} are ready")
    check([int(cells(row)[1], 16) for row in lines(f"abt pool {row[0]}")[1:]] == [unit[0] for unit in ready], "abt pool")


def check_streams(units):
    rows = [cells(row) for row in lines("abt streams")[1:]]
    check([row[0] for row in rows] == ["0", "1"] and [row[3] for row in rows] == ["1", "2"], f"abt streams: {rows}")
    check(rows[1][5] == "runs", f"abt streams: {rows}")


def check_waits(units):
    """Each blocked unit waits for one thing, and what holds that is named."""
    text = lines("abt waits")
    waiting = [line for line in text if line.startswith("    ")]
    blocked = [unit for unit in units if unit[2] == "blocked"]
    check(len(waiting) == len(set(waiting)) == len(blocked), f"{len(waiting)} units wait, not {len(blocked)}")
    check(sum(", held by primary" in line for line in text) == 1, "who holds the recursive mutex")
    check(any(re.match(r"barrier .*, 20 of 21 have come", line) for line in text), "the barrier")
    check(any(re.match(r"future .*, 1 of 3 are set", line) for line in text), "the future")
    check(any("a writer is inside" in line for line in text), "the lock for readers and writers")
    cycles = [line for line in text if line.startswith("cycle: ")]
    check(len(cycles) == sum(unit[1] == "lock_both" for unit in units) // 2, f"cycles: {cycles}")
    check(not cycles or text[0] == cycles[0], "cycles come first")


def refused(command):
    try:
        gdb.execute(command, to_string=True)
    except gdb.error as error:
        return str(error)
    return ""


def check_refusals(units):
    for state, text in ("ready", "has not started"), ("terminated", "has ended"), ("running", "runs on thread 2"):
        unit = next(unit for unit in units if unit[2] == state)
        check(text in refused(f"abt ult {unit[0]:#x}"), f"abt ult of a unit that is {state}")
    check("there is no unit" in refused("abt ult 0x1234"), "abt ult of no unit")
    check("no state" in refused("abt ults asleep"), "abt ults of no state")


def main():
    units = list(expected_units())
    check_list(units)
    lengths = {}
    for unit in units:
        if unit[2] == "blocked":
            lengths.setdefault(unit[1], []).append(check_unit(unit[0], unit[1], unit[4]))
    # In place the function is called by the joiner's switch, otherwise by a function of the library more.
    check(min(lengths["in_place"]) < min(lengths["wait_eventual"]), f"no unit runs in place: {lengths}")
    check_text(next(unit for unit in units if unit[1] == "wait_future"))
    check_pools(units)
    check_streams(units)
    check_waits(units)
    check_refusals(units)
    for line in wrong[:20]:
        print("wrong:", line)
    print(f"looked at {looked}, {len(wrong)} wrong")


main()
