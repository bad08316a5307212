# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --cores: works on 1 to 64 streams, each on a core of its own, in a simulator of such machines
(test/tools/cores.c; doc/scaling.md says what it models and what not). It needs qemu-x86_64.

    maint/bench --cores                         all works: time, lines that move, instructions, of one operation, in half an
                                                hour on two CPUs; table.md is written to build/bench/cores
    maint/bench --cores --work create --streams 1,8,32
    maint/bench --cores --argobots PATH         the same works by another libabt.so, too
    maint/bench --cores --where create          the ten lines of code that wait longest for lines of memory
    maint/bench --cores --shared                the lines of code that write what other streams write, or wait for lines of
                                                memory, in works that streams do alone
    maint/bench --cores --set far=400 --set socket=16       parameters of the machine: sockets of 16 cores, which the library
                                                learns by ABT_NUMA
    maint/bench --cores --set socket=16 --numa no           it does not
    maint/bench --cores --publish               also puts the table and its picture into doc/

Works of OpenMP are run by libabtomp and by libgomp. One in which libabtomp is slower, with 4 streams or more, is a failure.
So is a barrier that is not back at its steady time in ten rounds after a member came late.
The times are those of a model: what grows, and how many lines move, is to be believed before nanoseconds.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent import futures

from . import cores_report, openmp, programs, report

OUT = programs.OUT / "cores"
SOURCES = programs.TOP / "test" / "bench" / "cores"
PLUGIN = programs.TOP / "test" / "tools" / "cores.c"
STREAMS = [1, 2, 4, 8, 16, 32, 64]
LOOKED_AT = 16  # of that number of streams the lines of code are reported
# Work: size, as its program takes it, and what an operation is. So large that it is not the begin that is measured.
WORKS = {
    "create": (128, "create, join and free, private pools"),
    "create-first": (8, "the same, the first eight rounds of 256 for each stream"),
    "stacks-first": (8, "the same, of ULTs that yield once, so that all have stacks"),
    "create-own": (128, "the same, a pool of its own for each that others may use"),
    "create-shared": (1, "the same, one pool for all"),
    "tasklets": (128, "a tasklet, private pools"),
    "yield": (32, "yield, private pools"),
    "keys": (32, "a key is set and got"),
    "timers": (8, "a wait with a deadline, ended by another ULT of the stream"),
    "own-mutex": (32, "lock and unlock of a mutex of its own"),
    "mutex": (50, "lock and unlock of one mutex, by a ULT on each stream"),
    "barrier": (20, "barrier of a ULT on each stream"),
    "xbarrier": (20, "barrier of streams"),
    "native-barrier": (20, "barrier of native threads"),
    "word-barrier": (20, "barrier of streams by ABTX_word_wait, as OpenMP's"),
    "wake": (10, "a stream that sleeps is woken by another, which comes 1 ms late, all pairs at a time"),
    "deal": (8, "empty units by one creator, dealt to all streams in turn"),
    "give": (1, "empty units by one creator, taken by all"),
    "give-2us": (1, "units of 2 us by one creator, taken by all"),
    "fib": (1, "fib by ULTs, taken by all"),
    "fork-fib": (33, "fib by abt_fork.h"),
    "fork-tree": (13, "an uneven tree by abt_fork.h"),
    "fork-wide": (14, "the same tree, each child beside the others"),
    "fork-for": (30000000, "a loop by abt_fork.h"),
    "omp-region": (0, "an empty region of OpenMP, with a member on each stream"),
    "omp-barrier": (0, "a barrier of OpenMP, by all members"),
    "omp-loop": (0, "an iteration of an OpenMP loop, schedule(dynamic, 1), over all members"),
}
# Barriers when a member comes late, by work without one.
STEADY = {"barrier": "barrier", "xbarrier": "xbarrier", "native": "native-barrier", "word": "word-barrier"}
LATE = {"10us": 10000, "100us": 100000, "1ms": 1000000, "10ms": 10000000}
for kind, steady in STEADY.items():
    WORKS.update({f"{kind}-late-{name}": (20, f"{WORKS[steady][1]}, ten rounds after one came {name} late") for name in LATE})
    WORKS[f"{kind}-often"] = (2, f"{WORKS[steady][1]}, in each 100th round one comes 20us late")
