# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --mpi: messages of 8 bytes from one native thread to many ULTs, by libabtmpi, in microseconds there and back.
Bare is a plain thread without ULTs. And how much faster a stencil of two processes is whose 8 blocks are ULTs than one that
waits for all messages and then computes, when a message takes as long as a step computes: a third process delays them.
One-sided operations, bare and by ULTs, have rows of their own, and 1,000 receives by ULTs, by continuations and by requests alone.
Each number is the median of rounds.

    maint/bench --mpi              in full, some 14 minutes
    maint/bench --mpi --quick      fewer messages and rounds
    maint/bench --mpi --publish    also puts the table into doc/mpi.md
"""

import os
import re
import statistics
import subprocess
import sys

from . import programs, report

SOURCES = programs.TOP / "addons" / "mpi" / "bench"
OUT = programs.OUT / "mpi"
NUMBERS = [1, 4, 16, 64, 256]
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}


def many(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


# What is measured, by the arguments of messages.c.
BARE, ONE = ["bare", "1"], ["ult", "1"]
ROWS = [("bare", BARE, []), *[(many(n, "ULT"), ["ult", str(n)], []) for n in NUMBERS],
        *[(f"{n} ULTs, random order", ["ult", str(n)], ["random"]) for n in NUMBERS[1:]],
        ("64 ULTs, two streams, one pool", ["ult", "64"], ["streams=2"]),
        ("a stream of messages, bare", BARE, ["stream"]), ("a stream of messages, 1 ULT", ONE, ["stream"]),
        *[(many(n, "native thread"), ["pthread", str(n)], []) for n in NUMBERS]]
# Likewise of onesided.c: an operation on a window of the other process, and what completes it.
CALLS = [("fetch", "MPI_Fetch_and_op, MPI_Win_flush"), ("put", "MPI_Put, MPI_Win_flush"),
         ("local", "MPI_Put, MPI_Win_flush_local"), ("lock", "MPI_Win_lock, MPI_Put, MPI_Win_unlock")]
ONE_SIDED = [(f"{call}, {by}", who, [word]) for word, call in CALLS
             for by, who in [("bare", BARE), ("1 ULT", ONE), ("256 ULTs", ["ult", "256"])]
             if word != "lock" or who[1] == "1"]  # a process has one lock of a window at a time
# Likewise of continuations.c.
CONTINUED = [(f"1,000 receives by {whom}{unit}", [by, "1000"], [word]) for word, unit in [("time", ""), ("memory", ", KiB")]
             for whom, by in [("ULTs", "ult"), ("continuations", "continuation"), ("requests alone", "request")]]
PROGRAMS = [("messages", ROWS), ("onesided", ONE_SIDED), ("continuations", CONTINUED)]
STENCIL = ["-b", "8", "-n", "40", "-w", "5000", "-d", "5000", "-o"]
VARIABLES = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
             "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def options(arguments):
    parser = programs.option_parser("--mpi", __doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--from", dest="source", metavar="JSON", help="measure nothing, write the reports of this result")
    return parser.parse_args(arguments)


def variable(release, name):
    """A variable of the Makefile of a build; empty where there is no such MPI."""
    for line in (release / "Makefile").read_text().splitlines():
        if line.startswith(f"{name} = "):
            return line.split("=", 1)[1].split()
    return []


def build(release, mpi, name):
    OUT.mkdir(parents=True, exist_ok=True)
    target = OUT / f"{name}_{mpi}"
    programs.run(["cc", "-O2", "-g", "-Wall", f"-I{release / 'include'}", f"-I{programs.TOP / 'include'}",
                  f"-I{programs.TOP / 'addons' / 'mpi' / 'include'}", *variable(release, f"{mpi}_CPPFLAGS"), SOURCES / f"{name}.c", "-o", target, f"-L{release / '.libs'}", "-Wl,--no-as-needed",
                  f"-labtmpi-{mpi}", "-labt", *variable(release, f"{mpi}_LIBS"), "-lpthread"])
    return target


def job(release, mpi, number, command):
    """What a job of so many processes prints; None: it takes too long."""
    environment = dict(os.environ, **VARIABLES, LD_LIBRARY_PATH=str(release / ".libs"))
    words = [*variable(release, f"{mpi}_RUN"), "-n", str(number), *[str(word) for word in command]]
    try:
        return subprocess.run(words, check=True, capture_output=True, text=True, env=environment, timeout=60).stdout
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        sys.exit(f"bench --mpi: {' '.join(words)}: {(error.stdout + error.stderr).strip()[:500]}")


def overlap(release, mpi, rounds):
    """How many times as long the stencil takes with blocking calls; None: it has not been built."""
    program = release / "addons" / "mpi" / "examples" / f"stencil_{mpi}"
    if not program.exists():
        return None
    command = ["env", f"LD_PRELOAD={release / '.libs' / f'libabtmpi-{mpi}.so'}", program, *STENCIL]
    found = [re.search(r"([\d.]+) times as long", job(release, mpi, 3, command) or "") for _ in range(rounds)]
    return statistics.median(float(each[1]) if each else 0 for each in found)


def measure(release, mpi, rounds, messages):
    rows = [(build(release, mpi, program), *row) for program, all_of in PROGRAMS for row in all_of]
    times = {row[1]: [] for row in rows}
    for _ in range(rounds):
        for program, name, who, words in rows:
            threads = int(who[1]) if who[0] == "pthread" else 0  # a message takes them milliseconds
            number = max(threads, messages // 1000 // threads) if threads else messages
            out = job(release, mpi, 2, [program, *who, number, *words])
            if out is not None:
                times[name].append(float(out))
    return {name: statistics.median(numbers) for name, numbers in times.items() if numbers}


def measure_all(given):
    release = programs.RELEASE if given.build is None else programs.TOP / given.build
    found = [mpi for mpi in NAMES if (release / ".libs" / f"libabtmpi-{mpi}.so").exists()]
    if not found:
        sys.exit("bench --mpi: the build has no libabtmpi: configure found no MPI")
    rounds, messages = (2, 20000) if given.quick else (7, 200000)
    data = {"machine": report.machine(), "times": {}, "faster": {}}
    bystanders = report.Bystanders()
    try:
        for mpi in found:
            data["times"][mpi] = measure(release, mpi, rounds, messages)
            data["faster"][mpi] = overlap(release, mpi, rounds)
    except programs.Missing as why:
        sys.exit(f"bench --mpi: {why}")
    data["machine"]["others"] = bystanders.percent()
    return data


def table(data):
    found = list(data["times"])
    rows = []
    for name, _, _ in [row for _, rows_of in PROGRAMS for row in rows_of]:
        times = [data["times"][mpi].get(name) for mpi in found]
        rows.append([name, *("over a minute a run" if t is None else f"{t:.3f}" for t in times)])
    faster = [data["faster"][mpi] for mpi in found]
    rows.append(["stencil: times faster by ULTs", *("-" if f is None else f"{f:.2f}" for f in faster)])
    return report.markdown(["microseconds", *(NAMES[mpi] for mpi in found)], rows)


def main(arguments):
    given = options(arguments)
    OUT.mkdir(parents=True, exist_ok=True)
    if given.source:
        data = report.kept(given.source)
    else:
        data = measure_all(given)
    text = f"{report.describe(data['machine'])}, {data['machine']['date']}, {report.load_of(data['machine'])}; medians.\n\n" + table(data)
    print(text)
    report.keep(data, text, OUT)
    if given.publish:
        report.put_between(programs.TOP / "doc" / "mpi.md", text, "--mpi")
    return 0
