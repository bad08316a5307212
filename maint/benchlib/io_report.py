# SPDX-License-Identifier: BSD-3-Clause
"""The tables of maint/bench --io."""

from statistics import median

from . import programs, report

class Table:
    """The figures of a run, by section, work and who."""

    def __init__(self, data):
        self.rows = {(r["section"], r["work"], r["who"]): r["rounds"] for r in data["results"]}

    def works(self, section):
        return list(dict.fromkeys(work for s, work, _ in self.rows if s == section))

    def who(self, section, work):
        return [who for s, w, who in self.rows if (s, w) == (section, work)]

    def all(self, section, work, who, key):
        return [figures[key] for figures in self.rows.get((section, work, who), [])]

    def median(self, section, work, who, key):
        return median(self.all(section, work, who, key))

    def compare(self, section, work, this, that, key, how=lambda a, b: a / b):
        """The median over the rounds, or nothing."""
        pairs = list(zip(self.all(section, work, this, key), self.all(section, work, that, key)))
        return median(how(a, b) for a, b in pairs) if pairs else None


# ---- Tables ------------------------------------------------------------------------------------------------------


def echo_table(table):
    rows = []
    for work in table.works("echo"):
        for who in sorted(table.who("echo", work), key=lambda who: -table.median("echo", work, who, "rate")):
            rates = table.all("echo", work, who, "rate")
            ratio = table.compare("echo", work, who, "Go", "rate")
            rows.append([work, who, *(f"{each:,.0f}" for each in (median(rates), min(rates), max(rates))),
                         *(f"{table.median('echo', work, who, key):.0f} us" for key in ("p50_us", "p99_us")),
                         f"{ratio:.2f}" if ratio else ""])
    return report.markdown(["connections", "server", "echoes per second", "low", "high", "half within", "99 % within", "times Go"],
                           rows, 2)


def ring_table(table):
    rows = []
    for work in table.works("ring"):
        kind, depth = work.split()
        if {"libabtio", "plain"} <= set(table.who("ring", work)):
            rows.append(["read of /dev/null" if kind == "nop" else "4 KiB of a disk", depth,
                         *(f"{table.median('ring', work, who, key):,.0f} ns" for key in ("ns", "cpu_ns") for who in ("libabtio", "plain"))])
    return report.markdown(["operation", "under way", "libabtio", "plain ring", "libabtio's CPU", "plain ring's CPU"], rows)


def idle_table(table):
    return report.markdown(["connections", "server", "CPU", "memory of each"], [
        [work, who, f"{table.median('idle', work, who, 'cpu_percent'):.2f} %", f"{table.median('idle', work, who, 'bytes_each'):,.0f} B"]
        for work in table.works("idle") for who in table.who("idle", work)], 2)


WAYS = {"io_uring": "ULTs, io_uring", "threads": "ULTs, threads", "pthreads": "pthreads"}


def files_table(table):
    rows = []
    for cores in table.works("files"):
        for who in table.who("files", cores):
            wall, cpu = table.all("files", cores, who, "wall"), zip(*(table.all("files", cores, who, key) for key in ("user", "system")))
            rows.append([cores, WAYS[who], *(f"{each:.2f} s" for each in (median(wall), min(wall), max(wall), median(map(sum, cpu)))),
                         f"{table.median('files', cores, who, 'mib_per_second'):,.0f}"])
    return report.markdown(["cores", "writers", "time", "low", "high", "CPU time", "MiB/s"], rows, 2)


def text(data):
    table, about = Table(data), data["machine"]
    lines = [f"By `maint/bench --io`, on {report.describe(about)}, {about['date']}. Figures are medians of interleaved "
             "rounds."]
    for section, title, make in (("echo", "Echo of 64 bytes on loopback, the server on one core", echo_table),
                                 ("ring", "Operations of one ring", ring_table),
                                 ("idle", "Idle connections", idle_table),
                                 ("files", f"{data['files']} files of 1 MiB: open, write past the page cache, close; "
                                  f"{data['writers']} writers", files_table)):
        if table.works(section):
            rounds = max(len(r["rounds"]) for r in data["results"] if r["section"] == section)
            lines += ["", f"**{title}** ({rounds} round{'s' if rounds > 1 else ''})", "", make(table).rstrip()]
    lines += [f"\nNot measured: {name}: {why}" for name, why in data["missing"]]
    lines += [f"\nFailed: {line}" for line in data["failed"]]
    return "\n".join(lines) + "\n"


# ---- Ends --------------------------------------------------------------------------------------------------------


def merged(paths):
    """One result of several, all of the same machine."""
    whole = None
    for path in paths:
        data = report.kept(path)
        if not whole:
            whole = data
            continue
        whole["results"] += data["results"]
        whole["failed"] += data["failed"]
        whole.update(files=max(whole["files"], data["files"]))
    return whole


def finish(data, directory, is_published):
    print(text(data))
    report.keep(data, text(data), directory)
    if is_published:
        report.put_between(programs.TOP / "doc" / "io.md", text(data), "--io")
