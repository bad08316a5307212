"""The programs that measure: ours and the peers'. Each is built when what it needs is found; what is missing is told."""

import os
import shutil
import subprocess
from concurrent import futures
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
OUT = TOP / "build" / "bench"
SUITE = TOP / "test" / "bench" / "suite"
PEERS = TOP / "test" / "bench" / "peers"
RELEASE = TOP / "build" / "release"

COMMON = [SUITE / "suite.c", SUITE / "kernels.c"]
# Aligned, so that the common kernels run alike in all programs.
FLAGS = ["-O3", "-g", "-falign-functions=64", "-Wall", "-Wextra", "-D_GNU_SOURCE", f"-I{SUITE}",
         f"-I{SUITE.parent}"]
LIBS = ["-lcrypto", "-lm", "-lpthread"]

PACKAGES = ["gcc", "g++", "clang", "libomp-dev", "libtbb-dev", "libboost-fiber-dev", "libboost-context-dev",
            "libssl-dev", "golang-go", "cargo", "python3-matplotlib", "valgrind"]


class Missing(Exception):
    """Something that a program needs is not there."""


class Program:
    """One peer: a command, and the environment that it runs in."""

    def __init__(self, name, command, env=None, least_streams=1):
        self.name = name
        self.command = [str(c) for c in command]
        self.env = env or {}
        self.least_streams = least_streams
        self.works = []  # (work, series, streams: "1" or "*")

    def environment(self, quick):
        env = dict(os.environ, **self.env)
        env.pop("BENCH_QUICK", None)
        if quick:
            env["BENCH_QUICK"] = "1"
        return env

    def load_works(self):
        out = subprocess.run(self.command + ["list"], env=self.environment(False), capture_output=True, text=True,
                             timeout=60)
        if out.returncode != 0:
            raise Missing(f"it does not start: {out.stderr.strip()[-200:]}")
        self.works = [tuple(line.split("\t")) for line in out.stdout.splitlines()]


def newer(target, sources):
    return target.exists() and all(target.stat().st_mtime >= Path(s).stat().st_mtime for s in sources)


