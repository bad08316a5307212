# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --cores: works on 1 to 64 streams, each on a core of its own, in a simulator of such machines
(test/tools/cores.c; doc/scaling.md says what it models and what not). It needs qemu-x86_64.

    maint/bench --cores                         all works: time, lines that move, instructions, of one operation
    maint/bench --cores --work create --streams 1,8,32
    maint/bench --cores --argobots PATH         the same works by another libabt.so, too
    maint/bench --cores --where create          the ten lines of code that wait longest for lines of memory
    maint/bench --cores --set far=400 --set socket=16       parameters of the machine

The times are those of a model: what grows, and how many lines move, is to be believed before nanoseconds.
"""

import collections
import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent import futures
from pathlib import Path

from . import programs

OUT = programs.OUT / "cores"
SOURCES = programs.TOP / "test" / "bench" / "cores"
PLUGIN = programs.TOP / "test" / "tools" / "cores.c"
STREAMS = [1, 2, 4, 8, 16, 32, 64]
# Work: size, as its program takes it, and what an operation is.
WORKS = {
    "create": (4, "create, join and free, private pools"),
    "create-own": (4, "the same, a pool of its own for each that others may use"),
    "create-shared": (1, "the same, one pool for all"),
    "tasklets": (4, "a tasklet, private pools"),
    "yield": (4, "yield, private pools"),
    "keys": (4, "a key is set and got"),
    "own-mutex": (4, "lock and unlock of a mutex of its own"),
    "mutex": (50, "lock and unlock of one mutex, by a ULT on each stream"),
    "barrier": (20, "barrier of a ULT on each stream"),
    "xbarrier": (20, "barrier of streams"),
    "give": (1, "empty units by one creator, taken by all"),
    "give-2us": (1, "units of 2 us by one creator, taken by all"),
    "fib": (1, "fib by ULTs, taken by all"),
    "fork-fib": (27, "fib by abt_fork.h"),
    "fork-tree": (11, "an uneven tree by abt_fork.h"),
    "fork-for": (1000000, "a loop by abt_fork.h"),
}
LOCK = threading.Lock()


def options(arguments):
    parser = programs.option_parser("--cores", __doc__)
    parser.add_argument("--work", action="append", choices=sorted(WORKS), metavar="NAME", help="only this; may be repeated")
    parser.add_argument("--streams", default=",".join(map(str, STREAMS)), metavar="LIST")
    parser.add_argument("--argobots", metavar="PATH", help="where Argobots is installed, or another libabt.so")
    parser.add_argument("--where", choices=sorted(WORKS), metavar="WORK", help="tells which lines of code wait for memory")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the simulator")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="of one run; %(default)s by default")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args(arguments)
    given.streams = [int(n) for n in given.streams.split(",")]
    return given


def lacks():
    """What is missing to simulate, or None."""
    if os.uname().machine != "x86_64":
        return "the simulator is for x86-64"
    if not shutil.which("qemu-x86_64"):
        return "there is no qemu-x86_64"
    told = subprocess.run(["qemu-x86_64", "--help"], capture_output=True, text=True, check=False).stdout
    return None if "-plugin" in told else "qemu-x86_64 knows no plugins"


def build(release):
    """Compiles the simulator and what runs in it."""
    OUT.mkdir(parents=True, exist_ok=True)
    common = ["cc", "-g", "-O2", "-Wall", "-Wextra", f"-I{SOURCES}"]
    programs.run([*common, "-fPIC", "-shared", "-o", OUT / "cores.so", PLUGIN, "-lpthread"])
    programs.run([*common, "-o", OUT / "theory", SOURCES / "theory.c", "-lpthread"])
    for name in ("streams", "forks"):
        programs.run([*common, f"-I{release / 'include'}", f"-I{programs.TOP / 'include'}", "-o", OUT / name,
                      SOURCES / (name + ".c"), f"-L{release / '.libs'}", "-labt", "-lpthread"])


def run_simulated(command, environment, parameters=(), limit=120):
    """A process that has ended. It has one CPU, since one thread of it runs at a time. It has no variables but those: they
    lie on its stack, and move what is on it to other lines."""
    with LOCK:
        cpu = simulate.cpus.pop()
    variables = [word for name, value in environment.items() for word in ("-E", f"{name}={value}")]
    try:
        return subprocess.run(["taskset", "-c", str(cpu), "timeout", "-s", "KILL", str(limit), "qemu-x86_64", *variables,
                               "-plugin", ",".join([str(OUT / "cores.so"), *parameters]), *map(str, command)],
                              capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})
    finally:
        with LOCK:
            simulate.cpus.append(cpu)


def simulate(command, libraries="", parameters=(), sites=0, limit=120, layout=0):
    """What the simulator says of a run, a dictionary; None if it failed or took too long. Another layout of the stack
    makes another run of the same work."""
    environment = {"LD_LIBRARY_PATH": libraries, "LAYOUT": "x" * layout * 1000}
    done = run_simulated(command, environment, [*parameters, f"sites={sites}"], limit)
    said = re.search(r"^SIM (.*)$", done.stderr, re.M)
    if not said or done.returncode != 0:
        return None
    result = {name: float(value) for name, value in (pair.split("=") for pair in said[1].split())}
    result["sites"] = re.findall(r"^SITE (\S+) (\S+) (\S+) (\S+)$", done.stderr, re.M)
    return result


simulate.cpus = sorted(os.sched_getaffinity(0))


def run_work(work, streams, libraries, **more):
    program = OUT / ("forks" if work.startswith("fork-") else "streams")
    return simulate([program, work, streams, more.pop("size", WORKS[work][0])], libraries, **more)


def run_many(cases):
    """[(key, function)] to {key: result}, as many at once as there are CPUs, with progress."""
    results = {}
    with futures.ThreadPoolExecutor(len(simulate.cpus)) as pool:
        running = {pool.submit(function): key for key, function in cases}
        for done in futures.as_completed(running):
            results[running[done]] = done.result()
            if sys.stderr.isatty():
                print(f"\r{len(results)}/{len(cases)} ", end="", file=sys.stderr, flush=True)
    return results


def exponent(points):
    """e of y = c * x^e by least squares, of [(x, y)]."""
    points = [(math.log(x), math.log(y)) for x, y in points if y > 0]
    if len(points) < 2:
        return None
    mean_x, mean_y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def directory_of(path):
    """A directory with that library, by the name for which programs ask."""
    directory = OUT / "other"
    directory.mkdir(parents=True, exist_ok=True)
    link = directory / "libabt.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(programs.library_at(path))
    return str(directory)


def cell(result):
    if not result:
        return f"{'-':>12} {'-':>9} {'-':>8}"
    return f"{result['ns']:12.2f} {result['transfers']:9.3f} {result['instructions']:8.0f}"


def print_table(works, streams, libraries, results):
    for work in works:
        print(f"\n{work}: {WORKS[work][1]}")
        print(f"{'streams':>8}" + "".join(f"{name + ' ns':>13} {'transfers':>9} {'instr.':>8}" for name, _ in libraries))
        for n in streams:
            print(f"{n:8}" + "".join(" " + cell(results.get((work, n, name))) for name, _ in libraries))
        for name, _ in libraries:
            points = [(n, results[work, n, name]["ns"]) for n in streams if results.get((work, n, name))]
            if (fitted := exponent(points)) is not None:
                print(f"{name}: the time of an operation, over all streams, grows with exponent {fitted:.2f}")


def place_of(frames):
    """The line of the program that waits: not that of a lock or an atomic access that it calls."""
    frames = [frame.partition(" ")[0] for frame in frames]
    frame = next((f for f in frames if "/lock/spin." not in f and "/lock/bias." not in f and "/base/" not in f), frames[0])
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
    """{place in the source: [transfers, cycles]} of what the simulator says of instructions."""
    by_module, found = collections.defaultdict(list), collections.defaultdict(lambda: [0, 0])
    for transfers, cycles, module, offset in sites:
        by_module[module].append((float(transfers), float(cycles), offset))
    for module, rows in by_module.items():
        for (transfers, cycles, _), place in zip(rows, places(module, [offset for _, _, offset in rows])):
            found[place][0] += transfers
            found[place][1] += cycles
    return found


def text_at(place):
    path, _, line = place.rpartition(":")
    try:
        return (programs.TOP / path).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()
    except (OSError, ValueError, IndexError):
        return ""


def where(work, streams, libraries, given):
    result = run_work(work, streams, libraries, parameters=given.set, sites=300, limit=given.limit)
    if not result:
        return 1
    print(f"{work}, {streams} streams: {result['ns']:.2f} ns, {result['transfers']:.3f} transfers of an operation")
    print(f"{'transfers':>9} {'cycles':>9}  line")
    for place, (transfers, cycles) in sorted(lines_of(result["sites"]).items(), key=lambda row: -row[1][1])[:10]:
        print(f"{transfers:9.3f} {cycles:9.1f}  {place}: {text_at(place)}")
    return 0


def release_of(given):
    if given.build:
        return Path(given.build).resolve()
    script = '. maint/lib.sh; need_to_build; build "$TOP/build/release" all'
    if subprocess.run(["sh", "-euc", script, "maint/bench"], cwd=programs.TOP, check=False).returncode != 0:
        sys.exit("the library was not built")
    return programs.RELEASE


def main(arguments):
    given = options(arguments)
    if given.list:
        for work, (_, title) in WORKS.items():
            print(f"{work:16} {title}")
        return 0
    missing = lacks()
    if missing:
        sys.exit(f"bench --cores: {missing}")
    release = release_of(given)
    build(release)
    libraries = [("libabt", str(release / ".libs"))]
    if given.argobots:
        libraries.append(("other", directory_of(given.argobots)))
    if given.where:
        return max(where(given.where, max(given.streams) if len(given.streams) < len(STREAMS) else 16, path, given)
                   for _, path in libraries)
    works = given.work or list(WORKS)
    cases = [((work, n, name), lambda w=work, n=n, p=path: run_work(w, n, p, parameters=given.set, limit=given.limit))
             for work in works for n in given.streams for name, path in libraries
             if name == "libabt" or not work.startswith("fork-")]
    results = run_many(cases)
    print_table(works, given.streams, libraries, results)
    rows = [{"work": w, "streams": n, "library": name, **(result or {})} for (w, n, name), result in results.items()]
    (OUT / "result.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    failed = [key for key, result in results.items() if not result and key[2] == "libabt"]
    return 1 if failed else 0
