# SPDX-License-Identifier: BSD-3-Clause
"""Builds the programs that measure: ours and the peers'."""

import argparse
import functools
import os
import shutil
import subprocess
from concurrent import futures
from pathlib import Path

from . import catalogue

TOP = Path(__file__).resolve().parents[2]
OUT = TOP / "build" / "bench"
SUITE = TOP / "test" / "bench" / "suite"
PEERS = TOP / "test" / "bench" / "peers"
RELEASE = TOP / "build" / "release"

NATIVE = [SUITE.parent / "native.c", SUITE / "suite_native.c"]
DENSE = sorted(SUITE.glob("dense*.c"))
COMMON = [SUITE / "suite.c", SUITE / "kernels.c"]
# Aligned, so that the common kernels run alike in all programs.
FLAGS = ["-O3", "-g", "-falign-functions=64", "-Wall", "-D_GNU_SOURCE", f"-I{SUITE}",
         f"-I{SUITE.parent}"]
LIBS = ["-lcrypto", "-lm", "-lpthread"]

PACKAGES = ["gcc", "g++", "clang", "libomp-dev", "libtbb-dev", "libboost-fiber-dev", "libboost-context-dev",
            "libssl-dev", "golang-go", "cargo", "ca-certificates", "valgrind"]
# The last crates that the compiler of Debian 12 takes: rustc 1.63.
OLDER_CRATES = {"tokio": "1.28.2", "rayon": "1.10.0", "rayon-core": "1.12.1", "libc": "0.2.160"}


