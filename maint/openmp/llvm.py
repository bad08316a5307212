# SPDX-License-Identifier: BSD-3-Clause
"""LLVM's tests of its OpenMP library, which lit of PyPI runs by clang."""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys

import apt
from openmp import dejagnu

WANTED = ("*/openmp/runtime/test/*", "*/openmp/runtime/src/kmp_platform.h")
# What lit says, in the words of the other suite.
RESULTS = {"PASS": dejagnu.PASS, "UNSUPPORTED": dejagnu.SKIP, "XFAIL": dejagnu.SKIP}
CONFIG = """\
config.test_c_compiler, config.test_cxx_compiler = "clang-{version}", "clang++-{version}"
config.test_compiler_features = ["clang", "clang-{version}"]
config.test_filecheck, config.test_not = "{tools}/FileCheck", "{tools}/not"
config.test_openmp_flags, config.test_extra_flags = "-fopenmp", "-I {headers}"
config.libomp_obj_root = "{work}"
config.library_dir, config.omp_header_directory = "{library}", "{headers}"
config.operating_system, config.hwloc_library_dir, config.using_hwloc = "Linux", "", False
config.has_ompx_taskgraph, config.has_omit_frame_pointer_flag, config.target_arch = False, True, "x86_64"
config.test_compiler_has_omp_h = True
config.has_ompt, config.has_libm, config.has_libatomic, config.is_standalone_build = True, True, False, True
lit_config.load_config(config, "{tests}/lit.cfg")
config.environment["LD_LIBRARY_PATH"] = "{path}"
"""


def load(version, get, work, place):
    """The tests from Debian's source, and the headers and the library that programs are linked with."""
    apt.call(*get, "source", "--download-only", f"llvm-toolchain-{version}", cwd=work)
    apt.unpack(next(work.glob("llvm-toolchain-*.orig.tar.xz")), WANTED, place / "llvm")
    apt.call(*get, "download", f"libomp-{version}-dev", f"libomp5-{version}", cwd=work)
    for package in work.glob("libomp*.deb"):
        apt.call("dpkg-deb", "-x", package, place / "package")
    (place / "link").mkdir()
    shutil.copy(next((place / "package").rglob("libomp*.so.5")), place / "link" / "libomp.so.5")
    (place / "link" / "libomp.so").symlink_to("libomp.so.5")


def lit(work):
    """The runner of LLVM, in an environment of its own. Later ones have no %T, by which some tests name their directory."""
    place = apt.cache("openmp") / "lit-18"
    if not (place / "bin" / "lit").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([place / "bin" / "pip", "-q", "install", "lit==18.1.8", "psutil"], check=True)
    return [place / "bin" / "lit", "-q", "--timeout", "300", "-o", work / "results.json"]


def fortran(work, own, source, link):
    """Twenty small programs, by the compilers of Fortran that are there."""
    results = {}
    for compiler in ("flang-new-19", "gfortran"):
        results[f"fortran/{compiler}"] = dejagnu.SKIP
        if shutil.which(compiler):
            program = work / f"{compiler}-programs"
            subprocess.run([compiler, "-fopenmp", f"-L{link}", source, "-o", program], cwd=work, check=True, capture_output=True)
            ended = subprocess.run([program], env=own, timeout=300, check=False, stdout=subprocess.DEVNULL)
            results[f"fortran/{compiler}"] = dejagnu.PASS if ended.returncode == 0 else f"exit {ended.returncode}"
    return results


def archer(version, suite, work, own, source):
    """Archer names each race of a program, by its line, and none of the two that have none. clang's TSan may not be installed."""
    headers = next((suite / "package").rglob("omp.h")).parent
    made = subprocess.run([f"clang-{version}", "-g", "-O1", "-fopenmp", "-fsanitize=thread", "-idirafter", headers, f"-L{suite / 'link'}",
                           source, "-o", work / "races"], check=False, capture_output=True)
    if made.returncode != 0:
        return {f"llvm-{version}/archer": dejagnu.SKIP}
    tool = dict(own, OMP_TOOL_LIBRARIES=next((suite / "package").rglob("libarcher.so")),
                TSAN_OPTIONS="ignore_noninstrumented_modules=1")
    results = {}
    for which in range(5):
        ended = subprocess.run(["setarch", "-R", work / "races", str(which)], env=tool, timeout=300, check=False, text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        lines = source.read_text().splitlines()
        named = {lines[int(line) - 1] for line in re.findall(r"SUMMARY: .*races\.c:(\d+)", ended.stderr)}
        right = ended.returncode == 0 if which in (0, 4) else named and all(f"race {which} " in line for line in named)
        results[f"llvm-{version}/archer/{which}"] = dejagnu.PASS if right else f"exit {ended.returncode}, {named or 'none named'}"
    return results


def run(version, own, given):
    """What each test ends with, by its name. clang of that version and its FileCheck are installed."""
    suite = apt.suite(f"openmp/llvm-{version}", functools.partial(load, version))
    work = pathlib.Path(given.work).resolve() / f"llvm-{version}"
    work.mkdir(parents=True, exist_ok=True)
    headers = next((suite / "package").rglob("omp.h")).parent
    (work / "lit.site.cfg").write_text(CONFIG.format(
        version=version, tools=f"/usr/lib/llvm-{version}/bin", work=work, library=suite / "link", headers=headers,
        tests=suite / "llvm/openmp/runtime/test", path=own["LD_LIBRARY_PATH"]))
    subprocess.run([*lit(work), f"-j{given.jobs}", "--filter", given.filter or ".", work],
                   env=own, check=False, stdout=subprocess.DEVNULL)
    found = json.loads((work / "results.json").read_text())["tests"]
    results = fortran(work, own, given.programs, suite / "link") | archer(version, suite, work, own, given.programs.with_name("races.c"))
    for each in found:
        if each["code"] != "EXCLUDED":
            name = re.sub(".* :: ", "", each["name"])
            results[f"llvm-{version}/{name}"] = RESULTS.get(each["code"], each["code"].lower())
    return results
