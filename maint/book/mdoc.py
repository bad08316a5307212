# SPDX-License-Identifier: BSD-3-Clause
"""Writes an entry as a manual page."""
import re
import textwrap

import book
import header


def escape(text):
    text = text.replace("\\", "\\e")
    return "\\&" + text if text[:1] in ".'" else text


def fill(text):
    """Running text: each sentence on a line of its own, as mandoc wants it."""
    text = text.replace("`", "")
    text = re.sub(r"(?<=[a-z)0-9A-Z'])([.]) (?=[A-Z(])", r"\1\n", text)
    text = re.sub(r"\b((?:[a-z]\w*|ABTX?_\w+)\(\))([.,:;]?)[ \n]?", lambda m: f"\n.Fn {m[1][:-2]} {m[2]}".rstrip() + "\n", text)
    lines = [part for line in text.splitlines() for part in textwrap.wrap(line, 78, break_on_hyphens=False,
                                                                          break_long_words=False)]
    return "\n".join(line if line.startswith(".Fn ") else escape(line) for line in lines)


def literal(text):
    return [".Bd -literal"] + [escape(line.rstrip()) for line in text.splitlines()] + [".Ed"]


def paragraph(text):
    return literal(text) if isinstance(text, header.Literal) else [fill(text)]


def synopsis(entry):
    if entry.kind != "function":
        return [f".In {entry.header}"] + literal(entry.code)
    lines = [f".In {entry.header}", f".Ft {entry.result}", f".Fo {entry.name}"]
    lines += [f'.Fa "{parameter}"' for parameter in entry.parameters]
    return lines + [".Fc"]


def see_also(entry, sections):
    names = [base.name for base in entry.behind]
    if entry.header == "abt.h":
        near = next(s.entries for s in sections if entry in s.entries)
    else:
        near = [e for s in sections for e in s.entries if e.header == entry.header]
    at = near.index(entry)
    names += [e.name for e in near[max(0, at - 3):at + 4] if e is not entry]
    if any(parameter.startswith("abtio_deadline ") for parameter in entry.parameters):
        names = ["abtio_deadline", "abtio_after"] + names[:6]
    types = [parameter.split(" ")[0] for parameter in entry.parameters]
    chosen = [e.name for s in sections for e in s.entries if e.constants and e.name in types]
    names = sorted(set(chosen + [name for name in names if name not in chosen][:8 - len(chosen)]), key=str.lower)
    return [f".Xr {name} 3" + (" ," if name != names[-1] else "") for name in names]


def examples(entry, lines):
    if entry.examples:
        lines += [".Sh EXAMPLES", "These programs, installed with the documentation of libabt, use it:"]
        lines += [f".Pa examples/{name}" + (" ," if name != entry.examples[-1] else " .") for name in entry.examples]


def function(entry, lines):
    for base in entry.behind:
        lines += [".Pp", "Of", f".Fn {base.name} :"]
        for text in base.text:
            lines += [fill(text), ".Pp"]
        lines.pop()
    lines += parameters(entry) + [".Ss Callers"] + [fill(text) for text in entry.contract.callers]
    if entry.contract.waiting:
        lines += [".Ss Waiting"] + [fill(text) for text in entry.contract.waiting]
    lines += [".Ss Memory order", fill(entry.order)] + [".Ss Cost"] * bool(entry.costs) + [fill(text) for text in entry.costs]
    if entry.cost:
        lines += [".Pp", "Instructions of one operation in a release build:", ".Bl -column -offset indent "
                  '"create+join+free, not migratable" "x86_64" "aarch64"', ".It operation Ta x86_64 Ta aarch64"]
        lines += [f".It {work} Ta {counts['x86_64']} Ta {counts['aarch64']}" for work, counts in entry.cost] + [".El"]
    if entry.gives_code:
        lines += [".Sh RETURN VALUES", ".Dv ABT_SUCCESS ,", "or an error code."]
    elif entry.returns:
        lines += [".Sh RETURN VALUES", fill(entry.returns)]
    examples(entry, lines)
    if entry.errors:
        lines += [".Sh ERRORS"] + [fill(f"Those of {entry.others}, and:")] * bool(entry.others) + [".Bl -tag -width Er"]
        for code, words in entry.errors:
            lines += [f".It Bq Er {code}", fill(words)]
        lines.append(".El")


