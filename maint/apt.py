# SPDX-License-Identifier: BSD-3-Clause
"""apt-get with lists and caches of its own: suites of tests are fetched from Debian without root and without installing."""
import os
import pathlib


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
