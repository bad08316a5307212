# SPDX-License-Identifier: BSD-3-Clause
"""Reads a public header: its sections, and in them what is declared, with the comment that stands before it."""
import re

NAME = r"(?:ABTX?|abtx|ABTIO|abtio)_\w+"
SECTION = re.compile(r"/\* (?:----|--) (.+?) -*-+ \*/$")
DEFINE = re.compile(rf"#\s*define ({NAME})(\([^)]*\))?[ \t]*(.*)", re.S)
FUNCTION = re.compile(rf"^(?!typedef|extern|struct)(?:static inline )?(.*?\**)\b({NAME})\((.*)\)\s*(?:ABT\w+\s*)*;$", re.S)
TEMPLATE = re.compile(r"^(?:/\*((?:[^*]|\*[^/])*)\*/\n)(template <[^\n]*>\s[^{;]*?\b(\w+)\(([^{]*)\))\n\{", re.M)
LICENCE = re.compile(r"^/\* SPDX[^\n]*\*/\n")
# What stands after declarators, and says nothing to users.
DECORATION = re.compile(r"\s*\b(ABT_API_PUBLIC|ABTIO_PUBLIC|ABTX_DIRECT|ABT_DEPRECATED)\b")
# What users do not use by name.
HIDDEN = re.compile(r"ABT(IO)?_H_INCLUDED|ABT_API_PUBLIC|ABTIO_PUBLIC|ABTX_DIRECT|ABT_DEPRECATED|ABT_FORK_HP?P?|\w+_|abtx_deque\w*|ABTX_DEQUE_BYTES|"
                    r"abtx_is_plain")


class Entry:
    """Something that has a page: a function, or macros or types that share a comment."""

    def __init__(self, kind, names, code, comment, section):
        self.kind, self.names, self.code, self.comment, self.section = kind, names, code, comment, section
        self.name = names[0]
        self.constants = []  # (name, what its comment says) of an enumeration
        self.deprecated = False
        self.header = "abt.h"
        self.result, self.parameters = "", []


class Section:
    def __init__(self, title):
        self.title, self.entries, self.text = title, [], []
        self.parts = []  # the sections below it, whose titles stand between shorter lines


class Literal(str):
    """Lines that are shown as they are."""


def is_literal(lines):
    """Lines of code, or those of a table: a term, blanks, and what it means."""
    return all(line.startswith("  ") for line in lines) or all(re.search(r"\S {3,}\S", line) for line in lines)


def words(comment):
    """The text of a comment as paragraphs. An item of a list, and a term with what it means, is one of its own."""
    lines = [re.sub(r"^\s*(/\*|\*/|\*)", "", line).replace("*/", "") for line in comment.splitlines()]
    paragraphs, now = [], []
    for line in lines + [""]:
        line = line[1:].rstrip() if line.startswith(" ") else line.rstrip()
        term = re.match(r" {2}([A-Z][a-z]+|-E[A-Z]+(?:, -E[A-Z]+)*) {2,}(\S.*)", line)
        if now and (not line or term or line.startswith("- ")):
            text = "\n".join(now)
            paragraphs.append(Literal(text) if is_literal(now) else " ".join(text.split()))
            now = []
        if term:
            line = f"{term[1]}: {term[2]}"
        if line:
            now.append(line)
    return paragraphs


def split_commas(text):
    """What is between commas outside of parentheses."""
    depth, parts, now = 0, [], ""
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(now)
            now = ""
        else:
            now += char
    return [" ".join(part.split()) for part in parts + [now] if part.strip()]


def items(code):
    """Each declaration or macro of a paragraph of code."""
    lines, found = code.splitlines(), []
    while lines:
        line = lines.pop(0)
        if line.lstrip().startswith("#"):
            while line.endswith("\\") and lines:
                line = line[:-1].rstrip() + "\n" + lines.pop(0)
            found.append(line)
            continue
        while lines and not (line.rstrip().endswith(";") and line.count("{") == line.count("}") or
                             re.search(r";\s*/\*.*\*/$", line) and line.count("{") == line.count("}")):
            line += "\n" + lines.pop(0)
        found.append(line)
    return found


def name_of(item):
    """(kind, name) of an item; None for what users do not see."""
    define = DEFINE.match(item)
    if define:
        return "macro", define[1]
    if item.startswith("typedef"):
        bare = re.sub(r"/\*.*?\*/", "", item, flags=re.S)
        pointer = re.match(rf"[^{{]*\(\*\s*({NAME})\)\s*\(", bare)
        plain = re.search(rf"({NAME})\s*;\s*$", bare)
        return "type", (pointer or plain)[1]
    if item.startswith("extern ") and item.endswith(";"):
        return "variable", re.search(rf"({NAME})\s+ABT_API_PUBLIC", item)[1]
    other = re.match(rf"(struct|enum) (?:{{ )?({NAME})(?: {{| = )", item)
    if other:
        return "type" if other[1] == "struct" else "macro", other[2]
    function = FUNCTION.match(item)
    return ("function", function[2]) if function else None


