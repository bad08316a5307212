# SPDX-License-Identifier: BSD-3-Clause
"""The plots: one panel a question, its axis says which side is better. A point is a median, its bar goes from the least
of the rounds to their upper quartile. Each runtime has a form of its own, so that a picture without colours says the
same; colours are those of Okabe and Ito, which colour-blind readers can tell apart. No text stands where points may be."""

import io
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

from . import measure

ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE, BLACK, GREY = (
    "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7", "#000000", "#8a8a8a")

# runtime: colour, form. One group a colour: libabt, OpenMP, oneTBB, Rust, Go, and libraries of threads.
LOOKS = {
    "libabt": (VERMILLION, "D"),
    "GLT": (VERMILLION, "s"),
    "libabtomp": (VERMILLION, "o"),
    "Argobots": (BLACK, "+"),
    "Boost.Fiber": (BLACK, "o"),
    "pthreads": (BLACK, "x"),
    "libgomp": (BLUE, "<"),
    "libomp": (BLUE, ">"),
    "oneTBB": (GREEN, "^"),
    "rayon": (PURPLE, "P"),
    "tokio": (PURPLE, "s"),
    "Go": (SKY, "v"),
    measure.SEQUENTIAL: (GREY, "|"),
}
BETTER = "← less is better"


# ---- Files: an element a line, no group or name that nothing refers to, text as text ------------------------------------

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"


def short(value):
    """Without breaks of lines, and with two decimals."""
    value = re.sub(r"(?<![#\w])-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value)
    return " ".join(value.split())


def children(element, used):
    """Those of an element, and in place of a group that says nothing its own."""
    for child in list(element):
        for name, value in list(child.attrib.items()):
            if name == "id" and value not in used or value.startswith("rotate(-0 "):
                del child.attrib[name]
            else:
                child.attrib[name] = short(value)
        inner = list(children(child, used))
        if child.tag == SVG + "metadata":
            continue
        if child.tag == SVG + "g" and not child.attrib:
            yield from inner
        else:
            child[:] = inner
            yield child


def compact(text):
    for prefix, space in (("", SVG), ("xlink", XLINK)):
        ElementTree.register_namespace(prefix, space[1:-1])
    tree = ElementTree.ElementTree(ElementTree.fromstring(text))
    root = tree.getroot()
    root[:] = list(children(root, set(re.findall(r"#([\w-]+)", text))))
    ElementTree.indent(tree, "")
    out = io.BytesIO()
    tree.write(out, encoding="utf-8", xml_declaration=True)
    return out.getvalue().decode() + "\n"


def save(pane, path):
    """A figure of matplotlib, the same bytes for the same data."""
    out = io.StringIO()
    pane.savefig(out, format="svg", metadata={"Date": None}, dpi=100)
    path.write_text(compact(out.getvalue()), encoding="utf-8")


# ---- What all pictures have in common --------------------------------------------------------------------------------


def runtime(result):
    """Without how it waits."""
    return result["peer"].split(",")[0]


def load_pyplot():
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "libabt", "svg.fonttype": "none", "font.family": "sans-serif",
                                "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"]})
    from matplotlib import pyplot
    return pyplot


def duration(value, _position=None):
    for limit, factor, name in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if value < limit:
            return f"{value / factor:.3g} {name}"
    return f"{value / 1e9:.3g} s"


def size(value, _position=None):
    return f"{value:.0f} B" if value < 1024 else f"{value / 1024:.3g} KiB"


def text_of(result):
    return (size if result["unit"] == "bytes" else duration)(result["median"])


def draw_point(axis, result, y, markersize):
    colour, form = LOOKS.get(runtime(result), (GREY, "o"))
    low, high = result["low"], max(result.get("quartile", result["high"]), result["median"])
    front = 5 if result["peer"] == "libabt" else 3
    axis.plot([low, high], [y, y], color=colour, linewidth=1.2, zorder=front - 1)
    axis.plot(result["median"], y, form, color=colour, markersize=markersize, markeredgewidth=1.3, zorder=front,
              markerfacecolor=colour if result["peer"] == "libabt" else "white")


def finish_axis(axis, unit, fontsize):
    from matplotlib.ticker import LogLocator, NullLocator
    base = 4 if unit == "bytes" else 10
    axis.set_xscale("log", base=base)
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(LogLocator(base, subs=(1, 2, 5) if high < 50 * low and base == 10 else (1,), numticks=6))
    axis.xaxis.set_major_formatter(size if unit == "bytes" else duration)
    axis.xaxis.set_minor_locator(NullLocator())
    axis.tick_params(axis="x", labelsize=fontsize)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x", linewidth=0.4, color="#dddddd")
    axis.set_axisbelow(True)
    axis.set_xlabel(BETTER, fontsize=fontsize, loc="left")
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)


