"""Writes what was measured: JSON, a table in Markdown, and plots."""

import json
import os
import platform
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


def describe(about):
    return f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, {about['compiler']}"


def amount(value, unit):
    if unit == "bytes":
        return f"{value:.0f} B"
    for limit, factor, name in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
        if value < limit:
            return f"{value / factor:.3g} {name}"
    return f"{value / 1e9:.3g} s"


def over(result):
    return result["limit"] is not None and result["raw_switches"] > result["limit"]


def rounds_of(data):
    counts = [len(r["rounds"]) for r in data["results"]]
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


# ---- The table ---------------------------------------------------------------------------------------------------


def table(data):
    about = data["machine"]
    lines = ["# Benchmarks", "",
             f"{describe(about)}; {about['date']}. Load of the machine at the start: {about['load']:.1f}.",
             f"Raw switch: {data['raw']['median']:.2f} ns, between {data['raw']['low']:.2f} and "
             f"{data['raw']['high']:.2f}. Medians of {rounds_of(data)} interleaved rounds; low and high are the rounds'. "
             "x raw: in raw switches of the same round; speedup: over the same work "
             "without a runtime."]
    for figure, heading in catalogue.FIGURES.items():
        mine = [r for r in data["results"] if r["figure"] == figure]
        if not mine:
            continue
        lines += ["", f"## {heading}"]
        if figure == "steps":
            lines += steps_table(mine)
            continue
        by_work = defaultdict(list)
        for r in mine:
            by_work[r["work"]].append(r)
        for work, results in by_work.items():
            lines += ["", f"**{catalogue.WORKS[work][0]}** (`{work}`)", ""] + work_table(results)
    lines += goals(data)
    if data["instructions"]:
        lines += ["", "## Instructions per operation", "", "| work | instructions |", "|---|---:|"]
        lines += [f"| {i['work']} | {i['count']} |" for i in data["instructions"]]
    lines += missing_lines(data)
    return "\n".join(lines) + "\n"


def goals(data):
    """What libabt is to reach beside others, as far as it was measured."""
    by_key = {(r["work"], r["series"], r["streams"]): r for r in data["results"]
              if r["peer"] == "libabt" and r["figure"] != "steps"}
    lines = []
    for work, peer, least in catalogue.GOALS:
        mine = [r for r in data["results"] if r["work"] == work and r["streams"] == 2]
        own = best_of(mine, lambda name: name == "libabt")
        other = best_of(mine, lambda name, peer=peer: name.split(",")[0] == peer)
        if own and other:
            ratio = other["median"] / own["median"]
            lines.append(f"| {own['title']}, 2 streams: {peer}'s time over libabt's | {ratio:.2f} | at least {least} |"
                         f"{' MISSED |' if ratio < least else ' |'}")
    for this, that, most in catalogue.RELATIONS:
        if this in by_key and that in by_key:
            ratio = by_key[this]["median"] / by_key[that]["median"]
            names = [f"{by_key[key]['title']} ({key[1]}, {key[2]})" for key in (this, that)]
            lines.append(f"| {names[0]} over {names[1]} | {ratio:.2f} | at most {most} |"
                         f"{' MISSED |' if ratio > most else ' |'}")
    return ["", "## Goals", "", "| what | ratio | goal | |", "|---|---:|---:|---|", *lines] if lines else []


