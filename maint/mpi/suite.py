# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's tests: where they come from, how they are built, and which there are."""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess

import apt

FOLDERS = ("pt2pt", "coll", "comm", "part", "threads/pt2pt", "threads/coll", "threads/comm", "threads/init",
           "threads/mpi_t", "threads/part", "threads/rma", "threads/spawn")


@dataclasses.dataclass
class Test:
    """One line of a list of tests."""
    folder: str
    program: str
    number: int
    arguments: list
    environment: dict
    seconds: int
    name: str


def call(*command, **more):
    """Whether a command succeeds, and what it says."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)
    return done.returncode == 0, done.stdout


def sources():
    """{name: text} of the lists of the sources of those packages that the system takes."""
    files = [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]
    texts = {file.name: re.sub(r"^deb ", "deb-src ", file.read_text(), flags=re.M) for file in files
             if file.suffix in (".list", ".sources") and file.is_file()}
    return {name: re.sub(r"^Types:.*", "Types: deb-src", text, flags=re.M) for name, text in texts.items()}


def fetch():
    """Where the tests of the installed version are, or why they are not."""
    is_there, version = call("dpkg-query", "-W", "-f", "${source:Version}", "libmpich-dev")
    if not is_there:
        return "the installed MPICH is not Debian's"
    version = version.strip()

    def load(get, work, place):
        apt.call(*get, "source", "--download-only", f"mpich={version}", cwd=work)
        apt.unpack(next(work.glob("mpich_*.orig.tar.*")), ["*/test/mpi"], place)

    try:
        return apt.suite(f"mpich/{version}", load, sources())
    except apt.Missing as why:
        return f"the source of {why}"


@dataclasses.dataclass
class Tree:
    """A folder in which tests are built, one with ULTs in place of native threads or not."""
    folder: pathlib.Path
    suite: pathlib.Path
    flags: list
    libraries: list


# What configure would find on Linux, of what the tests ask for.
FOUND = """
    STDARG_H STDINT_H STRING_H SYS_RESOURCE_H SYS_TIME_H UNISTD_H LONG_DOUBLE LONG_LONG FLOAT__COMPLEX
    DOUBLE__COMPLEX LONG_DOUBLE__COMPLEX _BOOL GETRUSAGE MPI_IO MPI_WIN_CREATE
"""
CONFIG = "".join(f"#define HAVE_{name} 1\n" for name in FOUND.split())


def configure(source, work, build):
    """The two trees: with native threads, and with the ULTs of a build."""
    trees = []
    for name, package in (("plain", "POSIX"), ("ults", "ARGOBOTS")):
        folder = work / name
        (folder / "include").mkdir(parents=True, exist_ok=True)
        (folder / "mpitestconf.h").write_text(f"{CONFIG}#define THREAD_PACKAGE_NAME THREAD_PACKAGE_{package}\n")
        (folder / "dtpoolsconf.h").write_text("")  # they look for it beside a folder of headers
        suite = source / "test" / "mpi"
        flags = ["-O1", "-w", f"-I{folder}", f"-I{folder / 'include'}", f"-I{suite / 'include'}", f"-I{suite / 'dtpools' / 'include'}"]
        trees.append(Tree(folder, suite, flags, ["-lpthread", "-lm"]))
    trees[1].flags.append(f"-I{build / 'include'}")
    trees[1].libraries[:0] = [f"-L{build / '.libs'}", "-labt"]
    return trees


def compile(*command):
    """Why it fails."""
    succeeds, said = call("mpicc.mpich", *command)
    return "" if succeeds else said[-500:]


def common(tree, kind):
    """The archive that programs of a kind are linked with: of single or of several threads."""
    archive = tree.folder / f"{kind}.a"
    if archive.exists():
        return archive
    flags = tree.flags if kind == "single" else [*tree.flags, "-DMTEST_USE_THREAD"]
    files = [tree.suite / "util" / f"{name}.c" for name in ("mtest", "mtest_common", "dtypes", f"mtest_{kind}")]
    objects = []
    for file in [*files, *sorted((tree.suite / "dtpools" / "src").glob("*.c"))]:
        objects.append(tree.folder / f"{kind}-{file.stem}.o")
        wrong = compile(*flags, "-c", file, "-o", objects[-1])
        if wrong:
            raise SystemExit(f"check-mpi: {file} is not compiled:\n{wrong}")
    call("ar", "rcs", archive, *objects)
    return archive


def build_one(tree, folder, program):
    """Why it cannot be built, by what its makefile says about it."""
    target = tree.folder / folder / program
    source = tree.suite / folder
    made = re.sub(r"\\\n", " ", (source / "Makefile.am").read_text())

    def words(variable, default):
        found = re.search(rf"^{program}_{variable}\s*=(.*)", made, re.M)
        return found.group(1).split() if found else default

    if target.exists():
        return ""
    target.parent.mkdir(parents=True, exist_ok=True)
    kind = "thread" if "Makefile_threads.mtest" in made else "single"
    flags = [word for word in words("CPPFLAGS", []) if word.startswith("-D")]
    files = [source / word for word in words("SOURCES", [f"{program}.c"]) if word.endswith(".c")]
    if kind == "thread":
        flags.append("-DMTEST_USE_THREAD")
    return compile(*tree.flags, *flags, f"-I{source}", *files, "-o", target, tree.folder / f"{kind}.a", *tree.libraries)


def make(tree, tests):
    """Builds the programs of some tests. What cannot be built, and why."""
    for kind in ("single", "thread"):
        common(tree, kind)
    programs = sorted({(test.folder, test.program) for test in tests})
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = pool.map(lambda one: build_one(tree, *one), programs)
    return {f"{folder}/{program}": wrong for (folder, program), wrong in zip(programs, results) if wrong}


def parse(folder, line):
    words = line.split()
    test = Test(folder, words[0], int(words[1]), [], {}, 0, f"{folder}/{line.strip()}")
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key == "arg":
            test.arguments.append(value)
        elif key == "env":
            name, _, value = value.partition("=")
            test.environment[name] = value
        elif key == "timeLimit":
            test.seconds = int(value)
        elif key in ("xfail", "mem", "resultTest"):
            return None  # not for each MPI or machine, or to be judged by other rules
    return test


def lines(tree, folder):
    """Those of a folder's list. What configure would put in stays away: it is off there, too."""
    for name in ("testlist", "testlist.in"):
        file = tree.suite / folder / name
        if file.exists():
            return [line.split("#")[0].strip() for line in file.read_text().splitlines() if "@" not in line]
    return []


def tests(tree):
    found = [parse(folder, line) for folder in FOLDERS for line in lines(tree, folder) if re.match(r"\S+\s+\d", line)]
    return [test for test in found if test]