OFTEN_NS = (20000 + 3100) / 100  # so late it is, for each round: the simulated system wakes a thread that sleeps 3.1 us later
MOST_ROUNDS = 10  # until all rounds are within SLOWER times the steady time
SLOWER = 1.5
# What streams do alone.
ALONE = ["create", "create-own", "tasklets", "yield", "keys", "timers", "own-mutex"]
ROWS = {"omp-region": "region", "omp-barrier": "barrier", "omp-loop": "dynamic loop"}  # of openmp.SOURCE
AHEAD_FROM = 4
LOCK = threading.Lock()


class Way:
    """A library that does a work."""

    def __init__(self, name, libraries, variables=None):
        self.name = name
        self.libraries = libraries  # where the loader looks
        self.variables = variables or {}


def options(arguments):
    parser = programs.option_parser("--cores", __doc__)
    parser.add_argument("--work", action="append", choices=sorted(WORKS), metavar="NAME", help="only this; may be repeated")
    parser.add_argument("--streams", default=",".join(map(str, STREAMS)), metavar="LIST")
    parser.add_argument("--argobots", metavar="PATH", help="where Argobots is installed, or another libabt.so")
    parser.add_argument("--policy", choices=openmp.POLICIES, default="passive", help="how OpenMP waits; %(default)s by default")
    parser.add_argument("--where", choices=sorted(WORKS), metavar="WORK", help="tells which lines of code wait for memory")
    parser.add_argument("--shared", action="store_true", help="tells what streams share that work alone")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the simulator")
    parser.add_argument("--numa", choices=["yes", "no"], default="yes", help="is libabt told of sockets? %(default)s by default")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="of one run; %(default)s by default")
    parser.add_argument("--publish", action="store_true")
    parser.add_argument("--from", dest="source", metavar="JSON", help="simulate nothing, write the reports of this result")
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
    common = ["cc", "-g", "-O2", "-Wall", f"-I{SOURCES}"]
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


def simulate(command, libraries="", parameters=(), sites=0, limit=120, layout=0, variables=None):
    """What the simulator says of a run, a dictionary; None if it failed or took too long. Another layout of the stack
    makes another run of the same work."""
    environment = {"LD_LIBRARY_PATH": libraries, **(variables or {}), "LAYOUT": "x" * layout * 1000}
    done = run_simulated(command, environment, [*parameters, f"sites={sites}"], limit)
    said = re.search(r"^SIM (.*)$", done.stderr, re.M)
    rounds = re.search(r"^rounds (.*)$", done.stdout, re.M)
    if not said or done.returncode != 0:
        return None
    result = {name: float(value) for name, value in (pair.split("=") for pair in said[1].split())}
    if rounds:
        result["rounds"] = int(rounds[1])
    result["sites"] = re.findall(r"^SITE (\S+) (\S+) (\S+) (\S+) (\S+) (\S+)$", done.stderr, re.M)
    return result


simulate.cpus = sorted(os.sched_getaffinity(0))


def run_work(work, streams, libraries, **more):
    size = more.pop("size", WORKS[work][0])
    if work in ROWS:
        command = [openmp.OUT / "constructs-gcc", streams, size, ROWS[work]]
    else:
        name, late, by = work.partition("-late-")
        command = [OUT / ("forks" if work.startswith("fork-") else "streams"), name + late.rstrip("-"), streams, size,
                   *([LATE[by]] if late else [])]
    return simulate(command, libraries, **more)


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


def nodes_of(given):
    """The variable by which libabt learns of the sockets, if there are several."""
    machine = {"cores": 64, **{name: int(float(value)) for name, value in (pair.split("=") for pair in given.set)}}
    cores, socket = machine["cores"], machine.get("socket", machine["cores"])
    if socket >= cores or given.numa == "no":
        return {}
    return {"ABT_NUMA": f"{{0:{socket}}}:{-(-cores // socket)}:{socket}"}


def ways_of(works, release, given):
    """{work: [way]}."""
    nodes = nodes_of(given)
    threads, libs = [Way("libabt", str(release / ".libs"), nodes)], release / ".libs"
    if given.argobots:
        threads.append(Way("other", str(programs.linked(OUT / "other", "libabt.so.1", programs.library_at(given.argobots))), nodes))
    variables = {"OMP_WAIT_POLICY": given.policy, "OMP_DYNAMIC": "false", **nodes}
    teams = [Way("libabtomp", f"{libs / 'abtomp'}:{libs}", variables), Way("libgomp", "", variables)]
    return {work: teams if work in ROWS else threads[:1] if work.startswith("fork-") else threads for work in works}


