# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --openmp: what constructs of OpenMP cost by libabtomp, beside libgomp and, where it is installed, libomp.

The same program, made by gcc, runs with each library and each OMP_WAIT_POLICY, in interleaved rounds. The table has the
medians of the rounds, in nanoseconds for each construct, and what libabtomp takes of the time of libgomp. A row that
takes more than its limit is marked. Where libomp fails, it is left out.

With --clang it is clang's program, with libomp and with libabtomp; gcc's with libabtomp is beside them. No row may take
longer than with libomp.
"""

import math
import os
import pathlib
import statistics
import subprocess
import sys

from . import programs, report

SOURCE = programs.TOP / "addons" / "openmp" / "bench" / "constructs.c"
OUT = programs.OUT / "openmp"
POLICIES = ["passive", "active"]
MEMBERS = [2, 4, 16]
NEEDED = ["libgomp", "libabtomp", "by gcc"]
LIMIT = 600  # seconds of a run
# What libabtomp may take of libgomp's time: (row, members, policy).
LIMITS = {("region", 2, "passive"): 1.1, ("region", 2, "active"): 0.6, ("region", 4, "passive"): 0.4,
          ("region", 16, "passive"): 0.3, ("barrier", 2, "passive"): 1.1, ("barrier", 2, "active"): 0.5,
          ("barrier", 4, "passive"): 0.6, ("barrier", 16, "passive"): 0.7, ("critical", 2, "passive"): 1.2,
          ("static loop", 2, "passive"): 1.1, ("inner region of 2", 2, "passive"): 0.05,
          ("inner region of 16", 2, "passive"): 0.05, ("nested loops", 2, "passive"): 0.1,
          ("task of a tree", 2, "passive"): 0.2, ("task by one creator", 2, "passive"): 0.4,
          ("taskloop", 2, "passive"): 0.5, ("depend chain", 2, "passive"): 1.1}


def options(arguments):
    parser = programs.option_parser("--openmp", __doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, under a minute")
    parser.add_argument("--rounds", type=int, help="by default 7, or 3 if quick")
    parser.add_argument("--clang", metavar="COMPILER", help="clang's program beside libomp, by this clang")
    given = parser.parse_args(arguments)
    given.rounds = given.rounds or (3 if given.quick else 7)
    given.milliseconds = 20 if given.quick else 100
    return given


def compile_program(compiler):
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / f"constructs-{pathlib.Path(compiler).name}"
    programs.run([compiler, "-g", "-O2", "-Wall", "-Wextra", "-fopenmp", f"-I{programs.TOP / 'test' / 'bench' / 'cores'}",
                  SOURCE, "-o", program])
    return program


def libraries(release, clang):
    """{name: (program, directory that the loader looks into first)}. The first one is what libabtomp is beside."""
    ours, by_gcc = release / ".libs" / "abtomp", compile_program("gcc")
    libomps = sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/libomp.so.5"))
    if clang:
        by_clang = compile_program(clang)
        return {"libomp": (by_clang, libomps[-1].parent), "libabtomp": (by_clang, ours), "by gcc": (by_gcc, ours)}
    found = {"libgomp": (by_gcc, None), "libabtomp": (by_gcc, ours)}
    if libomps:
        found["libomp"] = by_gcc, programs.linked(OUT / "libomp", "libgomp.so.1", libomps[-1])
    return found


def run(program, directory, members, policy, given):
    """{row: time}, and why the program ended before its last row, or None."""
    environment = dict(os.environ, OMP_WAIT_POLICY=policy, OMP_DYNAMIC="false")
    environment.pop("OMP_NUM_THREADS", None)
    environment.pop("LD_LIBRARY_PATH", None)
    if directory:
        environment["LD_LIBRARY_PATH"] = str(directory)
    out = subprocess.run(["timeout", str(LIMIT), program, str(members), str(given.milliseconds)], env=environment,
                         capture_output=True, text=True, check=False)
    rows = {name: float(value) for name, value in (line.split("\t") for line in out.stdout.splitlines() if "\t" in line)}
    if out.returncode == 0:
        return rows, None
    return rows, " ".join(out.stderr.split())[-200:] or f"status {out.returncode}"


def measure_team(members, policy, found, given):
    """{(library, row): [a time of each round]}. A library that has failed does not run again."""
    times, left = {}, dict(found)
    for _ in range(given.rounds):
        for library, (program, directory) in list(left.items()):
            rows, error = run(program, directory, members, policy, given)
            for row, time in rows.items():
                times.setdefault((library, row), []).append(time)
            if error and library in NEEDED:
                sys.exit(f"bench --openmp: {members} members by {library}: {error}")
            if error:
                print(f"bench --openmp: {library} has failed with {members} members, {policy}, and is left out there: {error}")
                del left[library]
    return times


def measure(found, given):
    """{(members, policy, library, row): [a time of each round]}."""
    times = {}
    for members in MEMBERS:
        for policy in POLICIES if members <= (os.cpu_count() or 1) or given.clang else POLICIES[:1]:
            for (library, row), values in measure_team(members, policy, found, given).items():
                times[members, policy, library, row] = values
    return times


def show(times, found):
    """Prints the table. How many rows miss their limits."""
    missed = 0
    rows = list(dict.fromkeys((members, policy, row) for members, policy, _, row in times))
    print(f"{'row':<20}{'members':>8} {'policy':<8}" + "".join(f"{name:>12}" for name in found) + "   ratio  at most")
    for members, policy, row in rows:
        median = {name: statistics.median(times[members, policy, name, row]) for name in found
                  if (members, policy, name, row) in times}
        ratio = median["libabtomp"] / median.get(next(iter(found)), math.nan)
        limit = 1.0 if "by gcc" in found else LIMITS.get((row, members, policy))
        misses = limit is not None and ratio > limit
        missed += misses
        cells = [f"{median[name]:.1f}" if name in median else "-" for name in found]
        print(f"{row:<20}{members:>8} {policy:<8}" + "".join(f"{cell:>12}" for cell in cells) +
              f"{ratio:>8.2f}" + (f"{limit:>9}" if limit else "") + ("  MISSED" if misses else ""))
    return missed


def main(arguments):
    given = options(arguments)
    release = pathlib.Path(given.build).resolve() if given.build else programs.RELEASE
    if not (release / ".libs" / "abtomp").is_dir():
        sys.exit(f"bench --openmp: {release} has no libabtomp (make all there)")
    found, about, bystanders = libraries(release, given.clang), report.machine(), report.Bystanders()
    times = measure(found, given)
    about["others"] = bystanders.percent()
    print(f"{report.describe(about)}, {about['date']}, {report.load_of(about)}")
    missed = show(times, found)
    print(f"bench --openmp: {missed} rows miss their limits")
    return 1 if missed else 0
