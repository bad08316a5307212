# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs in interleaved rounds."""

import functools
import json
import os
import signal
import statistics
import subprocess
import sys
import time

from . import catalogue

SEQUENTIAL = "sequential"  # the series of works without any runtime
LIMIT = 30  # seconds that one measurement may take, with its preparations
QUIET = 1.2  # a CPU whose yardstick is longer, of its least, is slowed down by others


@functools.lru_cache(None)
def shared_grids():
    """Memory for the large tables of the lookups: the first program fills it, the others find it."""
    return os.memfd_create("grids")


def how_it_ended(done):
    said = done.stderr.strip()[-200:]
    if done.returncode > 0:
        return said or f"ended with {done.returncode}"
    try:
        name = signal.Signals(-done.returncode).name
    except ValueError:
        name = f"signal {-done.returncode}"
    return f"crashed: {name}" + (f" ({said})" if said else "")


def usable_cpus(num):
    return sorted(os.sched_getaffinity(0))[:num]


class Case:
    """One work by one program on some streams, and its figures: one per round."""

    def __init__(self, program, work, series, streams):
        self.program, self.work, self.series, self.streams = program, work, series, streams
        self.ns, self.raw, self.lowest, self.average, self.highest = [], [], [], [], []
        self.error, self.hangs = None, False

    @property
    def name(self):
        return SEQUENTIAL if self.series == SEQUENTIAL else ", ".join(p for p in (self.program.name, self.series) if p)

    def is_long(self):
        return catalogue.WORKS[self.work][3]

    def run(self, ms, quick, limit=LIMIT, cpus=None):
        """One figure, within a limit in seconds; an error is kept and told, and the case is not run again."""
        cpus = cpus or usable_cpus(self.streams)
        command = self.program.command + ["run", self.work, self.series, str(self.streams), str(ms)]
        env, fds = self.program.environment(quick), ()
        if self.work.startswith("xs-"):
            fds = (shared_grids(),)
            env["BENCH_XS_FD"] = str(fds[0])
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=limit, pass_fds=fds,
                                  preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        except subprocess.TimeoutExpired:
            self.error = f"skipped: did not end within {limit:g} s"
            self.hangs = True
            return None
        try:
            if done.returncode == 0:
                return json.loads(done.stdout)
            self.error = how_it_ended(done)
        except ValueError:
            self.error = f"no figures, but {done.stdout[:80]!r}"
        return None

    def siblings(self):
        """The works of one figure that a program does in one way: when one of them hangs, the others are likely to."""
        return self.program.name, catalogue.WORKS[self.work][2], self.series

    def place(self):
        return f"{self.work}, {self.name}, {self.streams} stream{'s' if self.streams > 1 else ''}"

    def add(self, figures, raw):
        self.ns.append(figures["ns"])
        self.raw.append(raw)
        self.lowest.append(figures["min"])
        self.average.append(figures["avg"])
        self.highest.append(figures["max"])

    def num_quiet(self, most):
        return sum(1 for raw in self.raw if raw <= most)

    def keep_quiet(self, most, least):
        """Leaves out what was measured beside others, unless there is hardly anything else."""
        if self.num_quiet(most) < max(1, least):
            return
        kept = [i for i, raw in enumerate(self.raw) if raw <= most]
        for name in ("ns", "raw", "lowest", "average", "highest"):
            setattr(self, name, [getattr(self, name)[i] for i in kept])

    def result(self):
        title, unit, figure, _ = catalogue.WORKS[self.work]
        median = statistics.median
        limit = catalogue.LIMITS.get((self.work, self.series, self.streams))
        return {
            "work": self.work, "title": title, "unit": unit, "figure": figure,
            "peer": SEQUENTIAL if self.series == SEQUENTIAL else self.program.name, "series": self.series,
            "name": self.name, "streams": self.streams,
            "median": median(self.ns), "low": min(self.ns), "high": max(self.ns),
            "batch_min": median(self.lowest), "batch_avg": median(self.average), "batch_max": median(self.highest),
            "raw_switches": median(n / r for n, r in zip(self.ns, self.raw)) if unit == "ns" else None,
            "limit": limit if self.program.name == "libabt" else None, "rounds": self.ns,
        }