def work_table(results):
    if results[0]["figure"] == "create":
        return create_table(results)
    lines = ["| who | streams | median | low | high | x raw | at most | speedup |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    sequential = next((r["median"] for r in results if r["peer"] == measure.SEQUENTIAL), None)
    for r in sorted(results, key=lambda r: (r["streams"], r["median"])):
        unit = r["unit"]
        raw = f"{r['raw_switches']:.1f}" if r["raw_switches"] is not None else ""
        limit = f"{r['limit']}{' OVER' if over(r) else ''}" if r["limit"] is not None else ""
        speedup = f"{sequential / r['median']:.2g}" if sequential else ""
        lines.append(f"| {r['name']} | {r['streams']} | {amount(r['median'], unit)} | {amount(r['low'], unit)} | "
                     f"{amount(r['high'], unit)} | {raw} | {limit} | {speedup} |")
    return lines


def create_table(results):
    """With minimum, average and maximum per unit: of the batches of a round, of these the median."""
    lines = ["| who | streams | median | min | average | max | x raw | at most |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for r in sorted(results, key=lambda r: (r["streams"], r["median"])):
        limit = f"{r['limit']}{' OVER' if over(r) else ''}" if r["limit"] is not None else ""
        figures = " | ".join(amount(r[key], "ns") for key in ("median", "batch_min", "batch_avg", "batch_max"))
        lines.append(f"| {r['name']} | {r['streams']} | {figures} | {r['raw_switches']:.1f} | {limit} |")
    return lines


def steps_table(results):
    lines = ["", "| what | median | x raw | to the line \"all\" above |", "|---|---:|---:|---:|"]
    base = None
    for r in results:
        if r["name"].endswith(", all"):
            base = r["raw_switches"]
        ratio = f"{r['raw_switches'] / base:.2f}" if base else ""
        lines.append(f"| {r['name']} | {amount(r['median'], r['unit'])} | {r['raw_switches']:.1f} | {ratio} |")
    return lines + ["", "Not switchable while the library runs:", ""] + [f"- {s}" for s in catalogue.NOT_SWITCHABLE]


def missing_lines(data):
    lines = []
    if data["missing"]:
        lines += ["", "Not measured:", ""] + [f"- {name}: {why}" for name, why in data["missing"]]
    if data["failed"]:
        lines += ["", "Failed:", ""] + [f"- {f}" for f in data["failed"]]
    return lines


# ---- A summary for the pages -------------------------------------------------------------------------------------

SUMMARY = ["create-256", "create-16384", "yield-2", "yield-256", "mutex-8", "barrier-64", "for-loop", "tasks-single",
           "tasks-parallel", "nested", "fib", "nqueens", "uts-t1", "xs-unsorted", "memory-blocked"]
BEGIN, END = "<!-- maint/bench --publish writes this -->\n", "<!-- end of what it writes -->\n"


def best_of(results, wanted):
    mine = [r for r in results if wanted(r["peer"])]
    return min(mine, key=lambda r: r["median"]) if mine else None


def contests(data):
    """For each work and number of streams libabt's best way and the best way of each other runtime, the best first."""
    for work in SUMMARY:
        here = [r for r in data["results"] if r["work"] == work and r["figure"] != "steps"]
        for streams in sorted({r["streams"] for r in here}):
            mine = [r for r in here if r["streams"] == streams]
            own = best_of(mine, lambda peer: peer == "libabt")
            peers = {r["peer"] for r in mine} - {"libabt", measure.SEQUENTIAL}
            others = sorted((best_of(mine, lambda p, peer=peer: p == peer) for peer in peers),
                            key=lambda r: r["median"])
            if own and others:
                yield own, others


def summary(data):
    about = data["machine"]
    lines = [f"Medians of {rounds_of(data)} interleaved rounds of one run of `maint/bench`: {describe(about)}, "
             f"{about['date']}, load {about['load']:.1f}; a raw switch took {data['raw']['median']:.1f} ns. Of each runtime "
             "its best way.", "", "| work | streams | libabt | the best others |", "|---|---:|---:|---|"]
    for own, others in contests(data):
        best = "; ".join(f"{r['peer']} {amount(r['median'], r['unit'])}" for r in others[:3])
        lines.append(f"| {own['title']} | {own['streams']} | {amount(own['median'], own['unit'])} | {best} |")
    return "\n".join(lines) + "\n"


def plot_summary(pyplot, data, path):
    """How many times longer the others take than libabt; left of 1 they are faster."""
    rows = list(contests(data))
    pane, axis = pyplot.subplots(figsize=(8, 0.24 * len(rows) + 1.2))
    seen = set()
    for i, (own, others) in enumerate(reversed(rows)):
        for r in others:
            axis.plot(r["median"] / own["median"], i, "o", markersize=5, color=COLOURS.get(r["peer"], "#374151"),
                      label=None if r["peer"] in seen else r["peer"])
            seen.add(r["peer"])
    axis.axvline(1, color=COLOURS["libabt"], linewidth=1.5)
    axis.set_yticks(range(len(rows)))
    axis.set_yticklabels([f"{own['title']}, {own['streams']}" for own, _ in reversed(rows)], fontsize=7)
    axis.set_xscale("log")
    axis.grid(axis="x", linewidth=0.3)
    axis.tick_params(axis="x", labelsize=7)
    axis.set_xlabel("time over libabt's (the number behind a work is that of its streams)", fontsize=7)
    axis.set_title(describe(data["machine"]), fontsize=8)
    axis.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    pane.tight_layout()
    pane.savefig(path, metadata={"Date": None})
    pyplot.close(pane)


def publish(data, top):
    """The summary between two lines of doc/performance.md, and its plot beside it."""
    page = top / "doc" / "performance.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise SystemExit("doc/performance.md has no place for the summary")
    pyplot = load_pyplot()
    plot = "\n![libabt beside its peers](performance.svg)\n" if pyplot else ""
    page.write_text(before + BEGIN + "\n" + summary(data) + plot + "\n" + END + after, encoding="utf-8")
    if pyplot:
        plot_summary(pyplot, data, top / "doc" / "performance.svg")


# ---- Plots -------------------------------------------------------------------------------------------------------

COLOURS = {"sequential": "#9ca3af", "libabt": "#c2410c", "argobots": "#a16207", "pthreads": "#6b7280", "libgomp": "#1d4ed8",
           "libgomp, active waiting": "#60a5fa", "libomp": "#047857", "libomp, active waiting": "#6ee7b7",
           "oneTBB": "#7e22ce", "Boost.Fiber": "#be185d", "Go": "#0e7490", "rayon": "#4d7c0f", "tokio": "#854d0e"}


def ends_of(result):
    pair = ("batch_min", "batch_avg") if result["figure"] == "create" else ("low", "high")
    return [result[key] for key in pair]


def bars(axis, results, scale):
    """One bar for each way, the best on top; a whisker from the lowest to the highest round. For creation it goes from
    the minimum to the average per unit: the maximum, which the table has, tells of the system's interrupts."""
    results = sorted(results, key=lambda r: -r["median"])
    for i, r in enumerate(results):
        value = r["median"] / scale
        axis.barh(i, value, color=COLOURS.get(r["peer"], "#374151"), height=0.7)
        low, high = ends_of(r)
        axis.plot([low / scale, high / scale], [i, i], color="black", linewidth=1)
        axis.text(max(value, high / scale), i, f" {amount(r['median'], r['unit'])}", va="center", fontsize=7)
    axis.set_yticks(range(len(results)))
    axis.set_yticklabels([r["name"] for r in results], fontsize=7)
    axis.set_xscale("log")
    axis.tick_params(axis="x", labelsize=7)
    axis.margins(x=0.2)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def lines_of(pyplot, axis, results, scale):
    """Over the number of streams, with the lowest and highest rounds: the form of the papers."""
    colours, seen, ways = pyplot.get_cmap("tab20"), [], defaultdict(list)
    for r in results:
        ways[r["name"]].append(r)
    for name, points in ways.items():
        points.sort(key=lambda r: r["streams"])
        x = [p["streams"] for p in points]
        y = [p["median"] / scale for p in points]
        spread = [[(p["median"] - p["low"]) / scale for p in points], [(p["high"] - p["median"]) / scale for p in points]]
        style = "o-" if points[0]["peer"] == "libabt" else "s--"
        colour = colours(len(seen) % 20)
        seen.append(name)
        axis.errorbar(x, y, yerr=spread, fmt=style, color=colour, markersize=3, linewidth=1, capsize=2, label=name)
    axis.set_yscale("log")
    axis.set_xticks(sorted({r["streams"] for r in results}))
    axis.set_xlabel("streams", fontsize=7)
    axis.tick_params(labelsize=7)
    axis.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))