def run_way(work, streams, way, given, **more):
    return run_work(work, streams, way.libraries, variables=way.variables, parameters=[*given.set, *more.pop("parameters", [])],
                    limit=given.limit, **more)


def where(work, streams, ways, given):
    status = 0
    for way in ways:
        result = run_way(work, streams, way, given, sites=300)
        if result:
            print(f"{work}, {streams} streams, {way.name}: {result['ns']:.2f} ns, {result['transfers']:.3f} transfers of an operation")
            cores_report.print_lines(cores_report.lines_of(result["sites"]))
        else:
            status = 1
    return status


def shared(works, streams, ways, given):
    cases = [(work, lambda w=work: run_way(w, streams, ways[w][0], given, sites=100000, parameters=["words=1"])) for work in works]
    results = run_many(cases)
    for work in works:
        if results[work]:
            cores_report.print_shared(work, streams, results[work])
    return 0 if all(results.values()) else 1


def run_all(works, ways, given):
    """[a dictionary of each run]: with the lines of code that move most, for one number of streams."""
    looked_at = LOOKED_AT if LOOKED_AT in given.streams else max(given.streams)
    cases = [((work, n, way.name), lambda w=work, n=n, way=way: run_way(w, n, way, given, sites=300 if n == looked_at else 0))
             for work in works for n in sorted(given.streams, reverse=True) for way in ways[work]]
    rows = []
    for (work, n, name), result in run_many(cases).items():
        row = {"work": work, "streams": n, "library": name, **(result or {"failed": True})}
        lines = cores_report.lines_of(row.pop("sites", []))
        rows.append(row)
        if n == looked_at:
            row["lines"] = cores_report.most_moved(lines)
    order = list(WORKS)
    return sorted(rows, key=lambda row: (order.index(row["work"]), row["streams"], row["library"] == "libgomp"))


def behind(rows):
    """[(work, streams)] of those of OpenMP in which the stock library is ahead, or ours has failed."""
    there = {(row["work"], row["streams"], row["library"]): row for row in rows if row["work"] in ROWS}
    return [(work, n) for work, n, name in there if name == "libabtomp" and n >= AHEAD_FROM
            and there[work, n, name].get("ns", 1e99) >= there.get((work, n, "libgomp"), {}).get("ns", 1e98)]


def slow_to_recover(rows):
    """[(work, streams, how)] of barriers that a late member makes slower than it has to."""
    times = {(row["work"], row["streams"]): row["ns"] * row["streams"] for row in rows if "ns" in row and row["library"] == "libabt"}
    slow = [(row["work"], row["streams"], f"{row['rounds']} rounds") for row in rows
            if row["library"] == "libabt" and row.get("rounds", 0) > MOST_ROUNDS]
    for (work, n), ns in times.items():
        steady = times.get((STEADY.get(work.removesuffix("-often")), n)) if work.endswith("-often") else None
        if steady and ns > SLOWER * steady + OFTEN_NS:
            slow.append((work, n, f"{ns:.0f} ns a round, {steady:.0f} without"))
    return slow


def main(arguments):
    given = options(arguments)
    if given.list:
        for work, (_, title) in WORKS.items():
            print(f"{work:16} {title}")
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    if given.source:
        rows = report.kept(given.source)
    else:
        missing = lacks()
        if missing:
            sys.exit(f"bench --cores: {missing}")
        release = programs.build_library(given.build)
        build(release)
        works = [given.where] if given.where else given.work or (ALONE if given.shared else list(WORKS))
        ways = ways_of(works, release, given)
        if any(work in ROWS for work in works):
            openmp.compile_program("gcc")
        streams = max(given.streams) if len(given.streams) < len(STREAMS) else LOOKED_AT
        if given.where:
            return where(given.where, streams, ways[given.where], given)
        if given.shared:
            return shared(works, streams, ways, given)
        rows = run_all(works, ways, given)
    cores_report.finish(rows, {work: title for work, (_, title) in WORKS.items()}, OUT, given.publish)
    late = behind(rows)
    for work, n in late:
        print(f"{work}, {n} streams: libgomp is ahead")
    slow = slow_to_recover(rows)
    for work, n, how in slow:
        print(f"{work}, {n} streams: {how}")
    failed = [row for row in rows if row.get("failed") and row["library"] in ("libabt", "libabtomp")]
    return 1 if failed or late or slow else 0
