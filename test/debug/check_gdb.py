# SPDX-License-Identifier: BSD-3-Clause
"""For maint/check-gdb, in gdb: test/debug/blocked stands in `stopped`, or this is its core file. See expect.py."""
import os
import re
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import expect  # noqa: E402


def lines(command):
    """Without what gdb complains of by the way, as it does of some core files."""
    text = gdb.execute(command, to_string=True)
    return [line for line in text.splitlines() if line and not line.startswith("warning: ")]


def refusal(command):
    try:
        lines(command)
    except gdb.error as error:
        return str(error)
    return ""


def expected_units():
    table = gdb.parse_and_eval("expected")
    for i in range(int(gdb.parse_and_eval("num_expected"))):
        row = table[i]
        yield (int(row["handle"]), row["function"].string(), row["state"].string(), row["waits"].string(),
               int(row["mark"]))


def frames():
    found, frame = [], gdb.newest_frame()
    while frame and len(found) < 60:
        found.append(frame)
        frame = frame.older()
    return found


def check_unit(unit):
    """Returns whether its function is called by the first frame itself, as in place."""
    lines(f"abt ult {unit[0]:#x}")
    found, mark, kept = frames()[1:], None, []
    for frame in found:
        if frame.name() == unit[1]:
            frame.select()
            mark = int(gdb.parse_and_eval("mark"))
            if unit[1].startswith("wait_"):
                kept = [gdb.parse_and_eval(f"kept{i}") for i in range(1, 6)]
    expect.check_frames(unit, [frame.name() for frame in found], mark)
    # Compilers may say nothing of a variable.
    kept = [i if value.is_optimized_out else int(value) - unit[4] for i, value in enumerate(kept, 1)]
    expect.check(kept in ([], [1, 2, 3, 4, 5]), f"{unit}: its registers have {kept}")
    reason = found[-1].unwind_stop_reason()
    expect.check(reason == gdb.FRAME_UNWIND_OUTERMOST, f"{unit}: {gdb.frame_stop_reason_string(reason)}")
    return found[-2].name() == unit[1]


def check_text(unit):
    """What the user sees."""
    lines(f"abt ult {unit[0]:#x}")
    text = "\n".join(lines("bt"))
    expect.check(re.match(r"#0 +<ULT #?\d+>", text) and unit[1] in text, f"bt: {text}")
    text = "\n".join(lines(f"frame function {unit[1]}") + lines("info locals"))
    expect.check(f"mark = {unit[4]}" in text, "info locals")
    expect.check(" shows ULT" in lines("abt ult")[0], "abt ult")
    lines(f"thread {expect.other}")
    expect.check(frames()[0].name() == "runs", "another thread shows itself")
    lines("thread 1")
    expect.check(frames()[0].name() != frames()[1].name() and len(frames()) > 3, "the thread shows the unit still")
    lines("abt ult off")
    expect.check("stopped" in [frame.name() for frame in frames()], "abt ult off")


def check_names(unit):
    """A unit is found by its id, its handle and an expression."""
    shown = lines(f"abt ult {int(gdb.parse_and_eval('first_id'))}")[0]
    expect.check(shown.startswith(f"ULT {int(gdb.parse_and_eval('first_id'))} ({unit[0]:#x})"), f"by id: {shown}")
    lines("abt ult off")
    for name in hex(unit[0]), "expected[0].handle":
        # Up to the function: how long a unit has waited changes meanwhile.
        expect.check(lines(f"abt ult {name}")[0].split(",")[0] == shown.split(",")[0], f"by {name}")
        lines("abt ult off")


def main():
    units = list(expected_units())
    expect.check_list(lines, units)
    num_in_place = int(gdb.parse_and_eval("num_in_place"))
    expect.check_in_place(num_in_place)
    called_first = [unit[1] for unit in units if unit[2] == "blocked" and check_unit(unit)]
    expect.check(called_first == ["in_place"] * num_in_place, f"in place are {called_first}")
    check_names(units[0])
    check_text(next(unit for unit in units if unit[1] == "wait_future"))
    expect.check_pools(lines, units, int(gdb.parse_and_eval("idle_pool")))
    expect.check_streams(lines)
    expect.check_waits(lines, units)
    expect.check_refusals(refusal, units)
    expect.report()


main()
