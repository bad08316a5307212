# SPDX-License-Identifier: BSD-3-Clause
"""Fetches suites of tests from Debian's packages. Only the tests are unpacked and kept."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from apt import apt_get, cache

LIST = "".join(f"{kind} http://deb.debian.org/debian bookworm main\n" for kind in ("deb", "deb-src"))
GCC = "gcc-12-source"
# Some tests declare what they call by these two headers.
WANTED = ("*/libgomp/testsuite/lib*", "*/libgomp/libgomp_g.h", "*/include/gomp-constants.h")


def call(*command, **more):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def unpack(archive, patterns, to):
    to.mkdir(parents=True)
    call("tar", "xf", archive, "-C", to, "--strip-components=1", "--wildcards", *patterns)


def suite(name, load):
    """The directory that load(get, work, place) has filled: `get` is apt-get, whose files are in `work`."""
    place = cache("openmp") / name
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        with tempfile.TemporaryDirectory() as work:
            try:
                get = apt_get(pathlib.Path(work), {"debian.list": LIST})
                call(*get, "update")
                load(get, pathlib.Path(work), place)
            except (OSError, subprocess.CalledProcessError) as error:
                sys.exit(f"check-openmp: the suites cannot be fetched: {getattr(error, 'stderr', '') or error}")
        (place / "done").touch()
    return place


def load_gcc(get, work, place):
    call(*get, "download", GCC, cwd=work)
    call("dpkg-deb", "-x", next(work.glob(f"{GCC}_*.deb")), work / "package")
    unpack(next((work / "package").rglob("gcc-12*.tar.xz")), WANTED, place / "gcc")


def libgomp():
    """The directory that has gcc/."""
    return suite(GCC, load_gcc)