def constants(item):
    return [(match[1], (match[2] or "").strip(" ")) for match in
            re.finditer(rf"^\s*({NAME})\s*=\s*[^,/\n}}]+,?(?:\s*/\*\s*(.*?)\s*\*/)?", item, re.M)]


def paragraphs(text):
    """(comment, code) of each part between empty lines that are not in a comment or in braces."""
    part, depth, in_comment = [], 0, False
    for line in text.splitlines() + [""]:
        if not line.strip() and depth == 0 and not in_comment:
            if part:
                yield "\n".join(part)
            part = []
            continue
        part.append(line)
        bare = re.sub(r"/\*.*?\*/", "", line)
        in_comment = in_comment and "*/" not in bare or not in_comment and "/*" in bare
        if not in_comment and not line.startswith(("#", " *")) and 'extern "C"' not in line:
            depth += bare.count("{") - bare.count("}") if depth or not line.startswith("}") else 0


def flush(section, comment, group):
    """One entry for each function; one for all macros, types or variables that follow one comment."""
    rest = {}
    for kind, name, item in group:
        if kind == "function":
            match = FUNCTION.match(item)
            entry = Entry(kind, [name], item, comment, section.title)
            entry.deprecated = "ABT_DEPRECATED" in item or any(re.search(r"\bDeprecated\b", p) for p in comment)
            entry.result = " ".join(match[1].split())
            entry.parameters = split_commas(match[3])
            section.entries.append(entry)
            continue
        if name not in rest.get(kind, ([],))[0]:
            rest.setdefault(kind, ([], []))
            rest[kind][0].append(name)
        rest[kind][1].append(item)
    for kind, (names, code) in rest.items():
        entry = Entry(kind, names, "\n".join(DECORATION.sub("", item) for item in code), comment, section.title)
        for item in code:
            if item.startswith("typedef enum"):
                entry.constants += constants(item)
        section.entries.append(entry)


def without_bodies(text):
    """A header whose macros and inline functions have bodies, as one that only declares them."""
    text = text[:text.find("/* ---- The rest is how it is done")]
    text = re.sub(rf"^(#define {NAME}\([^)]*\))(?:[^\n]*\\\n)*[^\n]*", r"\1", text, flags=re.M)
    text = re.sub(r"^(#define [^\n]*)\n\n(?=#define)", r"\1\n", text, flags=re.M)
    return re.sub(r"^(static inline [^;{]*\))\n\{.*?^\}", r"\1;", text, flags=re.M | re.S)


def read_templates(text, namespace):
    """Those of a header of C++, which has one section: all that stands in the namespace, and not in one below it."""
    text = re.sub(r"^namespace detail\n\{.*?^\} // namespace detail", "", text, flags=re.M | re.S)
    said = words(re.match(r"/\*.*?\*/", LICENCE.sub("", text), re.S)[0])
    section = Section("Fork and join for C++17")
    section.text = said
    for match in TEMPLATE.finditer(text):
        entry = Entry("template", [f"{namespace}::{match[3]}"], match[2] + ";", words("/*" + match[1]), section.title)
        section.entries.append(entry)
    return [section]


def read(text):
    """The sections of a header, and the text that explains how to read it."""
    sections, intro, above = [], [], None
    text = LICENCE.sub("", text)
    if "static inline" in text:
        text = without_bodies(text)
    for part in paragraphs(text):
        match = re.match(r"\s*(/\*.*?\*/)\s*\n?(.*)", part, re.S)
        comment, code = (match[1], match[2]) if match and part.startswith("/*") else ("", part)
        title = SECTION.match(comment.replace("\n", " "))
        if title and not code:
            sections.append(Section(title[1]))
            if comment.startswith("/* ----"):
                above = sections[-1]
            elif above:
                above.parts.append(sections[-1])
            continue
        if not sections:
            intro += words(comment)
            continue
        # A comment in the middle of a paragraph, or two in a row, belongs to what follows it.
        group, said = [], words(comment)
        if not code.strip():
            sections[-1].text += said
            continue
        for item in items(code):
            if item.startswith("/*"):
                found = re.match(r"(/\*.*?\*/)\s*(.*)", item, re.S)
                flush(sections[-1], said, group)
                group, said, item = [], words(found[1]), found[2]
            what = name_of(item)
            if what and not HIDDEN.fullmatch(what[1]):
                group.append((*what, item))
        flush(sections[-1], said, group)
    return intro, [section for section in sections if section.entries or section.text]