def cases_of(programs, streams, works):
    """In the order of the catalogue, so that those of one work are run one after the other; long works come last."""
    cases = []
    for work in sorted(catalogue.WORKS, key=lambda name: catalogue.WORKS[name][3]):
        if works and work not in works:
            continue
        for program in programs:
            for name, series, where in program.works:
                if name == work:
                    counts = [1] if where == "1" else [n for n in streams if where == "*" or n >= int(where)]
                    inside = series not in program.outside.get(work, ())
                    cases += [Case(program, work, series, n) for n in counts
                              if n >= program.least_streams and (inside or n == 1)]
    return cases


class Progress:
    """Says how far it is, in place on a terminal, else now and then."""

    def __init__(self, total):
        self.total, self.done, self.start, self.last = total, 0, time.monotonic(), 0
        self.form, self.every = ("\r\033[K{}", 0.2) if sys.stderr.isatty() else ("{}\n", 10)

    def step(self, text):
        self.done += 1
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            line = f"{min(99, 100 * self.done // self.total):3d}% {now - self.start:4.0f} s  {text}"
            print(self.form.format(line), end="", file=sys.stderr, flush=True)

    def end(self):
        if self.every < 1:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Yardstick:
    """The raw switch, before and after each case, on the slowest of some of its CPUs. A virtual machine's CPU is often
    one of two threads of a core: while another machine uses the second one, works take up to twice as long, and not all
    alike. What follows a case is before the next one, too, if that has as many streams."""

    def __init__(self, program, quick):
        self.case, self.quick, self.figures = Case(program, "yield-2", "", 1), quick, []
        self.case.work = "raw-switch"
        self.last = None, None  # on how many streams, and the figure

    def take(self, streams):
        slowest = 0
        cpus = usable_cpus(streams)
        for cpu in cpus[:: (len(cpus) + 3) // 4]:  # four of many are enough
            figures = self.case.run(3, self.quick, cpus=[cpu])
            if figures is None:
                raise SystemExit(f"the raw switch: {self.case.error}")
            self.figures.append(figures["ns"])
            slowest = max(slowest, figures["ns"])
        self.last = streams, slowest
        return slowest

    def most(self):
        return QUIET * min(self.figures)

    def measure(self, case, ms, limit):
        streams, last = self.last
        before = last if streams == case.streams else self.take(case.streams)
        figures = case.run(ms, self.quick, limit)
        after = self.take(case.streams)
        if figures:
            case.add(figures, (before + after) / 2)


def measure(cases, raw_program, rounds, ms, quick, end, limit=LIMIT):
    """Round after round, each with all cases, until each has been measured so many times while its CPUs were quiet, but
    at most three times as many; long works in every third. After a hang its siblings are left out. When the time has
    come, only what has no figure yet is measured, and of that not the long works. Returns the figures of the raw
    switch."""
    yardstick = Yardstick(raw_program, quick)
    long_rounds = (rounds + 2) // 3
    total = sum(long_rounds if c.is_long() else rounds for c in cases)
    progress = Progress(total)
    hung = {}  # siblings: the one that hangs
    for r in range(3 * rounds):
        for case in cases:
            late = time.monotonic() > end
            enough = r >= rounds and (case.is_long() or case.num_quiet(yardstick.most()) >= rounds)
            if case.error or enough or (case.is_long() and r % 3) or (late and (case.ns or case.is_long())):
                continue
            if case.siblings() in hung:
                case.error = f"left out: {hung[case.siblings()]} did not end"
                continue
            progress.step(f"round {r + 1}: {case.work}, {case.name}, {case.streams}")
            yardstick.measure(case, ms, limit)
            if case.error:
                progress.end()
                print(f"{case.place()}: {case.error}", file=sys.stderr)
            if case.hangs:
                hung[case.siblings()] = case.work
    progress.end()
    for case in cases:
        case.keep_quiet(yardstick.most(), 1 if case.is_long() else rounds // 3)
    return yardstick.figures