def unit_of(results):
    """A unit in which the figures of a plot read well."""
    least = min(r["median"] for r in results)
    if results[0]["unit"] == "bytes":
        return 1, "bytes"
    return (1, "ns") if least < 2e3 else (1e3, "us") if least < 2e6 else (1e6, "ms")


def plot_figure(pyplot, figure, results, about, directory):
    panels = defaultdict(list)
    for r in results:
        panels[(r["work"], r["streams"])].append(r)
    if len({r["streams"] for r in results}) > 2:  # on a large machine: curves
        panels = defaultdict(list)
        for r in results:
            panels[(r["work"], None)].append(r)
    if figure == "steps":
        panels = {("steps", 1): results}
    keys = list(panels)
    columns = 1 if len(keys) == 1 else 2
    rows = (len(keys) + columns - 1) // columns
    most = max(len(panels[k]) for k in keys)
    size = (6.5 * columns, rows * max(2.2, 0.19 * most + 0.9))
    pane, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False)
    for i, axis in enumerate(axes.flat):
        if i >= len(keys):
            axis.set_visible(False)
            continue
        work, streams = keys[i]
        mine = panels[keys[i]]
        scale, unit = unit_of(mine)
        title = "each turned off for itself" if work == "steps" else catalogue.WORKS[work][0]
        if streams is None:
            lines_of(pyplot, axis, mine, scale)
            axis.set_title(f"{title} ({unit})", fontsize=8)
        else:
            bars(axis, mine, scale)
            axis.set_title(f"{title}, {streams} stream{'s' if streams > 1 else ''} ({unit})", fontsize=8)
    pane.suptitle(f"{catalogue.FIGURES[figure]}\n{describe(about)}", fontsize=9)
    pane.tight_layout()
    for kind in ("png", "svg"):
        pane.savefig(directory / f"{figure}.{kind}", dpi=130)
    pyplot.close(pane)


def load_pyplot():
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "libabt"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot
    return pyplot


def plots(data, directory):
    """Returns what could not be done, or nothing."""
    pyplot = load_pyplot()
    if not pyplot:
        return "no plots: python3-matplotlib is not installed (maint/bench --install)"
    for figure in catalogue.FIGURES:
        mine = [r for r in data["results"] if r["figure"] == figure]
        if mine:
            plot_figure(pyplot, figure, mine, data["machine"], directory)
    return None


def write(data, directory):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "result.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (directory / "table.md").write_text(table(data), encoding="utf-8")
    return plots(data, directory)