def run(command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        tail = (done.stderr or done.stdout).strip().splitlines()
        reason = next((line for line in tail if "rror" in line), tail[-1] if tail else "")
        raise Missing(f"{command[0]}: {reason.split('rror: ')[-1][:120]}")


def compile_one(name, compiler, sources, flags=(), libs=(), language=()):
    """A program from C files and, in any language of the compiler, its own source."""
    if not shutil.which(compiler):
        raise Missing(f"there is no {compiler}")
    target = OUT / "bin" / name
    headers = list(SUITE.glob("*.h")) + list(PEERS.glob("*.h"))
    if newer(target, list(sources) + COMMON + headers):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    c_compiler = {"g++": "gcc", "clang++": "clang"}.get(compiler, compiler)
    objects = []
    for source in COMMON + list(sources):
        is_c = Path(source).suffix == ".c"
        obj = OUT / "obj" / name / (Path(source).stem + ".o")
        obj.parent.mkdir(parents=True, exist_ok=True)
        run([c_compiler if is_c else compiler, *FLAGS, *flags, *([] if is_c else language), "-c", source, "-o", obj])
        objects.append(obj)
    run([compiler, *flags, *objects, "-o", target, *libs, *LIBS])
    return target


# ---- libabt, and another libabt ----------------------------------------------------------------------------------


def abt_program():
    library = RELEASE / ".libs" / "libabt.so"
    if not library.exists():
        raise Missing("build/release has no library")
    sources = sorted(SUITE.glob("abt*.c")) + [SUITE.parent / "raw_switch.c"] + sorted(SUITE.glob("xs*.c"))
    return compile_one("abt", "cc", sources, [f"-I{RELEASE / 'include'}", f"-I{TOP / 'include'}"], [f"-L{library.parent}", "-labt"])


def libabt():
    return [Program("libabt", [abt_program()], {"LD_LIBRARY_PATH": str(RELEASE / ".libs")})]


def with_library(name, path):
    """The same program with another library under the same name."""
    library = Path(path).resolve()
    if not library.exists():
        raise Missing(f"there is no {path}")
    directory = OUT / name
    directory.mkdir(parents=True, exist_ok=True)
    link = directory / "libabt.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(library)
    return Program(name, [abt_program()], {"LD_LIBRARY_PATH": str(directory)})


def argobots(path):
    return [with_library("argobots", path)]


# ---- Peers -------------------------------------------------------------------------------------------------------


def pthreads():
    return [Program("pthreads", [compile_one("pthreads", "cc", [PEERS / "pthreads.c"])])]


def openmp(name, compiler):
    program = compile_one(name, compiler, [PEERS / "openmp.c", *sorted(SUITE.glob("xs*.c"))], ["-fopenmp"])
    places = {"OMP_MAX_ACTIVE_LEVELS": "2", "OMP_DYNAMIC": "false"}
    return [Program(name, [program], {**places, "OMP_WAIT_POLICY": "passive"}),
            Program(name + ", active waiting", [program], {**places, "OMP_WAIT_POLICY": "active"}, least_streams=2)]


def libgomp():
    return openmp("libgomp", "gcc")


def libomp():
    return openmp("libomp", "clang")


def tbb():
    return [Program("oneTBB", [compile_one("tbb", "g++", [PEERS / "tbb.cc"], [], ["-ltbb"])])]


def fiber():
    libs = ["-lboost_fiber", "-lboost_context"]
    return [Program("Boost.Fiber", [compile_one("fiber", "g++", [PEERS / "fiber.cc"], [], libs)])]


def go():
    if not shutil.which("go"):
        raise Missing("there is no go")
    source, target = PEERS / "go", OUT / "bin" / "go"
    if not newer(target, source.glob("*.go")):
        run(["go", "build", "-o", target, "."], cwd=source)
    return [Program("Go", [target])]


def rust(offline=True):
    if not shutil.which("cargo"):
        raise Missing("there is no cargo")
    source, copy = PEERS / "rust", OUT / "rust"  # a copy: cargo writes a lock file beside the sources
    program = copy / "target" / "release" / "peers"
    if not newer(program, list(source.glob("src/*.rs")) + [source / "Cargo.toml"]):
        shutil.copytree(source, copy, dirs_exist_ok=True)
        run(["cargo", "build", "--release", "--quiet", *(["--offline"] if offline else [])], cwd=copy)
    return [Program("rayon", [program, "rayon"]), Program("tokio", [program, "tokio"])]


def ults(name, header, library):
    """Libraries of lightweight threads that a user has installed."""
    program = compile_one(name.lower(), "cc", [PEERS / "ults.c"], [f'-DULTS_H="{header}"'], [library])
    return [Program(name, [program])]


def qthreads():
    return ults("Qthreads", "ults_qthreads.h", "-lqthread")


def massivethreads():
    return ults("MassiveThreads", "ults_massivethreads.h", "-lmyth")


BUILDERS = {
    "libabt": libabt,
    "pthreads": pthreads,
    "libgomp": libgomp,
    "libomp": libomp,
    "oneTBB": tbb,
    "Boost.Fiber": fiber,
    "Go": go,
    "rayon and tokio": rust,
    "Qthreads": qthreads,
    "MassiveThreads": massivethreads,
}


def install():
    """Installs what the peers need from Debian, and lets cargo fetch what it needs."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    wanted = [p for p in PACKAGES if not (p == "golang-go" and shutil.which("go"))
              and not (p == "cargo" and shutil.which("cargo"))]
    print("installing:", " ".join(wanted), flush=True)
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    apt = [*sudo, "apt-get", "-o", "DPkg::Lock::Timeout=300", "-qq"]
    subprocess.run([*apt, "update"], check=False)
    done = subprocess.run([*apt, "install", "-y", "--no-install-recommends", *wanted], env=env,
                          stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        print("could not install all; please run: sudo apt-get install -y", " ".join(wanted))
    print("building the crates of rayon and tokio", flush=True)
    try:
        rust(offline=False)
    except Missing as reason:
        print(f"going on without: {reason}")


def build(builder):
    """What a builder makes, with its works; or why it does not."""
    try:
        found = builder()
        for program in found:
            program.load_works()
        return found, None
    except Missing as reason:
        return [], str(reason)


def find(argobots_path=None, only=None):
    """All programs that can be built, with their works; and what is missing."""
    builders = {name: builder for name, builder in BUILDERS.items()
                if not only or name == "libabt" or any(o.lower() in name.lower() for o in only)}
    # The slowest to build come last in the list: they begin first.
    with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = {name: pool.submit(build, builder) for name, builder in reversed(builders.items())}
    results = {name: built[name].result() for name in builders}
    if argobots_path:  # with libabt's own program, which has been built
        results["argobots"] = build(lambda: argobots(argobots_path))
    programs = [program for found, _ in results.values() for program in found]
    missing = [(name, reason) for name, (_, reason) in results.items() if reason]
    if not argobots_path:
        missing.append(("Argobots", "give a library by --argobots=PATH"))
    return programs, missing
