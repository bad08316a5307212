# SPDX-License-Identifier: BSD-3-Clause
"""How often each goal for many streams holds: in runs of the same works with several layouts of the stack, which decide who
meets whom (maint/bench --cores --goals)."""

import statistics

BEGIN, END = "<!-- maint/bench --cores --goals writes this -->\n", "<!-- end of what --goals writes -->\n"
MARGIN = 1.05  # a figure within 5 % of its goal is met
# What a stream does alone. The last three need no locked instruction where there is but one stream: from two on they scale.
ALONE = {"create": 1, "create-own": 1, "yield": 1, "keys": 1, "tasklets": 2, "timers": 2, "own-mutex": 2}


def moved(_few, many):
    return many["transfers"]


def spent(_few, many):
    return many["ns"]


def met(streams):
    """Microseconds until all have met."""
    return lambda _few, many: many["ns"] * streams / 1000


def speedup(few, many):
    return few["ns"] / many["ns"]


def share(ratio):
    """The time of one operation, of that on fewer streams divided by the ratio of their numbers."""
    return lambda few, many: many["ns"] * ratio / few["ns"]


# (work, streams, what is looked at, its function, at most or at least, goal)
GOALS = [(work, 64, what, function, "at most", goal) for work, few in ALONE.items()
         for what, function, goal in (("transfers", moved, 0.05),
                                      (f"time, of 1/{64 // few} of that on {few}", share(64 // few), 1.2))]
GOALS += [(work, n, what, function, "at most", goal) for work, limit in (("create-shared", 250), ("mutex", 200)) for n in (16, 64)
          for what, function, goal in (("transfers", moved, 6), ("ns", spent, limit))]
GOALS += [
    ("barrier", 64, "transfers", moved, "at most", 8),
    ("barrier", 64, "us until all have met", met(64), "at most", 3),
    ("xbarrier", 32, "transfers", moved, "at most", 2.5),
    ("xbarrier", 32, "us until all have met", met(32), "at most", 1),
    ("give-2us", 8, "times as fast as one", speedup, "at least", 6.4),
    ("give-2us", 16, "transfers", moved, "at most", 6),
    ("give-2us", 32, "times as fast as one", speedup, "at least", 10),
    ("give-2us", 64, "times as fast as one", speedup, "at least", 1),
]
GOALS += [(work, n, what, function, *goal) for work in ("fork-fib", "fork-for", "fork-wide", "fork-tree")
          for n, least in ((16, 11.2), (64, 32))
          for what, function, goal in (("times as fast as one", speedup, ("at least", least)), ("transfers", moved, ("at most", 0.02)))]


def few_of(work):
    """The number of streams with which more are compared."""
    return ALONE.get(work, 1)


def needed(works):
    """[(work, streams)] of the runs that the goals of these works need."""
    return sorted({(work, n) for work, streams, *_ in GOALS if work in works for n in (few_of(work), streams)})


def holds(bound, value, goal):
    return value <= goal * MARGIN if bound == "at most" else value * MARGIN >= goal


def figure(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(runs, titles, works):
    """runs: {(work, streams): [result of each layout, None where it failed]}."""
    text = ["| one operation | streams | | goal | median | holds |", "|---|---:|---|---:|---:|---:|"]
    for work, n, what, function, bound, goal in GOALS:
        if work not in works:
            continue
        pairs = [(few, many) for few, many in zip(runs[work, few_of(work)], runs[work, n]) if few and many]
        values = [function(few, many) for few, many in pairs]
        held = sum(holds(bound, value, goal) for value in values)
        median = figure(statistics.median(values)) if values else "-"
        text.append(f"| {titles[work]} | {n} | {what} | {bound} {goal} | {median} | {held} of {len(runs[work, n])} |")
    return "\n".join(text) + "\n"
