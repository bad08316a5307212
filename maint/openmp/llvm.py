# SPDX-License-Identifier: BSD-3-Clause
"""LLVM's tests of its OpenMP runtime, run by lit as of gcc, which is to say against libgomp.so.1. What gcc cannot compile
or link, since it is of libomp's own interface, is left out."""

import json
import os
import re
import subprocess
import sys

from . import dejagnu

SITE = """\
import os
config.test_c_compiler, config.test_cxx_compiler = "gcc", "g++"
config.test_compiler_features = ["gcc", "gcc-{major}"]
config.test_filecheck, config.test_not = "{filecheck}", "{invert}"
config.test_openmp_flags, config.test_extra_flags = "-fopenmp", ""
config.libomp_obj_root, config.library_dir = "{work}", "{library}"
config.omp_header_directory, config.operating_system = "{headers}", "Linux"
config.hwloc_library_dir, config.using_hwloc = "", False
config.has_ompt, config.has_libm, config.has_libatomic, config.is_standalone_build = False, True, False, True
lit_config.load_config(config, "{top}/lit.cfg")
config.substitutions = [(key, "timeout {limit} %t" if key == "%libomp-run" else value)
                        for key, value in config.substitutions]
config.environment.update({environment})
"""


class Suite:
    def __init__(self, suites, work, environment, limit):
        self.top = suites / "llvm" / "openmp" / "runtime" / "test"
        self.lit = suites / "llvm" / "llvm" / "utils" / "lit" / "lit.py"
        self.work = work / "llvm"
        self.work.mkdir(parents=True, exist_ok=True)
        self.write_site(environment, limit)
        self.limit = limit

    def write_site(self, environment, limit):
        headers = subprocess.run(["gcc", "-print-file-name=include"], stdout=subprocess.PIPE, text=True, check=True)
        major = subprocess.run(["gcc", "-dumpversion"], stdout=subprocess.PIPE, text=True, check=True)
        own = {key: value for key, value in environment.items() if key.startswith(("LD_", "ABT_"))}
        (self.work / "lit.site.cfg").write_text(SITE.format(
            major=major.stdout.strip(), filecheck=tool("FileCheck"), invert=tool("not"), work=self.work,
            library=own.get("LD_LIBRARY_PATH", "/nowhere").split(":")[0], headers=headers.stdout.strip(), top=self.top,
            limit=limit, environment=own))

    def names(self):
        return [f"llvm/{path.relative_to(self.top)}" for path in sorted(self.top.rglob("*.c*"))
                if path.suffix in (".c", ".cpp") and "ompt" not in path.parts]

    def can_compile(self, name):
        """Whether gcc can; the answer is kept."""
        kept = self.work / (re.sub(r"\W", "_", name) + ".links")
        if not kept.exists():
            command = ["g++" if name.endswith("pp") else "gcc", "-fopenmp", f"-I{self.top}", self.source(name), "-lm"]
            status, _ = dejagnu.call([*command, "-o", os.devnull], self.work, os.environ,
                                     dejagnu.COMPILE_SECONDS)
            kept.write_text("no" if status else "yes")
        return kept.read_text() == "yes"

    def source(self, name):
        return str(self.top / name.split("/", 1)[1])

    def run(self, names, jobs):
        """What each of them ends with, as dejagnu.Test.run says it."""
        if not names:
            return {}
        report = self.work / "report.json"
        report.unlink(missing_ok=True)
        parameters = ["-q", "-j", str(jobs), "-o", str(report)]
        paths = [str(self.work / name.split("/", 1)[1]) for name in names]
        out = subprocess.run([sys.executable, self.lit, *parameters, *paths], cwd=self.work, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if not report.exists():
            sys.exit(f"check-openmp: lit fails: {out.stdout[-2000:]}")
        results = {f"llvm/{test['name'].split(' :: ')[1]}": test for test in json.loads(report.read_text())["tests"]}
        return {name: verdict(results[name]) for name in names if name in results}


def verdict(test):
    if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
        return dejagnu.PASS
    if test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
        return dejagnu.SKIP
    return f"{test['code']}: {test['output'].strip()[-200:]}"


def tool(name):
    """A tool of LLVM, which Debian installs by the number of its version."""
    for directory in os.environ.get("PATH", "").split(":"):
        for file in (name, f"{name}-14"):
            if os.access(os.path.join(directory, file), os.X_OK):
                return os.path.join(directory, file)
    return ""
