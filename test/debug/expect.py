# SPDX-License-Identifier: BSD-3-Clause
"""
For maint/check-gdb: what the debugger's commands say of test/debug/blocked is held against the program's own table. Its
rows: handle, function, state, how the description of its wait begins, the value of its variable `mark`.
"""
import os
import re

looked, wrong = 0, []
watched = os.environ.get("ABT_DEADLOCK_CHECK") == "cycles"  # of the program, too
other = 3 if watched else 2  # the thread of the second stream; the watcher's comes before it


def check(holds, what):
    global looked
    looked += 1
    if not holds:
        wrong.append(what)


def cells(line):
    return re.split(r"\s{2,}", line)


def check_list(lines, units):
    """Each unit stands in the list once, with the right state, function and wait, and no other does."""
    *rows, total = lines("abt ults")[1:]
    listed = {}
    for row in map(cells, rows):
        check(int(row[1], 16) not in listed, f"{row[1]} is listed twice")
        listed[int(row[1], 16)] = row
    kinds = [row[2] for row in listed.values()]
    check(kinds.count("primary ULT") == 1 and kinds.count("main scheduler") == 2, "the primary ULT and two main schedulers")
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


def check_pools(lines, units, idle):
    rows = [cells(row) for row in lines("abt pools")[1:]]
    waiting = [row[4] for row in map(cells, lines("abt ults blocked")[1:-1])]
    for row in rows:
        check(int(row[5]) == waiting.count(row[0]), f"pool {row}: {waiting.count(row[0])} are blocked")
    row = next(row for row in rows if int(row[1], 16) == idle)
    ready = [unit for unit in units if unit[2] == "ready"]
    check(row[4] == str(len(ready)) and row[6] == "-", f"pool {row}: {len(ready)} are ready")
    inside = [int(cells(line)[1], 16) for line in lines(f"abt pool {row[0]}")[1:]]
    check(inside == [unit[0] for unit in ready], "abt pool")


def check_streams(lines):
    rows = [cells(row) for row in lines("abt streams")[1:]]
    check([row[0] for row in rows] == ["0", "1"] and [row[3] for row in rows] == ["1", str(other)], f"abt streams: {rows}")
    check(rows[1][5] == "runs", f"abt streams: {rows}")


def check_waits(lines, units):
    """Each blocked unit waits for one thing, and what holds that is named."""
    text = lines("abt waits")
    waiting = [line for line in text if line.startswith("    ")]
    blocked = [unit for unit in units if unit[2] == "blocked"]
    check(len(waiting) == len(set(waiting)) == len(blocked), f"{len(waiting)} units wait, not {len(blocked)}")
    check(sum(", held by primary" in line for line in text) == 1 + watched, "who holds the mutexes")
    check(any(re.match(r"barrier .*, 20 of 21 have come", line) for line in text), "the barrier")
    check(any(re.match(r"future .*, 1 of 3 are set", line) for line in text), "the future")
    check(any(", written by primary" in line for line in text), "the lock for readers and writers")
    cycles = [line for line in text if line.startswith("cycle: ")]
    check(len(cycles) == sum(unit[1] == "lock_both" for unit in units) // 2, f"cycles: {cycles}")
    check(not cycles or text[0] == cycles[0], "cycles come first")


def check_refusals(refusal, units):
    for state, text in ("ready", "has not started"), ("terminated", "has ended"), ("running", f"runs on thread {other}"):
        unit = next(unit for unit in units if unit[2] == state)
        check(text in refusal(f"abt ult {unit[0]:#x}"), f"abt ult of a unit that is {state}")
    check("there is no unit" in refusal("abt ult 0x1234"), "abt ult of no unit")
    check("no state" in refusal("abt ults asleep"), "abt ults of no state")


def check_frames(unit, names, mark):
    """The functions of a blocked unit from the innermost, and its variable."""
    _, function, _, _, expected = unit
    check(names.count(function) == 1, f"{function} {expected}: {names}")
    check(mark == expected, f"{function} {expected}: mark is {mark}")
    # The library's first function ends it, whatever debuggers call that in a stripped library.
    check(len(names) < 60 and (not names[-1] or names[-1].startswith(("abti_ctx_", "___lldb_unnamed_symbol"))),
          f"{function} {expected} begins in {names}")


def check_in_place(num_in_place):
    """What the program says of its units in_place. While waits are watched none is in place."""
    check((num_in_place > 0) != watched, f"{num_in_place} units run in place")


def report():
    for line in wrong[:20]:
        print("wrong:", line)
    print(f"looked at {looked}, {len(wrong)} wrong")
