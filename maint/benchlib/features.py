# SPDX-License-Identifier: BSD-3-Clause
"""What the features that are switched at run time cost: off, beside the library before them, and on, one by one."""

import statistics

from . import measure, programs

# label: the environment that switches it on. What they write goes nowhere.
FEATURES = {
    "off": {},
    "ABT_STATS=1": {"ABT_STATS": "1"},
    "ABT_TRACE": {"ABT_TRACE": "/dev/null"},
    "ABT_CHECK=1": {"ABT_CHECK": "1"},
    "ABT_DEADLOCK_CHECK=1": {"ABT_DEADLOCK_CHECK": "1"},
    "ABT_WATCHDOG=1000": {"ABT_WATCHDOG": "1000"},
    "ABT_DUMP_SIGNAL=USR1": {"ABT_DUMP_SIGNAL": "USR1"},
}

WORKS = ["create-256", "create-16384", "yield-2", "yield-256", "resume-suspend-to", "mutex", "mutex-8", "eventual", "cond",
         "barrier-64", "tasks-single", "fib"]


def cases(libabt, before, streams, works):
    """In the order of works, all variants of a case one after the other."""
    rows = []
    for plain in measure.cases_of([libabt], streams, works or set(WORKS)):
        row = [measure.Case(libabt, plain.work, plain.series, plain.streams, env, label)
               for label, env in FEATURES.items()]
        if before:
            row.insert(0, measure.Case(before, plain.work, plain.series, plain.streams, {}, "before"))
        rows.append(row)
    return rows


def ratios(row):
    """Of each variant over the first that has figures."""
    base = row[0]
    return [measure.over(case.ns, case.numbers, base.ns, base.numbers) if case.ns and base.ns else None for case in row]


def table(rows):
    """As Markdown: the time of the first variant, and how many times that each other takes."""
    labels = [case.label for case in rows[0]]
    lines = ["| work | streams | " + labels[0] + ", ns | " + " | ".join(labels[1:]) + " |",
             "|---|---:|" + "---:|" * len(labels)]
    columns = [[] for _ in labels]
    for row in rows:
        if not row[0].ns:
            continue
        figures = ratios(row)
        for column, figure in zip(columns, figures):
            if figure is not None:
                column.append(figure)
        name = f"{row[0].work}, {row[0].series}" if row[0].series else row[0].work
        lines.append(f"| {name} | {row[0].streams} | {statistics.median(row[0].ns):.4g} | "
                     + " | ".join("-" if figure is None else f"{figure:.3f}" for figure in figures[1:]) + " |")
    lines.append("| **median of all** | | | "
                 + " | ".join(f"**{statistics.median(c):.3f}**" if c else "-" for c in columns[1:]) + " |")
    return "\n".join(lines)


def run(libabt, given, streams, end):
    """Measures and prints; the number of cases that failed."""
    before = None
    if given.before:
        before = programs.with_library("before", given.before)
        before.works = libabt.works
    rows = cases(libabt, before, streams, set(given.work or []))
    flat = [case for row in rows for case in row]
    measure.measure(flat, libabt, given.rounds, given.ms, given.quick, end)
    print(table(rows))
    return sum(1 for case in flat if case.error)
