# SPDX-License-Identifier: BSD-3-Clause
"""The reference as data: sections of entries, each with its contract, cost, memory order and examples."""
import os
import pathlib
import re

import contract
import errors
import header

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = [TOP / "include/abt.h.in", TOP / "include/abt_fork.h", TOP / "include/abt_fork.hpp",
           TOP / "addons/io/include/abtio.h"]
NO_ORDER = "It promises no order between threads."


def rows(file):
    return [line.rstrip("\n").split("\t") for line in file.read_text().splitlines() if line and line[0] != "#"]


def costs():
    lines = (TOP / "maint/instructions.tsv").read_text().splitlines()
    processors = next(line.split("\t")[1:] for line in lines if line.startswith("# work"))
    return processors, {row[0]: row[1:] for row in rows(TOP / "maint/instructions.tsv")}


def note(notes, name, kind):
    return next((text for pattern, what, text in notes if what == kind and re.fullmatch(pattern, name)), None)


def example_files():
    """The installed examples: those by question, and those of the reference; of each the shortest first."""
    return [file for folder in ("start", "reference")
            for file in sorted((TOP / "examples" / folder).glob("*.c*"), key=lambda file: (file.stat().st_size, file.name))]


def examples():
    """Which names stand in the code of which example, with its place below examples/; those that are called also with "("."""
    used = {}
    for file in example_files():
        code = re.sub(r'/\*.*?\*/|"[^"\n]*"', "", file.read_text(), flags=re.S)
        names = re.findall(r"\b((?:ABTX?_|abtx_|abtx::|ABTIO_|abtio_)\w+)(\(?)", code)
        used[str(file.relative_to(TOP / "examples"))] = {name + call for name, call in names} | {name for name, _ in names}
    return used


def callable_names(entry):
    """Functions, and the macros that are called like them."""
    if entry.kind in ("function", "template"):
        return entry.names
    return re.findall(rf"^# *define ({header.NAME})(?:\(| ABTX?_[a-z])", entry.code, re.M)


def examples_of(names, family, used):
    """Those that use one of the names: at most two by question, then those of the reference that show most of its family."""
    files = [file for file, words in used.items() if words & names]
    by_question = [file for file in files if file.startswith("start/")][:2]
    rest = [file for file in files if file.startswith("reference/")]
    rest.sort(key=lambda file: -sum(word.startswith(family) and word.endswith("(") for word in used[file]))
    return (by_question + rest)[:3]


def error_rows(entries):
    """The codes of each function in the order of checking, see errors.py, and what is wrong with maint/abi/callers.tsv."""
    return errors.table([entry for entry in entries if entry.kind == "function" and entry.name.startswith("ABT_")],
                        rows(TOP / "maint/abi/callers.tsv"), rows(TOP / "maint/abi/aliases.tsv"))


def code_errors(entries):
    """{function: {code: versions of the API}}."""
    found = {}
    for row in error_rows(entries)[0]:
        if row[1].startswith("ABT_ERR_"):
            found.setdefault(row[0], {}).setdefault(row[1], set()).add(row[2])
    return found


def describe(entry, notes, table, processors, counts, io_codes):
    """What the page of a function says below its description."""
    for what, usual in (("order", NO_ORDER), ("cost", ""), ("waiting", ""), ("dominant", "")):
        setattr(entry, what, note(notes, entry.name, what) or usual)
    entry.contract.waiting = [entry.waiting] if entry.waiting else entry.contract.waiting
    entry.cost = [(work, dict(zip(processors, counts[work]))) for work in entry.cost.split("; ") if work]
    entry.costs = [entry.dominant] if entry.dominant else []
    entry.errors = []
    entry.returns = entry.others = ""
    if entry.header == "abtio.h" and entry.result not in ("", "void"):
        entry.errors, entry.others = contract.io_errors(entry, io_codes), contract.others_of_io(entry)
        entry.returns = contract.returns_of_io(entry)
    if not entry.gives_code:
        return
    said = dict(reversed(entry.contract.errors))
    codes = table.get(entry.name) or {"ABT_ERR_" + code: {"both"} for code in said if code != "CALLBACK_CODE"}
    for code, versions in codes.items():
        words = contract.meaning(code[8:], said.get(code[8:], ""), entry.parameters)
        only = "" if "both" in versions or len(versions) > 1 else f" ({min(versions)} only)"
        entry.errors.append((code, words + only))


