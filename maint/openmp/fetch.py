# SPDX-License-Identifier: BSD-3-Clause
"""Fetches libgomp's suite of tests from Debian's gcc-12-source. Only the tests are unpacked and kept, by version."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from apt import apt_get, cache

LIST = "deb http://deb.debian.org/debian bookworm main\n"
GCC = "gcc-12-source"
# Some tests declare what they call by these two headers.
WANTED = ("*/libgomp/testsuite/lib*", "*/libgomp/libgomp_g.h", "*/include/gomp-constants.h")


def call(*command, **more):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def fetch(work):
    get = apt_get(work, {"debian.list": LIST})
    call(*get, "update")
    call(*get, "download", GCC, cwd=work)
    package = next(work.glob(f"{GCC}_*.deb"))
    call("dpkg-deb", "-x", package, work / "package")
    place = cache("openmp") / package.name.split("_")[1]
    shutil.rmtree(place, ignore_errors=True)
    (place / "gcc").mkdir(parents=True)
    archive = next((work / "package").rglob("gcc-12*.tar.xz"))
    call("tar", "xf", archive, "-C", place / "gcc", "--strip-components=1", "--wildcards", *WANTED)
    (place / "done").touch()


def suites():
    """The directory that has gcc/."""
    if not list(cache("openmp").glob("*/done")):
        with tempfile.TemporaryDirectory() as work:
            try:
                fetch(pathlib.Path(work))
            except (OSError, subprocess.CalledProcessError) as error:
                sys.exit(f"check-openmp: the suites cannot be fetched: {getattr(error, 'stderr', '') or error}")
    return next(cache("openmp").glob("*/done")).parent
