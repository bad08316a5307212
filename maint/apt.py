# SPDX-License-Identifier: BSD-3-Clause
"""Suites of tests from Debian's packages, without root and without installing: by apt-get with lists and caches of its own.
Only what is asked for is unpacked, and kept in ~/.cache/libabt."""
import os
import pathlib
import shutil
import subprocess
import tempfile

BOOKWORM = {"debian.list": "".join(f"{kind} http://deb.debian.org/debian bookworm main\n" for kind in ("deb", "deb-src"))}


class Missing(SystemExit):
    """Why a suite is not there: who does not catch it ends with that."""


def call(*command, **more):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def unpack(archive, patterns, to):
    to.mkdir(parents=True)
    call("tar", "xf", archive, "-C", to, "--strip-components=1", "--wildcards", *patterns)


def apt_get(folder, lists):
    """The words of the command; lists: {name of a list of sources: its text}."""
    parts = folder / "parts"
    for each in (parts, folder / "state" / "lists" / "partial", folder / "cache" / "archives" / "partial"):
        each.mkdir(parents=True)
    for name, text in lists.items():
        (parts / name).write_text(text)
    options = {"Dir::Etc::SourceParts": parts, "Dir::Etc::SourceList": "/dev/null", "Dir::State": folder / "state",
               "Dir::Cache": folder / "cache", "Dir::State::status": "/var/lib/dpkg/status", "Debug::NoLocking": 1,
               "APT::Sandbox::User": "root" if os.getuid() == 0 else ""}
    return ["apt-get", "-qq", *(word for key, value in options.items() for word in ("-o", f"{key}={value}"))]


def cache(name):
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "libabt" / name


def suite(name, load, lists=None):
    """The directory that load(get, work, place) has filled: `get` is apt-get, whose files are in `work`."""
    place = cache(name)
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        with tempfile.TemporaryDirectory() as work:
            try:
                get = apt_get(pathlib.Path(work), lists or BOOKWORM)
                call(*get, "update")
                load(get, pathlib.Path(work), place)
            except (OSError, subprocess.CalledProcessError, StopIteration) as error:
                raise Missing(f"{name} cannot be fetched: {getattr(error, 'stderr', '') or error}") from error
        (place / "done").touch()
    return place
