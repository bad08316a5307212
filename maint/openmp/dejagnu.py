# SPDX-License-Identifier: BSD-3-Clause
"""libgomp's tests, run by the dg directives in them: those that say how to compile and run, what to expect and what is
needed. Those that look into the compiler (dg-final, dg-warning) are not looked at."""

import fnmatch
import functools
import os
import platform
import re
import shlex
import signal
import subprocess

import apt

PASS, SKIP = "pass", "skip"
# What the compiler may take: some tests are large, and the machine may be busy.
COMPILE_SECONDS = 900
TRIPLE = f"{platform.machine()}-pc-linux-gnu"
# What the tests ask for and what is there; any other name is not.
THERE = {"tls", "tls_runtime", "size32plus", "sync_int_long", "sync_char_short", "cas_char", "cas_int", "lto", "lp64",
         "fpic", "shared", "pthread", "fd_truncate", "alias", "large_long_double", "__float128", "vect_simd_clones",
         "sse2", "sse2_runtime", "avx", "avx_runtime", "offload_device_shared_as", "offload_device_shared_as_or_none"}
DIRECTIVE = re.compile(r"\{\s*(dg-[a-z-]+)\s*(.*?)\s*\}\s*(?:\*/)?\s*$", re.M)
DRIVERS = {"c": ["gcc"], "c++": ["g++", "-x", "c++"], "fortran": ["gfortran"]}


GCC = "gcc-12-source"
# Some tests declare what they call by these two headers.
WANTED = ("*/libgomp/testsuite/lib*", "*/libgomp/libgomp_g.h", "*/include/gomp-constants.h")


def load(get, work, place):
    """gcc/ with the tests, from Debian's source."""
    apt.call(*get, "download", GCC, cwd=work)
    apt.call("dpkg-deb", "-x", next(work.glob(f"{GCC}_*.deb")), work / "package")
    apt.unpack(next((work / "package").rglob("gcc-12*.tar.xz")), WANTED, place / "gcc")


def words(text):
    """The words of a Tcl list: "quoted", {in braces} or bare."""
    found = []
    while text := text.lstrip():
        if quoted := re.match(r'"((?:[^"\\]|\\.)*)"', text):
            word, length = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), quoted[1]), quoted.end()
        elif text[0] == "{":
            length = closing(text)
            word = text[1:length - 1]
        else:
            length = re.match(r"\S+", text).end()
            word = text[:length]
        found.append(word)
        text = text[length:]
    return found