# ---- For the pages: a few questions, each with its works and their labels ------------------------------------------

QUESTIONS = [
    ("What does a switch cost?", {"yield-2": "yield, 2 ULTs", "yield-256": "yield, 256 ULTs"}),
    ("How much memory does a unit hold?", {"memory-created": "created", "memory-blocked": "blocked"}),
    ("What does a unit cost: create, run, join, free?", {"create-256": "256 at a time", "create-16384": "16384 at a time"}),
    ("What does waiting for each other cost?", {"mutex-8": "mutex, 8 ULTs", "eventual": "hand-over",
                                                "barrier-64": "barrier of 64"}),
    ("How long does a parallel loop take?", {"for-loop": "1000 elements", "tasks-single": "1000 tasks",
                                             "nested": "1000 x 1000"}),
    ("What does a task in a tree cost?", {"fib": "fib", "nqueens": "N-Queens", "uts-t1": "UTS T1"}),
]


def best(results):
    return min(results, key=lambda r: r["median"])


def rows_of(results, works):
    """For each of some works and each number of streams: a label, libabt's best way, and that of each other runtime."""
    for work, label in works.items():
        here = [r for r in results if r["work"] == work and r["peer"] != measure.SEQUENTIAL]
        counts = sorted({r["streams"] for r in here if r["peer"] == "libabt"})
        for n in counts:
            ways = defaultdict(list)
            for r in here:
                if r["streams"] == n:
                    ways[runtime(r)].append(r)
            own = best(ways.pop("libabt"))
            streams = f"{n} stream{'s' if n > 1 else ''}"
            yield (label if len(counts) == 1 else f"{label}, {streams}" if n == counts[0] else streams,
                   own, [best(mine) for mine in ways.values()])


def draw_question(axis, title, rows):
    for i, (_, own, others) in enumerate(rows):
        y = len(rows) - 1 - i
        axis.axhline(y, color="#eeeeee", linewidth=0.8, zorder=0)
        for r in reversed(others):
            draw_point(axis, r, y, 5.5)
        draw_point(axis, own, y, 7)
        axis.text(1.03, y, text_of(own), transform=axis.get_yaxis_transform(), va="center", fontsize=8.5,
                  color=VERMILLION, fontweight="bold")
    axis.set_yticks(range(len(rows)))
    axis.set_yticklabels([label for label, _, _ in reversed(rows)], fontsize=9)
    axis.set_ylim(-0.6, len(rows) - 0.2)
    axis.set_title(title, fontsize=10, fontweight="bold")
    finish_axis(axis, rows[0][1]["unit"], 8.5)


def draw_legend(pane, peers):
    from matplotlib.lines import Line2D
    marks = [Line2D([], [], color=LOOKS[p][0], marker=LOOKS[p][1], linestyle="", markersize=7, markeredgewidth=1.3,
                    markerfacecolor=LOOKS[p][0] if p == "libabt" else "white") for p in peers]
    pane.legend(marks, peers, loc="lower center", bbox_to_anchor=(0.5, 0.2 / pane.get_figheight()), ncol=6, fontsize=9, frameon=False)


def summary(pyplot, results, path):
    """The questions in two columns, as wide as a page."""
    panels = [(title, list(rows_of(results, works))) for title, works in QUESTIONS]
    panels = [(title, rows) for title, rows in panels if rows]
    lines = [panels[i:i + 2] for i in range(0, len(panels), 2)]
    heights = [max(len(rows) for _, rows in line) + 1.5 for line in lines]
    pane, axes = pyplot.subplots(len(lines), 2, figsize=(10, 0.36 * sum(heights) + 1.2), squeeze=False,
                                 height_ratios=heights)
    for axis, panel in zip(axes.flat, panels):
        draw_question(axis, *panel)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    there = {runtime(r) for _, rows in panels for _, own, others in rows for r in [own, *others]}
    draw_legend(pane, [name for name in LOOKS if name in there])
    pane.text(0.5, 0.005, "The point is the median of the rounds; the bar goes from the least to the upper quartile. "
              "Scales are logarithmic.", ha="center", fontsize=8.5, color="#444444")
    pane.tight_layout(rect=(0, 0.85 / pane.get_figheight(), 1, 1), h_pad=1.6, w_pad=2)
    save(pane, path)
    pyplot.close(pane)
