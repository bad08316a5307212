# SPDX-License-Identifier: BSD-3-Clause
"""Writes what was measured: JSON, a table in Markdown, and what the pages say."""

import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import time
from collections import defaultdict

from . import catalogue, measure


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def machine():
    cpu = platform.processor() or "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    return {
        "cpu": cpu, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release().split("-")[0],
        "compiler": f"cc {first_line('cc', '-dumpfullversion', '-dumpversion')}", "load": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def others_cpu():
    """Seconds that programs other than ours have run; those that run now do not count as ours yet."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system = (int(word) for word in file.readline().split()[1:4])
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return (user + nice + system) / os.sysconf("SC_CLK_TCK") - sum(u.ru_utime + u.ru_stime for u in own)


class Bystanders:
    """The programs beside ours, from now on."""

    def __init__(self):
        self.cpu, self.begin = others_cpu(), time.monotonic()

    def percent(self):
        """What they have taken of all processors."""
        seconds = (time.monotonic() - self.begin) * (os.cpu_count() or 1)
        return round(100 * max(0, others_cpu() - self.cpu) / seconds, 1)


def load_of(about):
    """What else ran on the machine."""
    taken = f", other programs took {about['others']} % of the processors" if "others" in about else ""
    return f"load {about['load']:.1f} at the start{taken}"


def describe(about):
    return f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, {about['compiler']}"


def amount(value, unit):
    if unit == "bytes":
        return f"{value:.0f} B"
    for limit, factor, name in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if value < limit:
            return f"{value / factor:.3g} {name}"
    return f"{value / 1e9:.3g} s"


def markdown(head, rows, right=1):
    """A table; its columns from that number on are figures."""
    marks = ["---" if number < right else "---:" for number in range(len(head))]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, marks, *rows]) + "\n"


TOLERANCE = 1.05  # a figure that is so near to its limit has reached it


def over(result):
    return result["limit"] is not None and result["raw_switches"] > TOLERANCE * result["limit"]


def rounds_of(data):
    counts = [len(r["rounds"]) for r in data["results"]]
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


# ---- The table ---------------------------------------------------------------------------------------------------


def table(data):
    about = data["machine"]
    lines = ["# Benchmarks", "",
             f"{describe(about)}; {about['date']}. Of the machine: {load_of(about)}.",
             f"Raw switch: {data['raw']['median']:.2f} ns, between {data['raw']['low']:.2f} and "
             f"{data['raw']['high']:.2f}. Medians of {rounds_of(data)} interleaved rounds: those in which the raw switch "
             "was near its least before and after, where there were such. Low and high are the rounds'. "
             "x raw: in raw switches of the same round; speedup: over the same work "
             "without a runtime."]
    for figure, heading in catalogue.FIGURES.items():
        mine = [r for r in data["results"] if r["figure"] == figure]
        if not mine:
            continue
        lines += ["", f"## {heading}"]
        by_work = defaultdict(list)
        for r in mine:
            by_work[r["work"]].append(r)
        for work, results in by_work.items():
            lines += ["", f"**{catalogue.WORKS[work][0]}** (`{work}`)", "", work_table(results).rstrip()]
    lines += missing_lines(data)
    return "\n".join(lines) + "\n"


def work_table(results):
    if results[0]["figure"] == "create":
        return create_table(results)
    sequential = next((r["median"] for r in results if r["peer"] == measure.SEQUENTIAL), None)
    return markdown(["who", "streams", "median", "low", "high", "x raw", "at most", "speedup"], [
        [r["name"], r["streams"], *(amount(r[key], r["unit"]) for key in ("median", "low", "high")),
         f"{r['raw_switches']:.1f}" if r["raw_switches"] is not None else "", limit_of(r),
         f"{sequential / r['median']:.2g}" if sequential else ""] for r in in_order(results)])


def limit_of(result):
    return f"{result['limit']}{' OVER' if over(result) else ''}" if result["limit"] is not None else ""


def in_order(results):
    return sorted(results, key=lambda r: (r["streams"], r["median"]))


def create_table(results):
    """With minimum, average and maximum per unit: of the batches of a round, of these the median."""
    return markdown(["who", "streams", "median", "min", "average", "max", "x raw", "at most"], [
        [r["name"], r["streams"], *(amount(r[key], "ns") for key in ("median", "batch_min", "batch_avg", "batch_max")),
         f"{r['raw_switches']:.1f}", limit_of(r)] for r in in_order(results)])


def missing_lines(data):
    lines = []
    if data["missing"]:
        lines += ["", "Not measured:", ""] + [f"- {name}: {why}" for name, why in data["missing"]]
    if data.get("late"):
        lines += ["", "No time was left for:", ""] + [f"- {place}" for place in data["late"]]
    if data["failed"]:
        lines += ["", "Failed:", ""] + [f"- {f}" for f in data["failed"]]
    return lines


# ---- libabt and the others -------------------------------------------------------------------------------------------


def contest(results):
    """libabt's best way, and the best of each other runtime, the fastest first."""
    peers = {r["peer"] for r in results} - {"libabt", measure.SEQUENTIAL}
    others = [best_of(results, lambda name, peer=peer: name == peer) for peer in peers]
    return best_of(results, lambda name: name == "libabt"), sorted(others, key=lambda r: r["median"])


def best_of(results, wanted):
    mine = [r for r in results if wanted(r["peer"])]
    return min(mine, key=lambda r: r["median"]) if mine else None


def choice(results, ways):
    """The same for two ways of libabt."""
    mine, other = (next((r for r in results if (r["peer"], r["series"]) == ("libabt", way)), None) for way in ways)
    return mine, [other] if other else []


def rival(result):
    """Who it is, or of libabt itself which way."""
    return result["series"] if result["peer"] == "libabt" else result["peer"]