def parameters(entry):
    if not entry.words:
        return []
    lines = [".Ss Parameters", ".Bl -tag -width indent"]
    for name, words in entry.words:
        lines += [f".It Fa {name}", fill(words)]
    return lines + [".El"]


def head(name, number, line, date, version):
    """LOCAL: man-db takes what says nothing for a page of BSD's library."""
    return [f".Dd {date}", f".Dt {name.upper()} {number} LOCAL", f".Os libabt {version}", ".Sh NAME", f".Nm {name}",
            f".Nd {escape(line)}"]


def page(entry, name, sections, date, version):
    """The page of one of the names of an entry. Those of one entry differ by their NAME only."""
    lines = head(name, 3, entry.lines[name], date, version)
    lines += [".Sh SYNOPSIS"] + synopsis(entry)
    lines += [".Sh DESCRIPTION"]
    for text in entry.text or ["It lets the scheduler run another work unit."]:
        if isinstance(text, header.Literal) and lines[-1] == ".Pp":
            lines.pop()
        lines += paragraph(text) + [".Pp"]
    lines.pop()
    if entry.kind == "function":
        function(entry, lines)
    else:
        examples(entry, lines)
    lines += [".Sh SEE ALSO"] + see_also(entry, sections)
    return "\n".join(lines) + "\n"


def write(sections, directory, date, version):
    directory /= "man3"
    directory.mkdir(parents=True, exist_ok=True)
    for section in sections:
        for entry in section.entries:
            for name in entry.lines:
                file = directory / f"{name}.3"
                file.unlink(missing_ok=True)
                file.write_text(page(entry, name, sections, date, version))


def of_readme():
    """What libabt is, as the README says it, without its links."""
    text = (book.TOP / "README.md").read_text().split("# libabt\n\n")[1].split("\n## ")[0]
    text = re.sub(r"\*\*|`", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text))
    return [" ".join(part.split()) for part in re.split(r"\n\n(?:- )?|\n- ", text)]


OVERVIEWS = (("libabt", "lightweight threads for people who write runtimes", None, ("abt-info 1", "abt-run 1", "abt-top 1", "abt 7", "abtio 7")),
             ("abt", "how to read the pages of abt.h, and what it has", "abt.h.in", ("abtio 7", "libabt 7")),
             ("abtio", "input and output that suspends a work unit", "abtio.h", ("abtio_init 3", "abt 7", "libabt 7")))


def write_overviews(intros, sections, directory, date, version):
    """The pages of section 7: what libabt is, and of each header its rules and its functions by purpose."""
    directory /= "man7"
    directory.mkdir(parents=True, exist_ok=True)
    for name, line, file, see in OVERVIEWS:
        lines = head(name, 7, line, date, version) + [".Sh DESCRIPTION"]
        for text in intros[file] if file else of_readme():
            lines += paragraph(text) + [".Pp"]
        lines.pop()
        for section in sections if file else []:
            names = [entry.name for entry in section.entries if entry.header == file.removesuffix(".in")]
            if names:
                lines += [f".Ss {section.title}"] + [f".Xr {one} 3" + (" ," if one != names[-1] else "") for one in names]
        if not file:
            lines += [".Sh FILES", "The guide, the examples and a site with a search are in", ".Pa share/doc/libabt",
                      "below the place of installation."]
        lines += [".Sh SEE ALSO"] + [f".Xr {one}" + (" ," if one != see[-1] else "") for one in see]
        (directory / f"{name}.7").write_text("\n".join(lines) + "\n")