def closing(text):
    """The length of what begins with a brace, up to the one that closes it."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return at + 1
    return len(text)


def holds(selector, language):
    """Whether a selector such as `target { lp64 && { ! avx } }` does."""
    selector = re.sub(r"^\s*(target|xfail)\s", "", selector)
    out, operand = [], False
    for token in re.findall(r"[{}!]|&&|\|\||[^\s{}!]+", selector):
        named = token not in ("{", "}", "!", "&&", "||")
        if operand and (named or token in ("{", "!")):
            out.append(" or ")
        if named:
            out.append(str(token in THERE or token == language or fnmatch.fnmatch(TRIPLE, token)))
        else:
            out.append({"{": "(", "}": ")", "!": " not ", "&&": " and ", "||": " or "}[token])
        operand = named or token == "}"
    return bool(eval("".join(out) or "True"))  # noqa: S307: it has only truth values, operators and brackets


class Test:
    """A source, the language that it is compiled as, and options for all of them."""

    def __init__(self, name, source, language, options):
        self.name, self.source, self.language = name, source, language
        self.do, self.options, self.more, self.sources, self.environment = "run", options, [], [], {}
        self.output, self.fails, self.wrong, self.why_not = "", False, False, None
        for directive, arguments in DIRECTIVE.findall(source.read_text(errors="replace")):
            handler = getattr(self, directive.replace("-", "_"), None)
            if handler:
                handler(words(arguments))

    def selected(self, arguments, at):
        return len(arguments) <= at or holds(arguments[at], self.language)

    def dg_do(self, arguments):
        self.do = arguments[0]
        if not self.selected([" ".join(arguments[1:])], 0):
            self.why_not = "dg-do"

    def dg_options(self, arguments):
        if self.selected(arguments, 1):
            kept = self.options if self.language == "fortran" else []
            self.options = kept + shlex.split(arguments[0])

    def dg_additional_options(self, arguments):
        if self.selected(arguments, 1):
            self.more += shlex.split(arguments[0])

    def dg_additional_sources(self, arguments):
        self.sources += arguments[0].split()

    def dg_set_target_env_var(self, arguments):
        self.environment[arguments[0]] = arguments[1]

    def dg_output(self, arguments):
        self.output += arguments[0]

    def dg_shouldfail(self, arguments):
        self.fails = self.selected(arguments, 1)

    def dg_error(self, arguments):
        self.wrong = self.wrong or len(arguments) < 3 or holds(arguments[2], self.language)

    def dg_require_effective_target(self, arguments):
        if not holds(" ".join(arguments), self.language):
            self.why_not = arguments[0]

    def dg_skip_if(self, arguments):
        if holds(arguments[1], self.language):
            self.why_not = "dg-skip-if"

    dg_xfail_if = dg_xfail_run_if = dg_skip_if

    def command(self, program):
        """The call of the compiler: it links unless the test is one of compiling."""
        last = {"compile": ["-S", "-o", os.devnull]}.get(self.do, ["-o", str(program)])
        libraries = {"fortran": [], "c": ["-lm"], "c++": ["-lm"]}[self.language]
        others = [str(self.source.parent / name) for name in self.sources]
        directories = [f"-I{place}" for place in (self.source.parent, *includes(self.source), program.parent.parent)]
        return [*DRIVERS[self.language], "-fopenmp", *directories, *self.options, *self.more,
                str(self.source), *others, *last, *libraries]

    def run(self, work, environment, limit):
        """PASS, SKIP, or how it fails. Programs are kept, since compiling takes longest."""
        if self.why_not or self.do not in ("run", "link", "compile"):
            return SKIP
        place = work / re.sub(r"[^\w.+-]", "_", self.name)
        place.mkdir(parents=True, exist_ok=True)
        program = place / "program"
        if not program.exists():
            status, text = call(self.command(program), place, os.environ, COMPILE_SECONDS)
            if self.wrong or status != 0:
                return PASS if self.wrong and status != 0 else f"compiling: {first_error(text)}"
        if self.do != "run":
            return PASS
        status, text = call([str(program)], place, {**environment, **self.environment}, limit)
        if status is None:
            return f"takes longer than {limit} s"
        if self.fails != (status != 0):
            return f"ends with {status}: {text.strip()[-200:]}"
        return PASS if re.search(self.output, text) else f"prints {text[:200]!r}"


def includes(source):
    """libgomp's own directory and GCC's include/."""
    gcc = next(place for place in source.parents if (place / "libgomp").is_dir())
    return gcc / "libgomp", gcc / "include"


def write_config(work):
    """What libgomp's configure would have found, as far as tests ask."""
    work.mkdir(parents=True, exist_ok=True)
    (work / "config.h").write_text("#define HAVE_PTHREAD_AFFINITY_NP 1\n#define HAVE_UNISTD_H 1\n")


def first_error(text):
    found = re.search(r"[Ee]rror: (.*)|(undefined reference.*)", text)
    return (found[1] or found[2]) if found else text.strip()[-200:]


def call(command, place, environment, limit):
    """The status, None after the limit, and what was printed."""
    process = subprocess.Popen(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0].decode(errors="replace")
    return process.returncode, out.decode(errors="replace").replace("\r", "")


# The suites: their name, directory, files, language and options.
C_OPTIONS = ["-O2"]
SUITES = (
    ("libgomp.c", "libgomp.c", "*.c", "c", C_OPTIONS),
    ("common.c", "libgomp.c-c++-common", "*.c", "c", C_OPTIONS),
    ("common.c++", "libgomp.c-c++-common", "*.c", "c++", C_OPTIONS),
    ("libgomp.c++", "libgomp.c++", "*.C", "c++", C_OPTIONS),
    ("fortran-O0", "libgomp.fortran", "*.[fF]*", "fortran", ["-O0"]),
    ("fortran-O2", "libgomp.fortran", "*.[fF]*", "fortran", ["-O2"]),
)


@functools.lru_cache(None)
def tests(suites):
    """All tests."""
    found = []
    for name, directory, files, language, options in SUITES:
        top = suites / "gcc" / "libgomp" / "testsuite" / directory
        found += [Test(f"{name}/{path.relative_to(top)}", path, language, list(options))
                  for path in sorted(top.rglob(files))]
    return found