def contests(data, works):
    """For each of these works and each number of streams: the results of contest(), or of choice()."""
    for work in works:
        here = [r for r in data["results"] if r["work"] == work]
        for streams in sorted({r["streams"] for r in here}):
            both = [r for r in here if r["streams"] == streams]
            own, others = choice(both, catalogue.CHOICES[work]) if work in catalogue.CHOICES else contest(both)
            if own and others:
                yield own, others


def keep(data, text, directory):
    """A result, for --from, and what is said of it."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "result.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (directory / "table.md").write_text(text, encoding="utf-8")
    print(f"table.md and result.json are in {directory}")


def kept(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def joined(paths):
    """The results of several runs as one: of each work those of the last run that has it. Of what else ran the most is kept."""
    runs = [kept(path) for path in paths]
    last = {r["work"]: run for run in runs for r in run["results"]}
    runs = [run for run in runs if any(run is each for each in last.values())]
    data = {**runs[-1], "runs": len(runs)}
    data["results"] = [r for run in runs for r in run["results"] if last[r["work"]] is run]
    for what in ("failed", "late"):
        data[what] = [each for run in runs for each in run[what]]
    data["machine"] = {**data["machine"], **{what: max(run["machine"][what] for run in runs) for what in ("load", "others")}}
    data["raw"] = {**data["raw"], "median": statistics.median(run["raw"]["median"] for run in runs)}
    return data


# ---- A summary for the pages -------------------------------------------------------------------------------------

SUMMARY = ["create-256", "create-16384", "yield-2", "yield-256", "mutex", "mutex-8", "cond", "barrier-64", "for-loop", "tasks-single",
           "tasks-parallel", "nested", "fib", "nqueens", "uts-t1", "mergesort", "matmul", "fft", "xs-unsorted",
           "xs-presorted", "blocks-10us", "blocks-100us", "blocks-1ms", "computes-1ms", *catalogue.CHOICES, "memory-blocked"]
# Ways of libabt that have a line of their own: what a scheduler of the user's costs, and what it is good for.
HPP = ["abt.hpp", "abt.hpp, private pools"]
WAYS = {"yield-2": ["user's scheduler", *HPP],
        "create-256": ["ULT, private pool, user's scheduler", *HPP],
        **dict.fromkeys(("create-16384", "yield-256", "mutex", "mutex-8", "cond", "barrier-64", "memory-blocked"), HPP),
        "xs-unsorted": ["tasklet, by energy"]}
README = {"create-256": "create, join and free of 256 units, per unit", "yield-2": "yield, 2 ULTs",
          "mutex-8": "mutex, 8 ULTs with a yield inside", "eventual": "eventual, per hand-over",
          "barrier-64": "barrier of 64 ULTs, per ULT", "fib": "fib without cutoff, per spawn"}

def summary(data, works):
    about = data["machine"]
    how = "maint/bench --quick" if data["quick"] else "maint/bench"
    runs = data.get("runs", 1)
    run, most = ("one run", "") if runs == 1 else (f"{runs} runs, each of other works,", "at most: ")
    lines = [f"Medians of {rounds_of(data)} interleaved rounds of {run} of `{how}`: {describe(about)}, "
             f"{about['date']}, {most}{load_of(about)}; a raw switch took {data['raw']['median']:.1f} ns. Of each runtime "
             "its best way. Boost.Fiber's on two streams is shared_work, which leaves nearly all fibers on one of the "
             "threads: its rows of work stealing are those in which both work.", ""]
    rows = []
    for own, others in contests(data, works):
        rows.append([own["title"], own["streams"], amount(own["median"], own["unit"]),
                     "; ".join(f"{rival(r)} {amount(r['median'], r['unit'])}" for r in others[:3])])
        same = [r for r in data["results"] if (r["work"], r["streams"]) == (own["work"], own["streams"])]
        rows += [[f"the same: {r['series']}", r["streams"], amount(r["median"], r["unit"]), ""] for r in same
                 if r["peer"] == "libabt" and r["series"] in WAYS.get(r["work"], [])]
        rows += [[f"the same: Boost.Fiber, {r['series']}", r["streams"], "", amount(r["median"], r["unit"])] for r in same
                 if r["peer"] == "Boost.Fiber" and r["series"] and r["streams"] > 1]
    return "\n".join(lines) + "\n" + markdown(["work", "streams", "libabt", "the best others"], rows)


def short_summary(data):
    about = data["machine"]
    cpu = " ".join(about["cpu"].split()[:2])
    rows = []
    for own, others in contests(data, README):
        named = {rival(r): r for r in others}
        beside = [r for r in (named.pop("Argobots", None), *list(named.values())[:1]) if r]
        if own["streams"] == 1 and beside:
            rows.append([README[own["work"]], amount(own["median"], "ns"),
                         "; ".join(f"{rival(r)} {amount(r['median'], 'ns')}, {r['median'] / own['median']:.1f} times" for r in beside)])
    return f"Medians on {cpu}, {about['cores']} cores:\n\n" + markdown(["one stream", "libabt", "Argobots, and the best other"], rows)


def put_between(page, text, mode="--publish"):
    """Replaces what stands between two lines of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(f"<!-- maint/bench {mode} writes this -->\n")
    _, end, after = rest.partition(f"<!-- end of what {mode} writes -->\n")
    if not end:
        raise SystemExit(f"{page} has no place for the summary")
    page.write_text(before + begin + "\n" + text + "\n" + end + after, encoding="utf-8")


def publish(data, top):
    """The summaries between two lines of README.md and of doc/performance.md."""
    put_between(top / "doc" / "performance.md", summary(data, SUMMARY))
    put_between(top / "README.md", short_summary(data))