KIND_OF_CALLBACK = {"pool_user": "user-defined pools", "pool": "the older definition of pools", "unit": "pools of the older definition"}


def line_of_callback(name):
    part = re.fullmatch(r"ABT_(pool_user|pool|unit|)_?(\w+)_fn", name)
    return part and part[1] and f"Does {part[2].replace('_', ' ')} as a callback of {KIND_OF_CALLBACK[part[1]]}"


# What stands for several kinds in contract.KINDS.
OBJECTS = {"ABT_rwlock": "readers-writer lock", "ABT_pool_user_def": "definition of pools",
           "ABT_xstream_barrier": "barrier of native threads", "ABT_pool_config": "pool configuration",
           "ABT_sched_config": "scheduler configuration", "ABT_thread_attr": "attribute object of ULTs",
           "ABT_mutex_attr": "attribute object of mutexes"}


def with_article(noun):
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def object_of(kind):
    """The name of the object that a handle stands for, without an article; None for other types."""
    return OBJECTS.get(kind) or kind in contract.KINDS and contract.KINDS[kind].replace("the ", "") or None


def line_of_code(name):
    """What an error code tells."""
    code, words = name[8:], contract.meaning(name[8:], "", [])
    invalid, usual = object_of("ABT_" + code[4:].lower()), object_of("ABT_" + code.lower())
    if code.startswith("INV_") and invalid:
        return f"Tells that a handle is not that of {with_article(invalid)}"
    if words.startswith("The object cannot"):
        return f"Tells that {with_article(usual or code.replace('_', ' ').lower())} cannot do this now"
    return f"Tells that {words[0].lower()}{words[1:-1]}"


def line_of(entry, name):
    """What stands beside a name in lists."""
    if name.startswith("ABT_ERR_"):
        return line_of_code(name)
    if name.endswith("_NULL") and object_of("ABT_" + name[4:-5].lower()):
        return f"Stands for no {object_of('ABT_' + name[4:-5].lower())}"
    if entry.kind == "type" and object_of(name):
        return f"Refers to {with_article(object_of(name))}, as a handle"
    if name.endswith("_fn") and entry.kind == "type" and line_of_callback(name):
        return line_of_callback(name)
    values = dict(entry.constants)
    if name in values:
        stem = os.path.commonprefix(list(values))
        said = f": {values[name]}" if values[name] and " " in values[name] and "*" not in values[name] else ""
        return f"Stands for {name[stem.rfind('_') + 1:]} in {entry.name}{said}"
    if entry.kind == "macro" and len(entry.names) > 1:
        return f"Stands for {name.split('_', 1)[1].replace('_', ' ').lower()}"
    first = entry.summary.split(" ")[0]
    if entry.kind != "function" or first.endswith("s") and first not in ("As", "This"):
        return entry.summary
    rest = entry.summary if entry.summary[1:2].isupper() else entry.summary[:1].lower() + entry.summary[1:]
    return f"{name.split('_', 1)[1].replace('_', ' ')}: {rest}"


def words_of_comment(name, entry):
    said = [sentence for text in entry.text if "\n" not in text for sentence in contract.sentences(text)]
    return next((sentence for sentence in said if re.search(rf"(?<![\w-])\*?{re.escape(name)}\b", sentence)), None)


def words_of_handle(parameter, name):
    found = re.match(r"(?:const )?(\w+) ?(\**)", parameter)
    if not found or found[1] not in contract.KINDS:
        return None
    kind, stars = found.groups()
    what = contract.KINDS[kind]
    if stars and name.endswith(("_free", "_revive", "_revive_to")):
        return f"{what[0].upper()}{what[1:]}" + (". The null handle is stored there." if name.endswith("_free") else ".")
    return f"Gets the handle of {what}." if stars else f"{what[0].upper()}{what[1:]}."


def words_of_choice(parameter, choices):
    """The names of an enumeration, one of which a parameter is."""
    names = choices.get(parameter.split(" ")[0])
    return f"{', '.join(names[:-1])} or {names[-1]}." if names and "*" not in parameter and len(names) < 8 else None


