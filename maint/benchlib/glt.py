# SPDX-License-Identifier: BSD-3-Clause
"""maint/bench --glt: what GLT costs over libabt: the same programs on libabt directly, header-only, and with the shared library.

    calls    instructions of each call on one stream: callgrind's difference of two numbers of calls
    works    instructions of N-Queens and UTS T1 on one stream
    times    their times on two, in interleaved rounds
"""

import os
import statistics
import subprocess
import sys
import time

from . import programs

SOURCES = programs.TOP / "addons" / "glt" / "bench"
INCLUDE = programs.TOP / "addons" / "glt" / "include"
OUT = programs.OUT / "glt"
SECTIONS = ["calls", "works", "times"]
NEAR = 0.02  # of the times
FORMS = {"direct": ["-DDIRECT"], "header-only": ["-DFASTGLT"], "shared": []}
CALLS = [("ult", "ULT: create and join", 2), ("tasklet", "tasklet: create and join", 2), ("yield", "yield", 1),
         ("mutex", "mutex: lock and unlock", 2), ("thread_num", "number of the thread", 1),
         ("num_threads", "number of threads", 1), ("malloc", "room for four handles", 1)]
WORKS = [("10 queens", "queens", ["10", "3"]), ("11 queens", "queens", ["11", "3"]), ("12 queens", "queens", ["12", "3"]),
         ("UTS T1, tasklets", "uts", []), ("UTS T1, ULTs", "uts", ["ults"])]
LIMITS = {"header-only": 2, "shared": 9}  # instructions a call


def options(arguments):
    parser = programs.option_parser("--glt", __doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller works, under a minute")
    parser.add_argument("--only", metavar="LIST", default=",".join(SECTIONS), help="of " + ", ".join(SECTIONS))
    parser.add_argument("--rounds", type=int, help="of the times; 0: none")
    given = parser.parse_args(arguments)
    given.only = given.only.split(",")
    for section in given.only:
        if section not in SECTIONS:
            parser.error(f"there is no {section}")
    given.rounds = given.rounds if given.rounds is not None else 3 if given.quick else 21
    given.works = WORKS[:1] if given.quick else WORKS
    return given


def build(release):
    """Each program in each form: {form: {name: path}}."""
    OUT.mkdir(parents=True, exist_ok=True)
    built = {}
    for form, flags in FORMS.items():
        built[form] = {}
        for name in ("micro", "queens", "uts"):
            target = OUT / f"{name}_{form}"
            libs = ["-labt", "-lm", "-lcrypto"]
            if form == "shared":
                libs.insert(0, "-lglt")
            programs.run(["cc", "-O2", "-g", "-Wall", "-Wextra", *flags, f"-I{INCLUDE}", f"-I{release / 'include'}",
                          f"-I{programs.TOP / 'include'}", SOURCES / f"{name}.c", "-o", target, f"-L{release / '.libs'}",
                          *libs])
            built[form][name] = target
    return built


def environment(release, threads):
    return dict(os.environ, GLT_NUM_THREADS=str(threads), LD_LIBRARY_PATH=str(release / ".libs"))


def count(release, command):
    """Instructions on one stream."""
    out = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, command)],
                         env=environment(release, 1), capture_output=True, text=True, check=False)
    for line in out.stderr.splitlines():
        if "Collected :" in line and out.returncode == 0:
            return int(line.split(":")[1])
    sys.exit(f"bench --glt: callgrind does not count {command[0]}: {out.stderr[-300:]}")


def count_calls(release, built):
    numbers = 6400, 12800
    print("\n| instructions | direct | header-only | shared |\n|---|---:|---:|---:|")
    over = False
    for name, title, calls in CALLS:
        cost = {form: (count(release, [files["micro"], name, numbers[1]]) - count(release, [files["micro"], name, numbers[0]]))
                / (numbers[1] - numbers[0]) for form, files in built.items()}
        more = {form: cost[form] - cost["direct"] for form in LIMITS}
        over = over or any(more[form] > limit * calls * 1.06 for form, limit in LIMITS.items())
        print(f"| {title} | {cost['direct']:.1f} | {more['header-only']:+.0f} | {more['shared']:+.0f} |", flush=True)
    print(f"\nAt most {LIMITS['header-only']} and {LIMITS['shared']} a call: {'no' if over else 'yes, within 6 %'}.")


def count_works(release, built, works):
    print("\n| million instructions | direct | header-only | shared |\n|---|---:|---:|---:|")
    for title, name, arguments in works:
        cost = {form: count(release, [files[name], *arguments]) for form, files in built.items()}
        print(f"| {title} | {cost['direct'] / 1e6:.1f} | "
              + " | ".join(f"{100 * (cost[form] / cost['direct'] - 1):+.2f} %" for form in LIMITS) + " |", flush=True)


def time_of(release, command):
    begin = time.monotonic()
    subprocess.run([str(c) for c in command], env=environment(release, 2), stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def time_works(release, built, works, rounds):
    print(f"\n| time on two streams, direct is 1, medians of {rounds} rounds | header-only | shared |\n|---|---:|---:|")
    far = False
    for title, name, arguments in works:
        ratios = {form: [] for form in LIMITS}
        for number in range(rounds):
            order = list(built)[number % len(built):] + list(built)[:number % len(built)]  # nobody is always the first
            taken = {form: time_of(release, [built[form][name], *arguments]) for form in order}
            for form, ratio in ratios.items():
                ratio.append(taken[form] / taken["direct"])
        medians = [statistics.median(ratios[form]) for form in LIMITS]
        far = far or any(median - 1 > NEAR for median in medians)
        print(f"| {title} | " + " | ".join(f"{median:.3f}" for median in medians) + " |", flush=True)
    print(f"\nAt most {100 * NEAR:.0f} % slower: {'no' if far else 'yes'}.")


def main(arguments):
    given = options(arguments)
    release = programs.RELEASE if given.build is None else programs.TOP / given.build
    try:
        built = build(release)
    except programs.Missing as why:
        sys.exit(f"bench --glt: {why}")
    if "calls" in given.only:
        count_calls(release, built)
    if "works" in given.only:
        count_works(release, built, given.works)
    if "times" in given.only and given.rounds > 0:
        time_works(release, built, given.works, given.rounds)
    return 0
