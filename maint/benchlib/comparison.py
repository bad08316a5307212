# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --comparison: the microbenchmarks of the comparison paper, a panel a figure: creation, join and both, loops,
nested loops and tasks, tasks of one and of all producers, private and shared pools, ULTs and tasklets. First all
runtimes that are installed on this machine's cores, then libabt and libgomp, and what else runs there, on 1 to 64
simulated cores.

    maint/bench --comparison               in seven minutes
    maint/bench --comparison --quick       fewer rounds, and 1, 4 and 16 simulated cores: in two
    maint/bench --comparison --publish     also puts a table and its picture into doc/, shown by README.md
"""

import json
import os
import sys
import time
from collections import defaultdict
from concurrent import futures

from book import charts

from . import cores, measure, programs, report

OUT = programs.OUT / "comparison"
# title, work, and of libabt's ways those that are lines of their own; None: the best way of each runtime.
PANELS = [
    ("Creation, per unit", "step-create", None),
    ("Join, per unit", "step-join", None),
    ("One step: creation and join, per unit", "step-both", None),
    ("A loop of 1000 elements", "for-loop", None),
    ("Nested loops of 1000 × 1000", "nested", None),
    ("100 tasks of 10 tasks each", "nested-tasks", None),
    ("1000 tasks of one producer", "tasks-single", None),
    ("1000 tasks of all producers", "tasks-parallel", None),
    ("Private and shared pools: one step", "step-both", {"ULT, private pools", "ULT, shared pool"}),
    ("ULTs and tasklets: one step", "step-both", {"ULT, private pools", "tasklet, private pools"}),
]
OWN = {f"{unit}, {pools}" for unit in ("ULT", "tasklet") for pools in ("private pools", "shared pool", "RANDWS pools")}
LIMIT = 10  # seconds of a run
WORKS = {work for _, work, _ in PANELS}
# On simulated cores libabt's ways are these: the best one may be another for each number.
WAYS = ["ULT, private pools", "tasklet, private pools", "ULT, shared pool"]
SIMULATED = {"libabt": WAYS, "Argobots": WAYS, **dict.fromkeys(("Qthreads", "MassiveThreads", "libgomp", "libabtomp"), [""])}
STREAMS = [1, 2, 4, 8, 16, 32, 64]


def options(arguments):
    parser = programs.option_parser("--comparison", __doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--publish", action="store_true")
    programs.add_places(parser)
    parser.add_argument("--peer", action="append", metavar="NAME", help="beside libabt only this one; may be repeated")
    parser.add_argument("--rounds", type=int, help="on real cores")
    parser.add_argument("--seconds", type=float, help="the run ends soon after this number of seconds")
    parser.add_argument("--from", dest="source", metavar="JSON", help="measure nothing, write the reports of this result")
    given = parser.parse_args(arguments)
    given.seconds = given.seconds or (110 if given.quick else 400)
    given.simulated = [1, 4, 16] if given.quick else STREAMS
    return given


# ---- Measuring -----------------------------------------------------------------------------------------------------


def on_real_cores(found, given, end):
    """In interleaved rounds. OpenMP waits passively: its active threads spin until others have no CPU. A program gives the median of its batches, so that there is no yardstick beside it."""
    cpus = len(os.sched_getaffinity(0))
    streams = [n for n in STREAMS if n <= cpus]
    found = [program for program in found if "active" not in program.name and program.name != "tokio"]
    cases = [c for c in measure.cases_of(found, streams, WORKS) if c.program.name != "libabt" or c.series in OWN]
    for _ in range(given.rounds or (3 if given.quick else 5)):
        for case in cases:
            if case.error or time.monotonic() > end:
                continue
            figures = case.run(3 if given.quick else 10, False, LIMIT)
            if figures:
                case.add(figures, 1)
    told = [f"{c.place()}: {c.error or 'no time was left'}" for c in cases if c.error or not c.ns]
    return [c.result() for c in cases if c.ns], told


def simulate(program, work, series, streams, end):
    """A batch or a few, or None. A run is the same each time, so that no more are needed."""
    left = end - time.monotonic()
    if left < 1:
        return None
    environment = {"BENCH_QUICK": "1", **program.env}
    environment.pop("OMP_WAIT_POLICY", None)  # as it comes: the threads look for a while
    done = cores.run_simulated([*program.command, "run", work, series, streams, 0], environment, limit=min(60, int(left) + 1))
    try:
        return json.loads(done.stdout)["ns"] if done.returncode == 0 else None
    except ValueError:
        return None


def on_simulated_cores(found, given, end):
    """The smallest numbers of cores first, which are also the quickest."""
    there = {program.name: program for program in reversed(found) if program.name in SIMULATED}  # of libabt the first
    keys = [(work, name, series, n) for n in given.simulated for work in sorted(WORKS) for name, program in there.items()
            for series in SIMULATED[name] if (work, series) in {row[:2] for row in program.works}
            and (n == 1 or series not in program.outside.get(work, ()))]
    with futures.ThreadPoolExecutor(len(cores.simulate.cpus)) as pool:
        figures = list(pool.map(lambda key: simulate(there[key[1]], key[0], key[2], key[3], end), keys))
    rows = [{"work": work, "peer": name, "series": series, "streams": n, "median": ns, "low": ns, "high": ns, "unit": "ns"}
            for (work, name, series, n), ns in zip(keys, figures) if ns is not None]
    lost = [f"{work}, {name}{', ' + series if series else ''}, {n} simulated cores: none in time, or it failed"
            for (work, name, series, n), ns in zip(keys, figures) if ns is None]
    return rows, lost


# ---- What is drawn and written -------------------------------------------------------------------------------------


def runtime(result):
    """Without how it waits."""
    return result["peer"].split(",")[0]


def lines_of(results, work, ways):
    """{(runtime, label): {streams: result}}: of each runtime the best way, or some of libabt's ways."""
    best = defaultdict(dict)
    for r in results:
        if r["work"] != work or (ways and (r["peer"] != "libabt" or r["series"] not in ways)):
            continue
        name = runtime(r)
        key = (name, f"{name}, {r['series']}" if ways else name)
        other = best[key].get(r["streams"])
        if not other or r["median"] < other["median"]:
            best[key][r["streams"]] = r
    return best