def parameters(entry, choices):
    """[(name, words)] of a function, of those that its comment says more of than their names."""
    found = []
    for parameter in entry.parameters:
        bare = re.sub(r"\)\(.*", "", parameter)  # of a pointer to a function what stands before its parameters
        name = "..." if parameter == "..." else re.findall(r"\w+", bare)[-1]
        words = None
        if parameter != "void":  # the object of a handle, the sentence of the comment that names it, or its name says it
            words = words_of_handle(parameter, entry.name) or words_of_comment(name, entry) or words_of_choice(parameter, choices)
        if words:
            found.append((name, words))
    return found


def parse(path):
    text = re.sub(r"\"?@\w+@\"?", "...", path.read_text())  # what configure puts in
    intro, sections = ([], header.read_templates(text, "abtx")) if path.suffix == ".hpp" else header.read(text)
    if path.name != "abt.h.in":
        sections[0].text = intro + sections[0].text
    for section in sections:
        section.title = ("Input and output: " if path.name == "abtio.h" else "") + section.title
        for entry in section.entries:
            entry.header = path.name.replace(".in", "")
            entry.gives_code = entry.header == "abt.h" and entry.result == "int"
    return intro, sections


def extensions():
    """{name: type} of the exported functions that only libabt has, in the order of their names."""
    found = {}
    for header_file in HEADERS[:2]:
        text = re.sub(r"/\*.*?\*/", "", header_file.read_text(), flags=re.S)
        for result, name, parameters in re.findall(r"^(?!typedef|static)(\w[\w *]*?\**)(ABTX_\w+)\(([^;{}]*?)\)\s*ABT_API_PUBLIC[^;]*;", text, re.M):
            found[name] = f"{result.strip()} ({' '.join(parameters.split())})"
    return dict(sorted(found.items()))


def entries_of(path):
    """The functions of a header, with what their comments say."""
    known, previous = {}, None
    for section in parse(path)[1]:
        for entry in section.entries:
            if entry.kind == "function":
                previous = known[entry.name] = contract.read(entry, previous, known)
                entry.contract = previous
                yield entry


def read(headers):
    """({header: its introduction}, sections) with all that a page shows in its entries."""
    intros, sections = {}, []
    for path in headers:
        intros[path.name], found = parse(path)
        sections += found
    processors, counts = costs()
    notes, used = rows(TOP / "maint/book/notes.tsv"), examples()
    known, previous = {}, None
    for section in sections:
        last = []
        for entry in section.entries:
            if entry.kind != "function":
                entry.comment = entry.comment or last  # of a type and the constants that go with it
            last = entry.comment
            names = set(entry.names) | {name for name, _ in entry.constants}
            entry.examples = examples_of(names, "_".join(entry.name.split("_")[:2]), used)
            if entry.kind != "function":
                entry.contract = None
                entry.text = entry.comment
                entry.summary = contract.summary(entry.comment[0]) if entry.comment else ""
                continue
            is_io = entry.header == "abtio.h"
            entry.contract = contract.read_io(entry, known) if is_io else contract.read(entry, previous, known)
            previous = known[entry.name] = entry.contract
            entry.text, entry.summary = entry.contract.text, entry.contract.summary
    functions = [entry for section in sections for entry in section.entries if entry.kind == "function"]
    table, io_codes = code_errors(functions), contract.codes_of_io(intros["abtio.h"])
    for entry in functions:
        describe(entry, notes, table, processors, counts, io_codes)
    choices = {entry.name: [name for name, _ in entry.constants] for section in sections for entry in section.entries if entry.constants}
    for entry in [entry for section in sections for entry in section.entries]:
        entry.lines = {name: line_of(entry, name) for name in entry.names + [name for name, _ in entry.constants]}
        entry.summary = entry.lines[entry.name]
        entry.words = parameters(entry, choices) if entry.kind == "function" else []
    bases = {}
    for section in sections:
        for entry in section.entries:
            bases[entry.name] = entry
    for entry in [entry for section in sections for entry in section.entries]:
        if entry.header == "abt.h":
            entry.text = [contract.with_codes(text) for text in entry.text]
        if entry.contract:
            entry.contract.text, entry.contract.callers = entry.text, list(map(contract.with_codes, entry.contract.callers))
        entry.behind, at = [], entry
        while at.contract and at.contract.base:  # the whole chain: the last one stands on its own
            at = bases[at.contract.base]
            entry.behind.append(at)
    return intros, sections
