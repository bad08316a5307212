# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --growth: what the CPU time of many units, pools, blocked units, nested units and large stacks grows with, on
one stream of this machine, with the exponent e of time = c * number^e. What grows faster than linear is told.

    maint/bench --growth              up to 10 million units, and a million blocked ones, in four minutes
    maint/bench --growth --quick      a tenth of them
    maint/bench --growth --publish    also puts a table into doc/scaling.md
"""

import json
import subprocess
import sys
import time

from . import cores, cores_report, programs, report

OUT = programs.OUT / "growth"
# work: (title, what the number is, numbers)
WORKS = {
    "units": ("Units at a time, created and joined", "units", [10**3, 10**4, 10**5, 10**6, 3 * 10**6, 10**7]),
    "pools": ("Pools at a time, created and freed", "pools", [10, 100, 1000, 10**4, 10**5]),
    "blocked": ("Units that wait for one event", "units", [10**3, 10**4, 10**5, 3 * 10**5, 10**6]),
    "nesting": ("Units that each wait for the next one", "deep", [10, 100, 1000, 10**4, 10**5]),
    "stacks": ("A thousand units with stacks of that size", "bytes", [2**n for n in range(14, 25, 2)]),
}
ROUNDS = 3
LINEAR = 1.15  # the most that is still linear: memory that no cache holds makes it more than 1
BEGIN, END = "<!-- maint/bench --growth writes this -->\n", "<!-- end of what --growth writes -->\n"


def options(arguments):
    parser = programs.option_parser("--growth", __doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--from", dest="source", metavar="JSON", help="measure nothing, take this result")
    parser.add_argument("--seconds", type=float, default=240, help="the run ends soon after this number of seconds; %(default)s by default")
    return parser.parse_args(arguments)


def build(release):
    OUT.mkdir(parents=True, exist_ok=True)
    programs.run(["cc", "-g", "-O2", "-Wall", "-Wextra", f"-I{release / 'include'}", f"-I{programs.TOP / 'include'}", "-o",
                  OUT / "growth", programs.SUITE.parent / "growth" / "growth.c", f"-L{release / '.libs'}", "-labt"])


def measure(release, work, number, left):
    """The least of some runs, in nanoseconds: what disturbs makes them longer. None if there is none."""
    times = []
    for _ in range(ROUNDS):
        try:
            done = subprocess.run([OUT / "growth", work, str(number)], env={"LD_LIBRARY_PATH": str(release / ".libs")},
                                  capture_output=True, text=True, check=False, timeout=max(1, left()))
        except subprocess.TimeoutExpired:
            break
        if done.returncode != 0:
            print(f"{work} {number}: {done.stderr.strip()[-200:]}", file=sys.stderr)
            return None
        times.append(float(done.stdout))
    return min(times) if times else None


def exponent(points):
    """Of the upper half of the numbers: what is constant tells of the lower ones."""
    return cores_report.exponent(points[len(points) // 2 - 1:]) if len(points) > 2 else None


def told(work, points):
    """What is said of a work: its exponent, and whether it is more than linear."""
    fitted = exponent(points)
    if fitted is None:
        return "no exponent: too few points"
    return f"{fitted:.2f}" + (", FASTER THAN LINEAR" if fitted > LINEAR else "")


def table(data):
    rows = ["| | least number, time of one | most, time of one | exponent |", "|---|---:|---:|---:|"]
    for work, (title, what, _) in WORKS.items():
        points = data["points"].get(work)
        if points:
            ends = [f"{int(n)} {what}, {report.amount(ns / (1000 if work == 'stacks' else n), 'ns')}" for n, ns in (points[0], points[-1])]
            rows.append(f"| {title} | {ends[0]} | {ends[1]} | {told(work, points)} |")
    return "\n".join(rows) + "\n"


def finish(data, given):
    (OUT / "result.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    text = f"{report.describe(data['machine'])}, {data['machine']['date']}; CPU time, the least of up to {ROUNDS} runs.\n\n" + table(data)
    print(text)
    if given.publish:
        report.put_between(programs.TOP / "doc" / "scaling.md", text, BEGIN, END)


def main(arguments):
    given = options(arguments)
    OUT.mkdir(parents=True, exist_ok=True)
    if given.source:
        with open(given.source, encoding="utf-8") as file:
            finish(json.load(file), given)
        return 0
    release = cores.release_of(given)
    build(release)
    end = time.monotonic() + given.seconds
    points = {}
    for work, (_, _, numbers) in WORKS.items():
        for number in numbers:
            if given.quick and work in ("units", "blocked") and number > max(numbers) // 10:
                continue
            ns = measure(release, work, number, lambda: end - time.monotonic())
            if ns is not None:
                points.setdefault(work, []).append((number, ns))
    finish({"machine": report.machine(), "points": points}, given)
    steep = [work for work in points if (exponent(points[work]) or 0) > LINEAR]
    return 1 if steep else 0