def table(results, streams):
    """Of each work the runtimes in one line."""
    names = [name for name in charts.COLOURS if any(runtime(r) == name for r in results)]
    rows = []
    for title, work, ways in PANELS:
        lines = lines_of(results, work, None) if not ways else {}
        for n in streams if lines else ():
            cells = [lines.get((name, name), {}).get(n) for name in names]
            rows.append([title, n, *(report.amount(c["median"], "ns") if c else "" for c in cells)])
    return report.markdown(["", "streams", *names], rows)


def text_of(data):
    real = sorted({r["streams"] for r in data["real"]})
    about = data["machine"]
    parts = [f"{report.describe(about)}, {about['date']}, {report.load_of(about)}. Medians; of each runtime the best of its ways.\n",
             table(data["real"], real), "![The comparison on real cores](comparison.svg)\n"]
    if data["simulated"]:
        few = [n for n in (1, 8, 64) if any(r["streams"] == n for r in data["simulated"])]
        parts += ["On simulated cores ([many cores](scaling.md) says what they are):\n", table(data["simulated"], few),
                  "<!-- picture comparison-cores.svg: The comparison on simulated cores -->\n"]
    notes = [f"{name}: {why}" for name, why in data["missing"]] + data["failed"] + data["lost"]
    if notes:
        parts += ["Not measured:\n", "\n".join(f"- {note}" for note in notes) + "\n"]
    return "\n".join(parts)


def finish(data, given):
    text = text_of(data)
    if given.publish:
        where, real = programs.TOP / "doc", data["real"]
        (where / "comparison.svg").write_text(charts.picture(table(real, sorted({r["streams"] for r in real}))), encoding="utf-8")
        report.put_between(where / "performance.md", text, "--comparison")
    print(text)
    report.keep(data, text, OUT)


def main(arguments):
    given = options(arguments)
    if given.source:
        data = report.kept(given.source)
    else:
        programs.build_library(given.build)
        start = time.monotonic()
        found, missing = programs.find(programs.places_of(given), given.peer, programs.OVER_LIBABT)
        if not found or found[0].name != "libabt":
            sys.exit(f"no programs: {missing}")
        lacks = cores.lacks()
        data = {"machine": report.machine(), "missing": missing}
        bystanders = report.Bystanders()
        data["real"], data["failed"] = on_real_cores(found, given, start + given.seconds * (1 if lacks else 0.45))
        data["machine"]["others"] = bystanders.percent()
        data["simulated"], data["lost"] = [], [f"simulated cores: {lacks}"] if lacks else []
        if not lacks:
            cores.build(programs.RELEASE)
            data["simulated"], data["lost"] = on_simulated_cores(found, given, start + given.seconds)
    finish(data, given)
    return 1 if any(" libabt," in text and "no time" not in text for text in data["failed"]) else 0
