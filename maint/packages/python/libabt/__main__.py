# SPDX-License-Identifier: BSD-3-Clause
"""Says which libraries for threads this process has, which of them libabt serves, and why others are not served.

    python -m libabt [MODULE]...            imports the modules, and looks
    abt-run --openmp --preload python -m libabt [MODULE]...
"""
import importlib
import os
import pathlib
import re
import sys

from . import PREFIX, __version__

OURS = PREFIX / "lib" / "abtomp"
OPENMP = re.compile(r"lib(gomp|omp|iomp5)\b")
POOLS = {
    "openblas": "OpenBLAS; without OpenMP it has threads of its own, which nothing serves",
    "tbb": "oneTBB, which has threads of its own",
    "mkl_rt": "MKL; it uses OpenMP where MKL_THREADING_LAYER is GNU or INTEL",
}


def mapped():
    """The shared libraries of this process, each once, in the order of their addresses."""
    with open("/proc/self/maps") as maps:
        paths = [line.split(None, 5)[5].strip() for line in maps if line.count("/")]
    return [pathlib.Path(path) for path in dict.fromkeys(paths) if ".so" in os.path.basename(path)]


def names_of(file):
    """The names that programs ask for by which this very file is reached."""
    return {link.name for link in OURS.glob("lib*") if link.samefile(file)} if OURS.is_dir() else set()


def needs_openmp(path):
    """Whether a library calls OpenMP: the names that it needs are in its own text."""
    return re.search(rb"\0lib(gomp|omp|iomp5)[-.\w]*\.so", path.read_bytes()) is not None


def line_of(path, served):
    found = OPENMP.match(path.name)
    if found:
        if names_of(path):
            return f"{path}: libabt's OpenMP"
        if found[1] in served:
            return f"{path}: served, its calls come to libabt"
        return f"{path}: not served; start Python by: abt-run --openmp --preload python ..."
    for name, why in POOLS.items():
        if name in path.name and not needs_openmp(path):
            return f"{path}: not served: {why}"
    return None


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        return
    for name in sys.argv[1:]:
        importlib.import_module(name)
    libraries = mapped()
    ours = [path for path in libraries if names_of(path)]
    served = {OPENMP.match(name)[1] for path in ours for name in names_of(path)}
    print(f"libabt {__version__}: " + ("serves OpenMP in this process" if ours else "serves nothing in this process"))
    lines = [line for line in (line_of(path, served) for path in libraries if path.is_file()) if line]
    print("\n".join(lines or ["there is no library for OpenMP or BLAS in this process"]))


if __name__ == "__main__":
    main()
