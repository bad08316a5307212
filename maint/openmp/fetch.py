# SPDX-License-Identifier: BSD-3-Clause
"""Fetches libgomp's suite of tests from Debian's gcc-12-source, without root and without installing. Only the tests are
unpacked and kept, by version."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RELEASE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
GCC = "gcc-12-source"
# Some tests declare what they call by these two headers.
WANTED = ("*/libgomp/testsuite/lib*", "*/libgomp/libgomp_g.h", "*/include/gomp-constants.h")


class Apt:
    """apt-get with lists and caches of its own."""

    def __init__(self, work):
        self.work = work
        for name in ("state/lists/partial", "cache/archives/partial"):
            (work / name).mkdir(parents=True, exist_ok=True)
        (work / "sources.list").write_text(f"deb {MIRROR} {RELEASE} main\n")
        options = {"Dir::Etc::sourcelist": work / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
                   "Dir::State": work / "state", "Dir::Cache": work / "cache", "Debug::NoLocking": 1,
                   "APT::Sandbox::User": "root" if os.getuid() == 0 else ""}
        self.options = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]

    def __call__(self, program, *arguments):
        return subprocess.run([program, "-q", *self.options, *arguments], cwd=self.work, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "libabt" / "openmp"


def unpack(archive, patterns, to):
    to.mkdir(parents=True)
    subprocess.run(["tar", "xf", archive, "-C", to, "--strip-components=1", "--wildcards", *patterns], check=True)


def download(apt, into):
    """The package, unpacked below the directory `into`."""
    apt("apt-get", "download", GCC)
    package = next(apt.work.glob(f"{GCC}_*.deb"))
    subprocess.run(["dpkg-deb", "-x", package, apt.work / "package"], check=True)
    unpack(next((apt.work / "package").rglob("gcc-12*.tar.xz")), WANTED, into / "gcc")


def version(apt):
    return re.search(r"^Version: (?:\d+:)?(\S+)", apt("apt-cache", "show", GCC), re.M).group(1)


def newest():
    """What an earlier call has kept."""
    kept = sorted(cache().glob("*/done"), key=lambda path: path.stat().st_mtime)
    return kept[-1].parent if kept else None


def suites(again):
    """The directory that has gcc/; `again`: looks for a newer version."""
    kept = newest()
    if kept and not again:
        return kept
    missing = [tool for tool in ("apt-get", "apt-cache", "dpkg-deb", "tar", "xz") if not shutil.which(tool)]
    if missing:
        sys.exit(f"check-openmp: the suites cannot be fetched without {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as work:
        try:
            apt = Apt(pathlib.Path(work))
            apt("apt-get", "update")
            place = cache() / version(apt)
            if not (place / "done").exists():
                shutil.rmtree(place, ignore_errors=True)
                download(apt, place)
                (place / "done").touch()
        except subprocess.CalledProcessError as error:
            sys.exit(f"check-openmp: the suites cannot be fetched: {(error.stderr or str(error)).strip()}")
    return place