def option_parser(mode, text):
    """The options that each mode of maint/bench with options of its own has."""
    parser = argparse.ArgumentParser(prog=f"maint/bench {mode}", description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIRECTORY", help="a build of the libraries, by default build/release")
    return parser


# What nobody packages: the options that say where it is installed.
PLACED = ["Argobots", "Qthreads", "MassiveThreads"]


def add_places(parser):
    for peer in PLACED:
        parser.add_argument("--" + peer.lower(), metavar="PATH", help=f"where {peer} is installed"
                            + (", or another libabt.so, to measure with the same programs" if peer == "Argobots" else ""))


def places_of(given):
    return {peer: getattr(given, peer.lower()) for peer in PLACED}


def build_library(directory):
    """Makes RELEASE the build in that directory, or builds it, as maint/demo does. Returns it."""
    global RELEASE
    script = '. maint/lib.sh; need_to_build; build "$TOP/build/release" all'
    if directory:
        RELEASE = Path(directory).resolve()
    elif subprocess.run(["sh", "-euc", script, "maint/bench"], cwd=TOP, check=False).returncode != 0:
        raise SystemExit("the library was not built")
    return RELEASE


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
        self.outside = {}  # work: series that this program is not asked for on several streams

    def environment(self, quick):
        env = dict(os.environ, **self.env)
        env.pop("BENCH_QUICK", None)
        if quick:
            env["BENCH_QUICK"] = "1"
        return env

    def load_works(self):
        try:
            out = subprocess.run(self.command + ["list"], env=self.environment(False), capture_output=True, text=True,
                                 timeout=10)
        except subprocess.TimeoutExpired:
            raise Missing("it says nothing") from None
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


def compile_one(name, compiler, sources, flags=(), libs=()):
    """A program from a peer's own source, in any language of the compiler, and C files that all share."""
    if not shutil.which(compiler):
        raise Missing(f"there is no {compiler}")
    target, options = OUT / "bin" / name, OUT / "bin" / (name + ".options")
    headers = [*SUITE.glob("*.h"), *PEERS.glob("*.h"), *SUITE.parent.glob("*.h"),
               *(h for f in flags if f.startswith("-I") for h in Path(f[2:]).glob("*.h"))]
    wanted = " ".join(map(str, [compiler, *flags, *libs]))
    if newer(target, list(sources) + COMMON + headers) and options.exists() and options.read_text() == wanted:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in COMMON + list(sources):
        obj = OUT / "obj" / name / (Path(source).stem + ".o")
        obj.parent.mkdir(parents=True, exist_ok=True)
        # The kernels are the same in all programs, so that what is compared is not the compilers.
        command = [compiler, *flags] if Path(source).parent == PEERS else ["cc", *(f for f in flags if f.startswith("-I"))]
        run([*command, *FLAGS, "-c", source, "-o", obj])
        objects.append(obj)
    run([compiler, *flags, *objects, "-o", target, *libs, *LIBS])
    options.write_text(wanted)
    return target


# ---- libabt, and another libabt ----------------------------------------------------------------------------------


def abt_program():
    library = RELEASE / ".libs" / "libabt.so"
    if not library.exists():
        raise Missing("build/release has no library")
    sources = [*sorted(SUITE.glob("abt*.c")), SUITE.parent / "raw_switch.c", *sorted(SUITE.glob("xs*.c")), *DENSE,
               *NATIVE]
    return compile_one("abt", "cc", sources, [f"-I{RELEASE / 'include'}", f"-I{TOP / 'include'}"], [f"-L{library.parent}", "-labt"])


def libabt(_path):
    return [Program("libabt", [abt_program()], {"LD_LIBRARY_PATH": str(RELEASE / ".libs")})]


def library_at(path):
    """The shared library itself, or the one of an installation."""
    path = Path(path)
    found = [path] if path.is_file() else sorted([*path.glob("lib*/libabt.so"), *path.glob("lib*/*/libabt.so")])
    if not found:
        raise Missing(f"there is no libabt.so at {path}")
    return found[0].resolve()


def linked(directory, name, library):
    """The directory, with that library by the name for which programs ask."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).unlink(missing_ok=True)
    (directory / name).symlink_to(library)
    return directory


def argobots(path):
    """Our program with another library under the same name."""
    if not path:
        raise Missing("say where its library is: --argobots PATH")
    directory = linked(OUT / "Argobots", "libabt.so.1", library_at(path))
    program = Program("Argobots", [abt_program()], {"LD_LIBRARY_PATH": str(directory)})
    program.outside = catalogue.OUTSIDE_ARGOBOTS
    return [program]


# ---- Peers -------------------------------------------------------------------------------------------------------


def pthreads(_path):
    return [Program("pthreads", [compile_one("pthreads", "cc", [PEERS / "pthreads.c", *NATIVE])])]


def openmp(name, compiler):
    program = compile_one(name, compiler, [PEERS / "openmp.c", *sorted(SUITE.glob("xs*.c")), *DENSE], ["-fopenmp"])
    places = {"OMP_MAX_ACTIVE_LEVELS": "2", "OMP_DYNAMIC": "false"}
    return [Program(name, [program], {**places, "OMP_WAIT_POLICY": "passive"}),
            Program(name + ", active waiting", [program], {**places, "OMP_WAIT_POLICY": "active"}, least_streams=2)]


def libgomp(_path):
    return openmp("libgomp", "gcc")


def libomp(_path):
    return openmp("libomp", "clang")


def tbb(_path):
    return [Program("oneTBB", [compile_one("tbb", "g++", [PEERS / "tbb.cc", *DENSE], libs=["-ltbb"])])]


def fiber(_path):
    libs = ["-lboost_fiber", "-lboost_context"]
    return [Program("Boost.Fiber", [compile_one("fiber", "g++", [PEERS / "fiber.cc"], libs=libs)])]


def by_abt_hpp(_path):
    """A way of libabt's: the program of Boost.Fiber with another namespace."""
    abt = ["-DOVER_LIBABT", "-std=c++17", f"-I{RELEASE / 'include'}", f"-I{TOP / 'include'}"]
    library = RELEASE / ".libs"
    program = compile_one("abt_hpp", "g++", [PEERS / "fiber.cc"], abt, [f"-L{library}", "-labt"])
    return [Program("libabt", [program], {"LD_LIBRARY_PATH": str(library)})]


def build_go(source, target):
    if not shutil.which("go"):
        raise Missing("there is no go")
    if not newer(target, source.glob("*.go")):
        run(["go", "build", "-o", target, "."], cwd=source)
    return target


def go(_path):
    return [Program("Go", [build_go(PEERS / "go", OUT / "bin" / "go")])]


def build_crates(directory, env, offline):
    """The newest crates, or if this compiler does not take them, older ones."""
    command = ["cargo", "build", "--release", "--quiet", *(["--offline"] if offline else [])]
    try:
        run(command, cwd=directory, env=env)
    except Missing:
        if offline:
            raise
        for crate, version in OLDER_CRATES.items():
            run(["cargo", "update", "--quiet", "-p", crate, "--precise", version], cwd=directory)
        run(command, cwd=directory, env=env)


RUST = OUT / "rust"  # a copy of the sources: cargo writes a lock file beside them
RUST_PROGRAM = RUST / "target" / "release" / "peers"


def rust(_path, offline=True):
    if not shutil.which("cargo"):
        raise Missing("there is no cargo")
    source = PEERS / "rust"
    if not newer(RUST_PROGRAM, [*source.glob("src/*.rs"), *source.glob("*.*"), *DENSE, *SUITE.glob("dense*.h")]):
        shutil.copytree(source, RUST, dirs_exist_ok=True)
        objects = [RUST / (file.stem + ".o") for file in DENSE]
        for file, target in zip(DENSE, objects):
            run(["cc", *FLAGS, "-fPIC", "-c", file, "-o", target])
        build_crates(RUST, dict(os.environ, DENSE_OBJECTS=" ".join(map(str, objects))), offline)
    return [Program("rayon", [RUST_PROGRAM, "rayon"]), Program("tokio", [RUST_PROGRAM, "tokio"])]


def ults(name, header, library, path):
    """Libraries of lightweight threads that a user has installed, below path if that is given."""
    flags, libs = [f'-DULTS_H="{header}"'], [library]
    if path:
        flags.append(f"-I{Path(path).resolve() / 'include'}")
        lib = Path(path).resolve() / "lib"
        libs += [f"-L{lib}", f"-Wl,-rpath,{lib}"]
    return [Program(name, [compile_one(name.lower(), "cc", [PEERS / "ults.c"], flags, libs)])]


def glt(_path):
    """Header-only: libabt's program of that name is under it."""
    include = TOP / "addons" / "glt" / "include"
    flags = ['-DULTS_H="ults_glt.h"', "-DFASTGLT", f"-I{include}", f"-I{RELEASE / 'include'}", f"-I{TOP / 'include'}"]
    library = RELEASE / ".libs"
    program = compile_one("glt", "cc", [PEERS / "ults.c"], flags, [f"-L{library}", "-labt"])
    return [Program("GLT", [program], {"LD_LIBRARY_PATH": str(library)})]


def libabtomp(_path):
    """libgomp's program with our library under that name."""
    directory = RELEASE / ".libs" / "abtomp"
    if not (directory / "libgomp.so.1").exists():
        raise Missing("the build has no libabtomp")
    program = openmp("libgomp", "gcc")[0]
    return [Program("libabtomp", program.command, {**program.env, "LD_LIBRARY_PATH": f"{directory}:{RELEASE / '.libs'}"})]


# ---- All of them -------------------------------------------------------------------------------------------------


# Each builds a program, or several from one source.
PEER_PROGRAMS = {
    "libabt": libabt, "abt.hpp of libabt": by_abt_hpp, "Argobots": argobots, "pthreads": pthreads, "libgomp": libgomp,
    "libomp": libomp, "oneTBB": tbb, "Boost.Fiber": fiber, "Go": go, "rayon and tokio": rust,
    "Qthreads": functools.partial(ults, "Qthreads", "ults_qthreads.h", "-lqthread"),
    "MassiveThreads": functools.partial(ults, "MassiveThreads", "ults_massivethreads.h", "-lmyth"),
}


# Interfaces of ours over libabt, which stand beside the peers of that interface.
OVER_LIBABT = {"GLT": glt, "libabtomp": libabtomp}


def install():
    """Installs what the peers need from Debian, and lets cargo fetch what it needs."""
    wanted = [p for p in PACKAGES if not (p == "golang-go" and shutil.which("go"))
              and not (p == "cargo" and shutil.which("cargo"))]
    print("installing:", " ".join(wanted), flush=True)
    script = '. maint/lib.sh; can_install && apt_get update && apt_get install -y --no-install-recommends "$@"'
    if subprocess.run(["sh", "-euc", script, "maint/bench", *wanted], cwd=TOP, check=False).returncode != 0:
        print("could not install all; please run: sudo apt-get install -y", " ".join(wanted))
    print("building the crates of rayon and tokio", flush=True)
    try:
        rust(None, offline=False)
    except Missing as reason:
        print(f"going on without: {reason}")


def build(peer, path):
    """The programs of a peer, with their works; or why there are none."""
    try:
        found = peer(path)
        for program in found:
            program.load_works()
        return found, None
    except Missing as reason:
        return [], str(reason)


def chosen(only, more=None):
    return {name: peer for name, peer in {**PEER_PROGRAMS, **(more or {})}.items()
            if not only or name == "libabt" or any(o.lower() in name.lower() for o in only)}


def find(paths, only=None, more=None):
    """All programs that can be built, with their works; and what is missing. A path says where a peer's library is."""
    peers = chosen(only, more)
    results = {"libabt": build(peers.pop("libabt"), None)}  # first: another library uses its program
    # The slowest to build come last in the list: they begin first.
    with futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = {name: pool.submit(build, peer, paths.get(name)) for name, peer in reversed(peers.items())}
    results.update({name: built[name].result() for name in peers})
    programs = [program for found, _ in results.values() for program in found]
    missing = [(name, reason) for name, (_, reason) in results.items() if reason]
    return programs, missing
