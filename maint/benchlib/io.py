# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --io: libabtio beside what people use instead, on the same work, in interleaved rounds of one run.

    echo    64 bytes on loopback: beside an epoll loop and a plain loop over liburing in C, Go's net and tokio; the
            server has a processor of its own
    ring    operations of one ring: beside a plain loop over liburing
    idle    many connections on which nothing happens: CPU time and memory of the server
    files   many files of random bytes, written past the page cache: beside native threads

The files, 2 GiB without --quick, are written below --directory and removed.
"""

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from . import io_report, programs, report

SOURCES = programs.TOP / "addons" / "io" / "test" / "bench"
EXAMPLES = programs.TOP / "addons" / "io" / "examples"
OUT = programs.OUT / "io"
SECTIONS = ["echo", "ring", "idle", "files"]
CONNECTIONS = [1, 16, 256, 4096]
IDLE_CONNECTIONS = 10000
DEPTHS = [1, 8, 64]
WRITERS = 64


def options(arguments):
    parser = programs.option_parser("--io", __doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller works")
    parser.add_argument("--smoke", action="store_true", help="only what needs no other language, everything once and small: does it run?")
    parser.add_argument("--only", metavar="LIST", default=",".join(SECTIONS), help="of " + ", ".join(SECTIONS))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float, default=870, help="no other round is begun after this number of seconds")
    parser.add_argument("--directory", metavar="DIRECTORY", default=str(OUT), help="where files are written")
    parser.add_argument("--publish", action="store_true", help="also puts tables into doc/io.md")
    parser.add_argument("--from", dest="sources", metavar="JSON", action="append",
                        help="measure nothing, write the reports of this result, or of several with other sections each")
    given = parser.parse_args(arguments)
    given.only = given.only.split(",")
    for section in given.only:
        if section not in SECTIONS:
            parser.error(f"there is no {section}")
    small = given.smoke or given.quick
    given.rounds = given.rounds or (1 if given.smoke else 3 if given.quick else 7)
    given.milliseconds = 50 if given.smoke else 200 if given.quick else 400
    given.share = 0.02 if given.smoke else 0.2 if given.quick else 1.0  # of the operations
    given.files = 4 if given.smoke else 128 if given.quick else 2048
    given.idle = 100 if given.smoke else 2000 if small else IDLE_CONNECTIONS
    return given


# ---- Programs ----------------------------------------------------------------------------------------------------


def compile_c(name, source, libs=()):
    target = OUT / name
    if not programs.newer(target, [source, *SOURCES.glob("*.h")]):
        target.parent.mkdir(parents=True, exist_ok=True)
        release = programs.RELEASE
        paths = [f"-I{release / 'include'}", f"-I{programs.TOP / 'include'}", f"-I{EXAMPLES.parent / 'include'}",
                 f"-L{release / '.libs'}"]
        programs.run(["cc", "-O2", "-g", "-Wall", "-D_GNU_SOURCE", *paths, source, "-o", target, *libs,
                      "-lpthread"])
    return target


def build_tokio():
    if not shutil.which("cargo"):
        raise programs.Missing("there is no cargo")
    source, copy = SOURCES / "tokio", OUT / "tokio"  # a copy: cargo writes a lock file beside the sources
    target = copy / "target" / "release" / "echo"
    if not programs.newer(target, [*source.glob("src/*.rs"), source / "Cargo.toml"]):
        shutil.copytree(source, copy, dirs_exist_ok=True)
        programs.run(["cargo", "build", "--release", "--quiet"], cwd=copy)
    return target


ABTIO = ["-labtio", "-labt"]
BUILDERS = {
    "client": lambda: compile_c("client", SOURCES / "client.c", ["-luring"]),
    "echo, libabtio": lambda: compile_c("echo_abtio", SOURCES / "echo_abtio.c", ABTIO),
    "echo, epoll loop": lambda: compile_c("echo_epoll", SOURCES / "echo_epoll.c"),
    "echo, plain ring": lambda: compile_c("echo_ring", SOURCES / "echo_ring.c", ["-luring"]),
    "echo, Go": lambda: programs.build_go(SOURCES / "go", OUT / "echo_go"),
    "echo, tokio": build_tokio,
    "ring, libabtio": lambda: compile_c("ring_abtio", SOURCES / "ring_abtio.c", ABTIO),
    "ring, plain": lambda: compile_c("ring_plain", SOURCES / "ring_plain.c", ["-luring"]),
    "files": lambda: compile_c("write_files", EXAMPLES / "write_files.c", [*ABTIO, "-lcrypto"]),
}


PEERS = ["echo, Go", "echo, tokio"]


def build_all(with_peers):
    """The programs by name, and what is missing: (name, why)."""
    found, missing = {}, []
    for name, builder in BUILDERS.items():
        if name in PEERS and not with_peers:
            continue
        try:
            found[name] = builder()
        except programs.Missing as reason:
            missing.append((name, str(reason)))
    return found, missing


# ---- Running -----------------------------------------------------------------------------------------------------


def placed(cpus):
    """What a program does before it begins: it takes its processors, and it ends when this process does."""

    def prepare():
        os.sched_setaffinity(0, cpus)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG

    return prepare


def environment():
    return dict(os.environ, LD_LIBRARY_PATH=str(programs.RELEASE / ".libs"), GOMAXPROCS="1")


def output_of(command, cpus, timeout=120):
    done = subprocess.run([str(c) for c in command], env=environment(), capture_output=True, text=True,
                          timeout=timeout, preexec_fn=placed(cpus))
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[-200:] or done.returncode}")
    return json.loads(done.stdout)


class Server:
    """A server that runs inside a with block."""

    def __init__(self, program, cpus):
        self.process = subprocess.Popen([str(program)], env=environment(), stdout=subprocess.PIPE, text=True,
                                        preexec_fn=placed(cpus))
        self.port = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def cpu_ns(self):
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        return total

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def echo(found, name, connections, milliseconds, cpus):
    with Server(found[name], cpus[:1]) as server:
        return output_of([found["client"], server.port, connections, milliseconds], cpus[-1:])


def idle(found, name, connections, cpus):
    """What the server takes while nothing happens on its connections, each of which has had one echo."""
    with Server(found[name], cpus[:1]) as server:
        before = server.memory()
        client = subprocess.Popen([str(found["client"]), server.port, str(connections), "0"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, preexec_fn=placed(cpus[-1:]))
        with client:
            if client.stdout.readline().strip() != "ready":
                raise RuntimeError("the client did not get all of its echoes")
            time.sleep(0.5)
            start, spent = time.monotonic(), server.cpu_ns()
            time.sleep(2)
            percent = (server.cpu_ns() - spent) / (time.monotonic() - start) / 1e7
            return {"connections": connections, "cpu_percent": percent,
                    "bytes_each": (server.memory() - before) / connections}


def without_io_uring(found, missing, cpus):
    """Takes out what needs io_uring where the kernel, or a container, refuses it."""
    try:
        output_of([found["ring, plain"], "nop", 1, 1], cpus)
    except (KeyError, RuntimeError):
        for name in ("client", "echo, plain ring", "ring, plain"):
            if found.pop(name, None):
                missing.append((name, "io_uring is refused here"))


# ---- Cases -------------------------------------------------------------------------------------------------------


ATTEMPTS, OTHERS = 4, 0.1  # a measurement is repeated while other programs take more than a tenth of a processor


class Case:
    """Something to measure: a section, a work in it, who does it, and how."""

    def __init__(self, section, work, who, run, once=False):
        self.section, self.work, self.who, self.run, self.once = section, work, who, run, once
        self.figures, self.error = [], None

    def measure(self):
        try:
            for _ in range(ATTEMPTS):
                before = report.others_cpu()
                start, figures = time.monotonic(), self.run()
                if report.others_cpu() - before < OTHERS * (time.monotonic() - start):
                    break
            self.figures.append(figures)
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as reason:
            self.error = str(reason)
            print(f"{self.section} {self.work}, {self.who}: {reason}", file=sys.stderr)

    def result(self):
        return {"section": self.section, "work": self.work, "who": self.who, "rounds": self.figures}


def servers_in(found):
    return [name for name in found if name.startswith("echo, ") and "client" in found]


def who_is(name):
    return name.split(", ")[1]


def echo_cases(found, given, cpus):
    return [Case("echo", connections, who_is(name),
                 lambda n=name, c=connections: echo(found, n, c, given.milliseconds, cpus))
            for connections in CONNECTIONS for name in servers_in(found)]


def idle_cases(found, given, cpus):
    return [Case("idle", given.idle, who_is(name), lambda n=name: idle(found, n, given.idle, cpus), once=True)
            for name in servers_in(found)]


def ring_cases(found, given, cpus):
    data = OUT / "pages"
    if not data.exists() or data.stat().st_size != 64 << 20:
        data.write_bytes(os.urandom(64 << 20))
        os.sync()
    cases = []
    for kind, operations in ("nop", 400000), ("read", 8000):
        for depth in DEPTHS:
            number = max(depth, int(operations * given.share) * (1 if kind == "nop" or depth == 1 else 4))
            for name in ("ring, libabtio", "ring, plain"):
                if name in found:
                    command = [found[name], kind, depth, number, *([data] if kind == "read" else [])]
                    cases.append(Case("ring", f"{kind} {depth}", who_is(name), lambda c=command: output_of(c, cpus[:1])))
    return cases


def files_cases(found, given, cpus):
    if "files" not in found:
        return []
    cases = []
    for cores in (1, 2) if len(cpus) > 1 else (1,):
        for way in (*(["io_uring"] if "ring, plain" in found else []), "threads", "pthreads"):
            command = [found["files"], way, given.files, 1024, cores, WRITERS, given.directory]
            cases.append(Case("files", cores, way, lambda c=command, n=cores: output_of(c, cpus[:n], 300)))
    return cases


def run_rounds(cases, given):
    end = time.monotonic() + given.seconds
    for number in range(given.rounds):
        if number and time.monotonic() > end:
            break
        print(f"round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
        for case in cases:
            if not case.error and not (number and case.once):
                case.measure()


def main(arguments):
    given = options(arguments)
    if given.sources:
        io_report.finish(io_report.merged(given.sources), OUT, given.publish)
        return 0
    if given.build:
        programs.RELEASE = programs.Path(given.build).resolve()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY:
        given.idle = min(given.idle, hard - 100)
    found, missing = build_all(not given.smoke)
    cpus = sorted(os.sched_getaffinity(0))[:2]
    without_io_uring(found, missing, cpus)
    about = report.machine()
    cases = [case for section in given.only
             for case in globals()[section + "_cases"](found, given, cpus)]
    run_rounds(cases, given)
    failed = [case for case in cases if case.error]
    ours = [case for case in failed if case.who in ("libabtio", "io_uring", "threads")]
    lacking = [name for name, _ in missing if "libabtio" in name or name == "files"]
    for name, why in missing:
        print(f"without {name}: {why}", file=sys.stderr)
    if given.smoke:
        print(f"bench --io: {len(cases)} measurements, {len(failed)} failed")
    else:
        io_report.finish({"machine": about, "files": given.files, "writers": WRITERS,
                          "results": [case.result() for case in cases if case.figures], "missing": missing,
                          "failed": [f"{case.section} {case.work}, {case.who}: {case.error}" for case in failed]},
                         OUT, given.publish)
    return 1 if ours or lacking else 0
