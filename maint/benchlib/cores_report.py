# SPDX-License-Identifier: BSD-3-Clause
"""What maint/bench --cores prints and writes: a table, its picture, and the lines of code behind what the simulator counts.
A run is a dictionary, see cores.run_all."""

import collections
import math
import re
import subprocess

from . import programs, report

MOST = 10  # lines of code that are reported
IN_PAGE = [1, 4, 16, 64]


def exponent(points):
    """e of y = c * x^e by least squares, of [(x, y)]."""
    points = [(math.log(x), math.log(y)) for x, y in points if y > 0]
    if len(points) < 2:
        return None
    mean_x, mean_y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


# ---- Lines of code -------------------------------------------------------------------------------------------------


def place_of(frames):
    """The line of the program that waits: not that of a lock or an atomic access that it calls."""
    frames = [frame.partition(" ")[0] for frame in frames]
    called = ("/lock/spin.", "/lock/bias.", "/base/", "/arch/")
    frame = next((f for f in frames if not any(part in f for part in called)), frames[0])
    inside = re.search(r"/((src|test|addons|include)/.*)$", frame)
    return inside[1] if inside and (programs.TOP / inside[1].rpartition(":")[0]).exists() else frame


def places(module, offsets):
    """The lines of the source for those places of a file."""
    done = subprocess.run(["addr2line", "-a", "-i", "-e", module, *offsets], capture_output=True, text=True, check=False)
    found = [part.splitlines()[1:] for part in re.split(r"^(?=0x)", done.stdout, flags=re.M) if part]
    if done.returncode != 0 or len(found) != len(offsets):
        return [module] * len(offsets)
    return [module if frames[0].startswith("??") else place_of(frames) for frames in found]


def lines_of(sites):
    """{place in the source: [transfers, cycles, passes, words]} of what the simulator says of instructions."""
    by_module, found = collections.defaultdict(list), collections.defaultdict(lambda: [0, 0, 0, 0])
    for *figures, module, offset in sites:
        by_module[module].append(([float(figure) for figure in figures], offset))
    for module, rows in by_module.items():
        for (figures, _), place in zip(rows, places(module, [offset for _, offset in rows])):
            found[place] = [a + b for a, b in zip(found[place], figures)]
    return found


def text_at(place):
    path, _, line = place.rpartition(":")
    try:
        return (programs.TOP / path).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()
    except (OSError, ValueError, IndexError):
        return ""


def most_moved(lines):
    """[[place, transfers, cycles, text]] of those that move most."""
    order = sorted(lines.items(), key=lambda row: -row[1][0])[:MOST]
    return [[place, transfers, cycles, text_at(place)] for place, (transfers, cycles, _, _) in order if transfers > 0]


def print_lines(lines):
    print(f"{'transfers':>9} {'cycles':>9}  line")
    for place, (transfers, cycles, _, _) in sorted(lines.items(), key=lambda row: -row[1][1])[:MOST]:
        print(f"{transfers:9.3f} {cycles:9.1f}  {place}: {text_at(place)}")


def print_shared(work, streams, result):
    """Each line of code that writes what another stream has written, or that waits for memory."""
    lines = sorted(lines_of(result["sites"]).items(), key=lambda row: (-row[1][0], -row[1][2]))
    print(f"\n{work}, {streams} streams: {result['transfers']:.4f} transfers of an operation")
    print(f"{'transfers':>9} {'passes':>9} {'words':>6}  line")
    for place, (transfers, _, passes, words) in lines:
        print(f"{transfers:9.5f} {passes:9.5f} {words:6.0f}  {place}: {text_at(place)}")


# ---- Tables --------------------------------------------------------------------------------------------------------


def names_of(rows, work):
    return list(dict.fromkeys(row["library"] for row in rows if row["work"] == work))


def points_of(rows, work, name, quantity):
    return [(row["streams"], row[quantity]) for row in rows if (row["work"], row["library"]) == (work, name) and quantity in row]


def figure(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2g}" if value >= 0.01 else "0"


def table(rows, titles, most=None):
    """Time and, in parentheses, transfers."""
    streams = [n for n in most or IN_PAGE if any(row["streams"] == n for row in rows)]
    text = []
    for work in dict.fromkeys(row["work"] for row in rows):
        for name in names_of(rows, work):
            ns, moved = dict(points_of(rows, work, name, "ns")), dict(points_of(rows, work, name, "transfers"))
            cells = [f"{figure(ns[n])} ({figure(moved[n])})" if n in ns else "" for n in streams]
            fitted = exponent(list(ns.items()))
            text.append([titles[work], name, *cells, "" if fitted is None else f"{fitted:.2f}"])
    return report.markdown(["one operation", "", *streams, "exponent"], text, 2)


def table_of_lines(rows, titles, most, least):
    """The lines of code that move most, but for those of the works themselves."""
    text = []
    for row in rows:
        lines = [line for line in row.get("lines", []) if "/bench/" not in line[0] and line[1] >= least]
        for place, transfers, _, code in lines[:most] if row["library"] != "libgomp" else []:
            code = (code if len(code) <= 72 else code[:69] + "...").replace("|", "\\|").replace("`", "'")
            text.append([titles[row["work"]], f"`{place.rpartition('/')[2]}` `{code}`", figure(transfers)])
    return report.markdown(["one operation", "line", "transfers"], text, 2)


def finish(rows, titles, directory, publish):
    print(table(rows, titles, sorted({row["streams"] for row in rows})))
    report.keep(rows, table(rows, titles) + "\n" + table_of_lines(rows, titles, MOST, 0), directory)
    if not publish:
        return
    text = (table(rows, titles) + "\n<!-- picture cores.svg: Time of an operation -->\n\n"
            "The lines of code that move most lines of memory, of each operation that moves some, on 16 streams:\n\n"
            + table_of_lines(rows, titles, 3, 0.05))
    report.put_between(programs.TOP / "doc" / "scaling.md", text, "--cores")
