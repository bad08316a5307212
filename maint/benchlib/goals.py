# SPDX-License-Identifier: BSD-3-Clause
"""How often each goal of the catalogue holds, in several runs of the works that it needs."""

import hashlib
import json
import statistics
import time

from . import catalogue, measure

OFTEN = 0.9  # of the runs: a goal holds
TOLERANCE = 1.05  # a figure that is so near to its goal has reached it; to be ahead of others is to be ahead


def name(row):
    who = "" if row.peer == "libabt" else f"{row.peer}, "
    way = f"{row.series}, " if row.series else ""
    return f"{row.work} ({who}{way}{row.streams})"


def text(goal):
    bound = f"{goal.most:g} {goal.of}" if isinstance(goal.of, str) else f"{goal.most:.3g} x {name(goal.of)}"
    return f"{name(goal.row)} <= {bound}"


def best(results, row):
    """The fastest of the results that a row means."""
    mine = [r for r in results if r["figure"] != "steps" and r["work"] == row.work and r["streams"] == row.streams
            and (r["series"] == row.series or row.series is None and r["series"] != measure.SEQUENTIAL)
            and (r["peer"].split(",")[0] == row.peer or row.series == measure.SEQUENTIAL == r["peer"])]
    return min(mine, key=lambda r: r["median"]) if mine else None


def look(goal, results):
    """(the figure over the goal's bound, whether it holds), or None if something was not measured."""
    own = best(results, goal.row)
    if not own:
        return None
    if isinstance(goal.of, catalogue.Row):
        other = best(results, goal.of)
        if not other:
            return None
        ratio = measure.over(own["rounds"], own["numbers"], other["rounds"], other["numbers"]) / goal.most
        return ratio, ratio <= (1 if goal.of.peer != "libabt" else TOLERANCE)
    ratio = (own["raw_switches"] if goal.of == catalogue.RAW else own["median"]) / goal.most
    return ratio, ratio <= TOLERANCE


def looks(results):
    return {text(goal): look(goal, results) for goal in catalogue.GOALS}


# ---- Several runs ------------------------------------------------------------------------------------------------


def wanted(row, case):
    series = case.series == row.series or row.series is None and case.series != measure.SEQUENTIAL
    who = case.program.name.split(",")[0] == (row.peer if row.series != measure.SEQUENTIAL else "libabt")
    return case.work == row.work and case.streams == row.streams and series and who


def cases_of(programs, streams, works):
    rows = [row for goal in catalogue.GOALS for row in (goal.row, goal.of) if isinstance(row, catalogue.Row)]
    return [case for case in measure.cases_of(programs, streams, works) if any(wanted(row, case) for row in rows)]


class Runs:
    """The runs so far of one library, in a file: a call may add some to those of another."""

    def __init__(self, path, library):
        self.path, self.library = path, hashlib.sha256(library.read_bytes()).hexdigest()
        self.values = []  # of each run: goal's text: (ratio, held)
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["library"] == self.library:
                self.values = kept["runs"]

    def add(self, values):
        self.values.append({goal: value for goal, value in values.items() if value})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"library": self.library, "runs": self.values}, indent=1) + "\n", encoding="utf-8")

    def table(self):
        """The text, and whether all that was measured holds."""
        lines, missed, absent = [], 0, 0
        for goal in (text(g) for g in catalogue.GOALS):
            mine = [run[goal] for run in self.values if goal in run]
            if not mine:
                absent += 1
                continue
            held, ratios = sum(1 for _, holds in mine if holds), [ratio for ratio, _ in mine]
            bad = held < OFTEN * len(mine)
            missed += bad
            lines.append(f"{held:3d} of {len(mine):2d}  {statistics.median(ratios):6.2f}  {max(ratios):6.2f}  "
                         f"{'MISSED' if bad else '':6}  {goal}")
        head = f"{'held':>9}  {'median':>6}  {'worst':>6}  {'':6}  of the goal"
        end = f"{len(lines) - missed} goals hold, {missed} are missed, not measured: {absent}"
        return "\n".join([head, *lines, end]), not missed


def run(programs, given, streams, library, path):
    """Adds up to given.repeat runs within given.seconds; true if all goals hold."""
    runs, works = Runs(path, library), set(given.work or [])
    start, longest = time.monotonic(), 0.0
    for _ in range(given.repeat):
        begin = time.monotonic()
        if begin + longest > start + given.seconds:
            break
        cases = cases_of(programs, streams, works)
        measure.measure(cases, programs[0], given.rounds, given.ms, False, begin + given.seconds, given.limit)
        runs.add(looks([case.result() for case in cases if case.ns]))
        longest = max(longest, time.monotonic() - begin)
    lines, good = runs.table()
    print(lines)
    print(f"{len(runs.values)} runs of this library are in {path}; another call adds to them")
    return good
