"""Reads a public header: its sections, and in them what is declared, with the comment that stands before it."""
import re

SECTION = re.compile(r"/\* (?:----|--) (.+?) -*-+ \*/$")
DEFINE = re.compile(r"#\s*define (ABTX?_\w+)(\([^)]*\))?[ \t]*(.*)", re.S)
FUNCTION = re.compile(r"^(?!typedef|extern|struct)(.*?\**)\b(ABTX?_\w+)\((.*)\)\s*(?:ABT\w+\s*)+;$", re.S)
# What stands after declarators, and says nothing to users.
DECORATION = re.compile(r"\s*\b(ABT_API_PUBLIC|ABTX_DIRECT|ABT_DEPRECATED)\b")


class Entry:
    """Something that has a page: a function, or macros or types that share a comment."""

    def __init__(self, kind, names, code, comment, section):
        self.kind, self.names, self.code, self.comment, self.section = kind, names, code, comment, section
        self.name = names[0]
        self.constants = []  # (name, what its comment says) of an enumeration
        self.deprecated = False
        self.result, self.parameters = "", []


class Section:
    def __init__(self, title):
        self.title, self.entries, self.text = title, [], []


def words(comment):
    """The text of a comment as paragraphs, those of indented lines as they are."""
    lines = [re.sub(r"^\s*(/\*|\*/|\*)", "", line).replace("*/", "") for line in comment.splitlines()]
    paragraphs, now = [], []
    for line in lines + [""]:
        line = line[1:].rstrip() if line.startswith(" ") else line.rstrip()
        if line:
            now.append(line)
        elif now:
            paragraphs.append(" ".join(part.strip() for part in now))
            now = []
    return paragraphs


def split_parameters(text):
    depth, parts, now = 0, [], ""
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(now)
            now = ""
        else:
            now += char
    return [" ".join(part.split()) for part in parts + [now]]


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
        if not line.strip():
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
        return ("macro", define[1]) if define[1] not in ("ABT_H_INCLUDED", "ABT_API_PUBLIC", "ABTX_DIRECT",
                                                         "ABT_DEPRECATED") else None
    if item.startswith("typedef"):
        pointer = re.search(r"\(\*\s*(ABTX?_\w+)\)\s*\(", item)
        plain = re.search(r"(ABTX?_\w+)\s*;", item)
        return "type", (pointer or plain)[1]
    if item.startswith("extern ") and item.endswith(";"):
        return "variable", re.search(r"(ABTX?_\w+)\s+ABT_API_PUBLIC", item)[1]
    function = FUNCTION.match(item)
    return ("function", function[2]) if function else None


def constants(item):
    return [(match[1], (match[2] or "").strip(" ")) for match in
            re.finditer(r"^\s*(ABTX?_\w+)\s*=\s*[^,/\n}]+,?(?:\s*/\*\s*(.*?)\s*\*/)?", item, re.M)] or \
           [(name, "") for name in re.findall(r"(ABTX?_\w+) = \d+", item)]


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
            entry.parameters = split_parameters(match[3])
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


def read(text):
    """The sections of a header, and the text that explains how to read it."""
    sections, intro = [], []
    for part in paragraphs(text):
        match = re.match(r"\s*(/\*.*?\*/)\s*\n?(.*)", part, re.S)
        comment, code = (match[1], match[2]) if match and part.startswith("/*") else ("", part)
        title = SECTION.match(comment.replace("\n", " "))
        if title and not code:
            sections.append(Section(title[1]))
            continue
        if not sections:
            intro += words(comment) if "How to read" in comment else []
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
            if what:
                group.append((*what, item))
        flush(sections[-1], said, group)
    return intro, [section for section in sections if section.entries or section.text]
