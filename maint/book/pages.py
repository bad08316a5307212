"""The links of pages lead somewhere, and their C blocks compile, with abt.h from where pkg-config says.

    pages.py DIRECTORY PAGE...    DIRECTORY is for files on the way
"""
import pathlib
import re
import subprocess
import sys

import markdown

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
# Pages whose blocks are pictures of code, not code: what they leave out is the point.
SKETCHES = ("doc/waiting.md",)


def links(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    text = re.sub(r"`[^`\n]*`", "", "\n".join(line for line in text.splitlines() if not line.startswith("    ")))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        place, _, anchor = target.partition("#")
        file = page.parent / place if place else page
        if not file.exists():
            yield f"{page}: there is no {target}"
        elif anchor and anchor not in map(markdown.anchor, re.findall(r"^#+ (.*)", file.read_text(), re.M)):
            yield f"{page}: there is no {target}"


def blocks(page, directory, flags):
    for number, code in enumerate(re.findall(r"^```c\n(.*?)^```", page.read_text(), re.M | re.S)):
        whole = "int main(" in code
        if str(page) in SKETCHES and not whole:
            continue
        if not whole and not re.search(r"^(static |int |void |#)", code, re.M):
            code = "void part(void);\nvoid part(void)\n{\n" + code + "}\n"
        source = directory / f"{page.stem}{number}.c"
        source.write_text(code if whole else PRELUDE + code)
        target = ["-o", str(source.with_suffix(""))] if whole else ["-c", "-o", "/dev/null"]
        result = subprocess.run(["cc", "-Wall", "-Wno-unused", "-D_GNU_SOURCE", str(source), *target, *flags, "-lpthread"],
                                capture_output=True, text=True)
        if result.returncode:
            yield f"{page}: C block {number + 1} does not compile\n{result.stderr}"
        elif whole and subprocess.run([source.with_suffix("")], timeout=60, stdout=subprocess.DEVNULL).returncode:
            yield f"{page}: the program of C block {number + 1} fails"


def main(directory, pages):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "argobots"], capture_output=True, text=True,
                           check=True).stdout.split()
    wrong = [told for page in map(pathlib.Path, pages) for told in [*links(page), *blocks(page, directory, flags)]]
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


sys.dont_write_bytecode = True
sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
