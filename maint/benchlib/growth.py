# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --growth: what the CPU time of many units, pools, blocked units, nested units and large stacks grows with, on
one stream of this machine: a plot each, with the exponent e of time = c * number^e. What grows faster than linear is told.

    maint/bench --growth              up to 10 million units, and a million blocked ones, in four minutes
    maint/bench --growth --quick      a tenth of them
    maint/bench --growth --publish    also puts the plots and a table into doc/scaling.md
"""

import json
import subprocess
import sys
import time

from . import cores, cores_report, plots, programs, report

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
    parser.add_argument("--from", dest="source", metavar="JSON", help="measure nothing, draw this result")
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


def draw(data, path):
    pyplot = plots.load_pyplot()
    if not pyplot:
        return False
    pane, axes = pyplot.subplots(3, 2, figsize=(10, 8.6), squeeze=False)
    for axis, (work, (title, what, _)) in zip(axes.flat, WORKS.items()):
        points = data["points"].get(work)
        if not points:
            axis.set_visible(False)
            continue
        axis.plot([n for n, _ in points], [ns for _, ns in points], color=plots.VERMILLION, marker="D", markersize=5)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.minorticks_off()
        axis.yaxis.set_major_formatter(plots.duration)
        axis.set_title(f"{title}: exponent {told(work, points)}", fontsize=10, fontweight="bold")
        axis.set_xlabel(what, fontsize=9)
        axis.tick_params(labelsize=8.5)
        axis.grid(linewidth=0.4, color="#dddddd")
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    for axis in axes.flat[len(WORKS):]:
        axis.set_visible(False)
    pane.tight_layout(h_pad=1.6, w_pad=2)
    for kind in ("svg", "png"):
        pane.savefig(path.with_suffix("." + kind), metadata={"Date": None} if kind == "svg" else None, dpi=100)
    pyplot.close(pane)
    return True


def finish(data, given):
    (OUT / "result.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    made = draw(data, OUT / "growth.svg")
    text = f"{report.describe(data['machine'])}, {data['machine']['date']}; CPU time, the least of up to {ROUNDS} runs.\n\n" + table(data)
    print(text)
    if given.publish and made:
        (programs.TOP / "doc" / "growth.svg").write_bytes((OUT / "growth.svg").read_bytes())
        report.put_between(programs.TOP / "doc" / "scaling.md", text + "\n![Growth on one stream](growth.svg)\n", BEGIN, END)


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
