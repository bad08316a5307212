#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""doc/mpi.md lists what libabtmpi does with each function of MPI: the lists are those of addons/mpi/functions.tsv.

    maint/mpi/page.py             says whether they are
    maint/mpi/page.py --update    writes them
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = TOP / "doc" / "mpi.md"
BEGIN, END = "<!-- maint/mpi/page.py writes this -->", "<!-- end of what it writes -->"
HEADINGS = {"twin": "the nonblocking form, and the ULT is suspended until it is done",
            "parts": "nonblocking sends and receives, likewise",
            "wait": "the ULT is suspended until its requests are done",
            "ask": "the ULT is suspended; the question is repeated until the answer is yes",
            "region": "a native thread of its own, while the stream goes on",
            "brief": "the call itself; if it waits for 5 microseconds, the ULT leaves the stream with its native thread",
            "turn": "the call itself; a ULT that misses often lets others run",
            "persistent": "the call itself; from then on requests may be inactive in `MPI_Waitall`",
            "handler": "the call itself; from then on ULTs complete their requests themselves"}
SKIPPED = ("own", "hidden", "through")


def short(names):
    """The names without those of large counts, by their beginnings."""
    names = [name for name in names if not (name.endswith("_c") and name[:-2] in names)]
    groups = {}
    for name in names:
        prefix = re.match(r"MPIX?_(?:(?:Comm|File|Win|Session)_)?", name).group(0)
        groups.setdefault(prefix, []).append(name[len(prefix):])
    return "; ".join(f"`{prefix}`: " + ", ".join(f"`{rest}`" for rest in sorted(rests))
                     for prefix, rests in sorted(groups.items()))


def table():
    rows = [line.split("\t") for line in (TOP / "addons" / "mpi" / "functions.tsv").read_text().splitlines()
            if line and not line.startswith("#")]
    lines = ["| what is done | for these functions |", "|---|---|"]
    for what, heading in HEADINGS.items():
        lines.append(f"| {heading} | {short([row[0] for row in rows if row[2] == what])} |")
    unknown = {row[2] for row in rows} - set(HEADINGS) - set(SKIPPED)
    if unknown:
        sys.exit(f"page.py: functions.tsv has {', '.join(sorted(unknown))}, which is not known here")
    through = sum(row[2] in ("hidden", "through") for row in rows)
    lines.append(f"| nothing: the call itself | the other {through}, which do not wait |")
    return "\n".join(lines)


def main():
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    new = f"{head}{BEGIN}\n\n{table()}\n\n{END}{tail}"
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(new)
    elif new != text:
        sys.exit("page.py: doc/mpi.md is not as addons/mpi/functions.tsv has it: maint/mpi/page.py --update")


if __name__ == "__main__":
    main()
