"""The reference as data: sections of entries, each with its contract, cost, memory order and examples."""
import pathlib
import re

import contract
import header

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
NOT_COUNTED = "No count of instructions is kept for it."
NO_ORDER = "It promises no order between threads."


def rows(file):
    return [line.rstrip("\n").split("\t") for line in file.read_text().splitlines() if line and line[0] != "#"]


def costs():
    lines = (TOP / "maint/instructions.tsv").read_text().splitlines()
    processors = next(line.split("\t")[1:] for line in lines if line.startswith("# work"))
    return processors, {row[0]: row[1:] for row in rows(TOP / "maint/instructions.tsv")}


def note(notes, name, kind):
    return next((text for pattern, what, text in notes if what == kind and re.fullmatch(pattern, name)), None)


def examples():
    return {file.name: set(re.findall(r"\bABTX?_\w+", file.read_text()))
            for file in sorted((TOP / "examples/start").glob("*.c"), key=lambda f: f.stat().st_size)}


def code_errors():
    """The codes of each function, in the order of checking, from the table that the tests of errors use."""
    found = {}
    for row in rows(TOP / "maint/abi/errors.tsv"):
        if row[1].startswith("ABT_ERR_"):
            found.setdefault(row[0], {}).setdefault(row[1], set()).add(row[2])
    return found


def read(headers):
    """(introduction, sections) with all that a page shows in its entries."""
    intro, sections = [], []
    for path in headers:
        more, found = header.read(pathlib.Path(path).read_text())
        intro, sections = intro or more, sections + found
    processors, counts = costs()
    notes, used, table = rows(TOP / "maint/book/notes.tsv"), examples(), code_errors()
    known, previous = {}, None
    for section in sections:
        last = []
        for entry in section.entries:
            entry.comment = entry.comment or last  # of a type and the constants that go with it
            last = entry.comment
            names = set(entry.names) | {name for name, _ in entry.constants}
            entry.examples = [file for file, words in used.items() if words & names][:3]
            if entry.kind != "function":
                entry.contract = None
                entry.text = entry.comment
                entry.summary = contract.summary(entry.comment[0]) if entry.comment else ""
                continue
            entry.contract = previous = known[entry.name] = contract.read(entry, previous, known)
            entry.text, entry.summary = entry.contract.text, entry.contract.summary
            entry.order = note(notes, entry.name, "order") or NO_ORDER
            works = note(notes, entry.name, "cost")
            entry.cost = [(work, dict(zip(processors, counts[work]))) for work in works.split("; ")] if works else []
            said = dict(reversed(entry.contract.errors))
            codes = table.get(entry.name) or {"ABT_ERR_" + code: {"both"} for code, _ in entry.contract.errors}
            entry.errors = []
            for code, versions in codes.items():
                words = contract.meaning(code[8:], said.get(code[8:], ""))
                only = "" if "both" in versions or len(versions) > 1 else f" ({min(versions)} only)"
                entry.errors.append((code, words + only))
    bases = {}
    for section in sections:
        for entry in section.entries:
            bases[entry.name] = entry
    for entry in bases.values():
        entry.behind, at = [], entry
        while at.contract and at.contract.base:  # the whole chain: the last one stands on its own
            at = bases[at.contract.base]
            entry.behind.append(at)
    return intro, sections
