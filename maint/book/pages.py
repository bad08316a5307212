# SPDX-License-Identifier: BSD-3-Clause
"""Looks at pages of Markdown: their links lead somewhere, and their blocks hold, with the libabt that pkg-config finds.

    pages.py [--links] DIRECTORY PAGE...    DIRECTORY is for files on the way; --links: looks at links only

Each block of code says what it is:

    c        compiles; one with a main is a program that runs, and that the next command compiles, by its name
    sh       commands that succeed
    console  commands, behind "$ ", and what they have printed, which is not compared; all succeed
    python   runs
    text     is looked at by nobody

The blocks of a page are run in a directory of their own, in which ./program, if the page says what it stands for, is an
example that makes units, echo.c that of libabtio, and maint and tools are those of the source. One that does not run there stands behind a line <!-- not run: WHY -->; such a C block is only
compiled.
"""
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import markdown

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
# What parts of programs on a page may use without saying so.
PRELUDE = """#include <abt.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
"""
BLOCK = re.compile(r"^(?:<!-- ([^\n]*?) -->\n)?```(\w*)\n(.*?)^```", re.M | re.S)
KINDS = ("c", "cpp", "cmake", "sh", "console", "python", "text")


def links(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        place, _, anchor = target.partition("#")
        file = page.parent / place if place else page
        if not file.exists():
            yield f"there is no {target}"
        elif anchor and anchor not in map(markdown.anchor, re.findall(r"^#+ (.*)", file.read_text(), re.M)):
            yield f"there is no {target}"


def fences(page):
    """A fence that shares its line with text does not end its block, which then takes what follows."""
    for number, line in enumerate(page.read_text().split("\n"), 1):
        if "```" in line and not re.fullmatch(r" *```\w*", line):
            yield f"line {number}: text beside ```"


class Runner:
    """Runs the blocks of a page in a directory."""

    def __init__(self, directory, flags):
        self.directory, self.flags = directory, flags
        self.counts = {"ran": 0, "not run": 0}
        directory.mkdir()
        for name in ("maint", "tools"):
            (directory / name).symlink_to(TOP / name)
        (directory / "echo.c").symlink_to(TOP / "addons/io/examples/echo.c")
        for library in os.environ.get("LD_LIBRARY_PATH", "").split(":")[:1]:
            (directory / "libabt.so").symlink_to(pathlib.Path(library) / "libabt.so")
        self.compile(TOP / "examples/start/hello.c", directory / "program")

    def call(self, command, **more):
        """What the command says if it fails."""
        try:
            done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, timeout=60, **more)
        except subprocess.TimeoutExpired:
            return "it takes more than a minute"
        return f"status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}" if done.returncode else ""

    def compile(self, source, target):
        compiler = ["c++", "-std=c++17"] if source.suffix == ".cpp" else ["cc"]
        if "#include <mpi.h>" in source.read_text():
            if not shutil.which("mpicc"):
                return ""
            compiler = ["mpicc"]
        # A program for GLT does without its library.
        compiler += ["-Wall", "-Wno-unused", "-D_GNU_SOURCE", "-DFASTGLT"]
        return self.call([*compiler, str(source), *(["-o", str(target)] if target else
                         ["-c", "-o", "/dev/null"]), *self.flags, "-lpthread"])

    def code(self, kind, number, text, name, is_run):
        whole = "int main(" in text
        if not whole and not re.search(r"^(static |int |void |long |#|ABTX_TASK|template )", text, re.M):
            text = "void part(void);\nvoid part(void)\n{\n" + text + "}\n"
        source = self.directory / (name if whole and name else f"block{number}.{kind}")
        source.write_text(text if whole else PRELUDE + text)
        failed = self.compile(source, self.directory / f"block{number}" if whole else None)
        return failed or (self.call([f"./block{number}"]) if whole and is_run else "")

    def block(self, kind, number, text, name, mark):
        """What is wrong with it."""
        is_run = not mark.startswith("not run: ")
        if kind not in KINDS or mark and is_run:
            return f"nobody knows what {kind or 'no kind'} with the mark {mark or 'none'} is"
        if kind in ("text", "cmake"):
            return ""
        self.counts["ran" if is_run else "not run"] += 1
        if kind in ("c", "cpp") and is_run and "int main(" in text and not name:
            return "no command compiles it"
        if kind in ("c", "cpp"):
            return self.code(kind, number, text, name, is_run)
        if not is_run:
            return ""
        if kind == "python":
            return self.call([sys.executable, "-"], input=text)
        if kind == "console":
            text = "\n".join(re.findall(r"^\$ (.*(?:(?<=\\)\n.*|\n {4}.*\"$)*)", text, re.M))
        return self.call(["sh", "-e", "-c", text])


def blocks(page, runner):
    text = page.read_text()
    if re.search(r"^\n {4}", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        yield "a block does not say what it is"
    if re.search(r"^\$.* \./program\b", text, re.M) and "`./program` stands for" not in text:
        yield "it does not say what ./program stands for"
    found = list(BLOCK.finditer(text))
    for number, match in enumerate(found):
        later = itertools.takewhile(lambda block: "int main(" not in block[3], found[number + 1:])
        compiled = (re.search(r"^(?:\$ )?c(?:c|\+\+) .*?(\w+\.c(?:pp)?)\b", block[3], re.M) for block in later if block[2] in ("sh", "console"))
        name = next((one[1] for one in compiled if one), None)
        wrong = runner.block(match[2], number + 1, match[3], name, match[1] or "")
        if wrong:
            yield f"block {number + 1} ({match[2]}): {wrong}"


def main(arguments):
    only_links = arguments[0] == "--links"
    directory, pages = pathlib.Path(arguments[only_links]), arguments[1 + only_links:]
    with_io = subprocess.run(["pkg-config", "--exists", "abtio"], check=False).returncode == 0
    libraries = ["abtio", "argobots"] if with_io else ["argobots"]
    flags = [] if only_links else subprocess.run(["pkg-config", "--cflags", "--libs", *libraries], capture_output=True, text=True,
                                                 check=True).stdout.split()
    total, failed = {"ran": 0, "not run": 0}, False
    for number, page in enumerate(map(pathlib.Path, pages)):
        told = [*fences(page), *links(page)]
        if not only_links:
            runner = Runner(directory / f"page{number}", flags)
            told += blocks(page, runner)
            total = {what: count + runner.counts[what] for what, count in total.items()}
        for line in told:
            failed = True
            print(f"{page}: {line}")
    if not failed and not only_links:
        print(f"{len(pages)} pages, {total['ran']} blocks hold, {total['not run']} do not run here")
    return failed


sys.dont_write_bytecode = True
sys.exit(main(sys.argv[1:]))
