# SPDX-License-Identifier: BSD-3-Clause
"""Writes the reference and the pages of doc/ as one site of HTML, with a search that needs no server."""
import html
import os
import pathlib
import re
import shutil

import book
import charts
import header
import markdown
import search

STYLE = """:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#222;display:flex;min-height:100vh}
main{flex:1;min-width:0;max-width:56em;padding:1em 2em}#side{flex:0 0 15em;padding:1em;font-size:.9em;background:#f4f4f4;
max-height:100vh;overflow:auto;position:sticky;top:0;box-sizing:border-box}#side:empty{display:none}#side a{display:block;padding:.1em 0 .1em 1em;
overflow-wrap:anywhere}#side .here{font-weight:bold}summary{cursor:pointer;font-weight:bold;padding:.3em 0}
pre,code{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#f4f4f4;padding:.7em;overflow:auto}
table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.2em .5em;text-align:left;vertical-align:top}
h3{border-top:1px solid #ccc;padding-top:.7em}#found{list-style:none;padding:0}nav{margin-bottom:1em}img{max-width:100%}
nav input{width:24em;max-width:60%;font:inherit}.names{columns:3 14em;padding-left:1em}code a{text-decoration:none}
.turn{display:flex;justify-content:space-between;border-top:1px solid #ccc;margin-top:2em;padding-top:.5em}
@media(max-width:50em){body{display:block}#side{position:static;max-height:none}main{padding:1em}
table{display:block;overflow-x:auto}main{overflow-wrap:anywhere}td code,th{overflow-wrap:normal}}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre,#side{background:#262626}a{color:#8bf}
img{filter:invert(.9) hue-rotate(180deg)}}"""
FOR_USERS = ("doc/debugging.md", "doc/tracing.md", "doc/performance.md", "doc/fork-join.md", "doc/io.md", "doc/glt.md",
             "doc/mpi.md", "doc/openmp.md")


def file_of(section):
    return "ref-" + re.sub(r"[^a-z0-9]+", "-", re.split(r"[:,(]", section)[0].strip().lower()).strip("-") + ".html"


def short_title(section):
    """Without the page of doc/ that it points to."""
    return re.split(": doc/", section.title)[0]


def page(title, body, root=""):
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(title)}</title><link rel="stylesheet" href="{root}style.css"></head><body><aside id="side"></aside><main>
<nav><a href="{root}index.html">libabt</a> <a href="{root}names.html">all names</a>
<input id="search" type="search" placeholder="Search: press /" aria-label="Search" autocomplete="off"></nav><ul id="found"></ul>
{body}
</main><script>const ROOT="{root}"</script><script src="{root}index.js"></script></body></html>
"""


def linked(text, places, own=()):
    return re.sub(rf"\b(?:abtx::\w+|{header.NAME})", lambda m: f'<a href="{places[m[0]]}">{m[0]}</a>'
                  if m[0] in places and m[0] not in own else m[0], html.escape(text, quote=False))


def paragraph(text, places, own=()):
    if isinstance(text, header.Literal):
        return f"<pre><code>{linked(text, places, own)}</code></pre>"
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", linked(text, places, own))
    return f"<p>{text}</p>"


def function(entry, places):
    out = []
    for base in entry.behind:
        out += [f"<p>Of {linked(base.name, places)}: {linked(text, places)}</p>" for text in base.text]
    if entry.words:
        out += ["<p><strong>Parameters</strong></p><table>"]
        out += [f"<tr><td><code>{name}</code></td><td>{linked(words, places)}</td></tr>" for name, words in entry.words] + ["</table>"]
    rows = [("Callers", " ".join(entry.contract.callers)), ("Waiting", " ".join(entry.contract.waiting)),
            ("Memory order", entry.order), ("Cost", " ".join(entry.costs))]
    out += [f"<p><strong>{what}.</strong> {linked(text, places)}</p>" for what, text in rows if text]
    if entry.cost:
        out.append("<p>Instructions of one operation in a release build:</p><table>")
        out.append("<tr><th>operation</th>" + "".join(f"<th>{cpu}</th>" for cpu in entry.cost[0][1]) + "</tr>")
        out += [f"<tr><td>{html.escape(work)}</td>" + "".join(f"<td>{n}</td>" for n in counts.values()) + "</tr>"
                for work, counts in entry.cost] + ["</table>"]
    if entry.returns:
        out.append(f"<p><strong>Returns.</strong> {entry.returns}</p>")
    if entry.errors:
        others = f": those of {linked(entry.others, places)}, and" * bool(entry.others)
        out.append(f"<p><strong>Errors</strong>{others}</p><table>")
        out += [f"<tr><td>{linked(code, places)}</td><td>{linked(text, places)}</td></tr>" for code, text in entry.errors]
        out.append("</table>")
    return out


def entry_html(entry, places):
    ids = "".join(f'<a id="{name}"></a>' for name in entry.names[1:] + [name for name, _ in entry.constants])
    code = header.DECORATION.sub("", entry.code)
    title = entry.name if len(entry.names) == 1 else f"{entry.name} …"
    out = [f'<h3 id="{entry.name}">{title}{ids}</h3>', f"<pre><code>{linked(code, places, entry.names)}</code></pre>"]
    out += [paragraph(text, places, [entry.name]) for text in entry.text]
    if entry.kind == "function":
        out += function(entry, places)
    if entry.examples:
        links = ", ".join(f'<a href="examples/{name}.html">{name}</a>' for name in entry.examples)
        out.append(f"<p><strong>Examples</strong>: {links}</p>")
    return out


def link_code(text, places, root):
    """Names of the interface and of examples in running text become links."""
    def target(match):
        name = re.match(rf"{header.NAME}", match[1])
        if name and name[0] in places:
            return f'<code><a href="{root}{places[name[0]]}">{match[1]}</a></code>'
        example = re.fullmatch(r"examples/((?:start|reference|io)/\w+\.c\w*)", match[1])
        return f'<code><a href="{root}examples/{example[1]}.html">{match[1]}</a></code>' if example else match[0]

    return re.sub(r"(?<!<pre>)(?<!\">)<code>([^<\n]+)</code>", target, text)


def guide_rows():
    """(title, source, text) of the pages of the guide, in its own order."""
    rows = re.findall(r"^\| \[(.*?)\]\((.*?)\) \| (.*?) \|$", (book.TOP / "doc/guide/README.md").read_text(), re.M)
    return [(title, os.path.normpath("doc/guide/" + file), text) for title, file, text in rows]


def place_of(source):
    return str(source.with_suffix(".html").parent / source.with_suffix(".html").name.lower())


def turns(before, after, root):
    """Links to the pages before and after this one, (title, place) or None."""
    left = f'<a href="{root}{before[1]}">← {html.escape(before[0])}</a>' if before else ""
    right = f'<a href="{root}{after[1]}">{html.escape(after[0])} →</a>' if after else ""
    return f'<div class="turn"><span>{left}</span><span>{right}</span></div>' if before or after else ""


def beside(ordered, place):
    """What stands before and after the page of that place in a list of (title, place)."""
    at = next((number for number, one in enumerate(ordered) if one[1] == place), None)
    if at is None:
        return None, None
    return ordered[at - 1] if at else None, ordered[at + 1] if at + 1 < len(ordered) else None


def write_text(directory, file, ordered, places, index):
    """One page of Markdown. Returns its title and its place."""
    source = file.relative_to(book.TOP)
    place = place_of(source)
    target = directory / place
    target.parent.mkdir(parents=True, exist_ok=True)
    text = charts.draw(file.read_text(), target.parent)
    title = re.search(r"^# (.*)", text, re.M)[1]
    root = "../" * (len(target.relative_to(directory).parts) - 1)
    body = link_code(markdown.convert(text), places, root)
    target.write_text(page(title, body + turns(*beside(ordered, place), root), root))
    first = re.sub(r"[`*\[\]]", "", re.sub(r"\(.*?\)", "", text.split("\n\n")[1]))[:90].replace("\n", " ")
    index.add_page(title, "" if first.startswith(("|", "#")) else first, place, body)
    return title, place


def write_pages(directory, index, places):
    """The pages of doc/, of doc/guide/ and the examples. Returns {source: (title, place)}."""
    names = ("examples/start/README.md", "examples/reference/README.md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
             "CHANGES")
    ordered = [(title, place_of(pathlib.Path(source))) for title, source, _ in guide_rows()]
    files = [book.TOP / source for _, source, _ in guide_rows()]  # first, so that the search shows them first
    files += sorted((book.TOP / "doc").glob("*.md")) + sorted((book.TOP / "doc/guide").glob("*.md"))
    files += [book.TOP / name for name in names]
    found = {str(file.relative_to(book.TOP)): write_text(directory, file, ordered, places, index) for file in dict.fromkeys(files)}
    shutil.copy(book.TOP / "COPYRIGHT", directory / "copyright")  # where README.md links to
    for picture in (book.TOP / "doc").glob("*.svg"):
        shutil.copy(picture, directory / "doc")
    io_files = sorted((book.TOP / "addons/io/examples").glob("*.[ch]"))
    for file in book.example_files() + io_files:
        text = file.read_text()
        body = f"<h1>{file.name}</h1><pre><code>{linked(text, {n: '../../' + p for n, p in places.items()})}</code></pre>"
        place = directory / ("examples/io/" + file.name if file in io_files else file.relative_to(book.TOP))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
        place.with_name(file.name + ".html").write_text(page(file.name, body, "../../"))
        said = re.match(r"(?:/\* SPDX.*?\*/\s*)?/\*\s*\*?\s*(.*?)[.:?]\s", text, re.S)
        index.add("example " + file.name, " ".join(re.sub(r"\n \*", " ", said[1]).split())[:90] if said else "",
                  f"{place.relative_to(directory)}.html", text)
    return found


def hello():
    """The program of README.md and the command that compiles it."""
    code, command = re.findall(r"^```(?:c|sh)\n(.*?)^```", (book.TOP / "README.md").read_text(), re.M | re.S)[1:3]
    return [f"<pre><code>{html.escape(text)}</code></pre>" for text in (code, command)]


def front(intro, sections, places, pages, version):
    """The first page: the guide in its own order, then the reference, then what is for those who change the library."""
    rows = guide_rows()
    body = [f"<h1>libabt {version}</h1><p>Lightweight threads for people who write runtimes.</p>", *hello(),
            f'<p><a href="{pages["README.md"][1]}">How to get and install it</a>, <a href="{pages["CHANGES"][1]}">what is new</a></p>'
            "<h2>Guide</h2><table>"]
    body += [f'<tr><td><a href="{pages[file][1]}">{html.escape(title)}</a></td><td>{html.escape(text)}</td></tr>'
             for title, file, text in rows]
    body += ['<tr><td><a href="examples/start/readme.html">Examples</a></td><td>Programs of one file, by question</td></tr>',
             '<tr><td><a href="examples/reference/readme.html">Examples of the reference</a></td>'
             '<td>Each function in a program that shows its point</td></tr>']
    body += ["</table><h2>More for users</h2><ul>"]
    body += [f'<li><a href="{pages[name][1]}">{html.escape(pages[name][0])}</a></li>' for name in FOR_USERS]
    body += ['</ul><h2>Reference</h2><ul class="names">']
    files = [file_of(section.title) for section in sections]
    body += [f'<li><a href="{file}">{html.escape(re.split(": doc/" if files.count(file) == 1 else ":", section.title)[0])}</a></li>'
             for at, (file, section) in enumerate(zip(files, sections)) if file not in files[:at]]
    body += ["</ul>"] + [paragraph(text, places) for text in intro[2:]]
    guided = {file for _, file, _ in rows} | set(FOR_USERS) | {"doc/guide/README.md", "examples/start/README.md"}
    guided.add("examples/reference/README.md")
    body += ["<h2>For those who change the library</h2><ul>"]
    body += [f'<li><a href="{place}">{html.escape(title)}</a></li>' for source, (title, place) in pages.items()
             if source not in guided and source not in ("README.md", "CHANGES")]
    return page("libabt", "\n".join(body + ["</ul>"]))


def write_reference(directory, sections, places, index):
    """One page for the sections of one name. Returns their (title, place)."""
    pages = {}
    for section in sections:
        title, body = pages.setdefault(file_of(section.title), (section.title, []))
        body.append(f"<h1>{html.escape(section.title)}</h1>")
        body += [paragraph(text, places) for text in section.text]
        body += ['<ul class="names">'] + [f'<li><a href="#{entry.name}">{entry.name}</a></li>' for entry in section.entries]
        body.append("</ul>")
        for part in section.parts:
            body.append(f'<h2><a href="{file_of(part.title)}">{html.escape(short_title(part))}</a></h2><ul class="names">')
            body += [f'<li>{linked(entry.name, places)}</li>' for entry in part.entries] + ["</ul>"]
        for entry in section.entries:
            text = entry_html(entry, places)
            body += text
            for name, line in entry.lines.items():
                index.add(name, line, places[name], search.plain(" ".join(text)) if name == entry.name else "")
    ordered = [(re.split("[:,(]", title if title.count(":") != 1 or not title.startswith("Input") else "Input and output")[0].strip(), name)
               for name, (title, _) in pages.items()]
    for name, (title, body) in pages.items():
        (directory / name).write_text(page(title, "\n".join(body) + turns(*beside(ordered, name), "")))
    return ordered


def write(intro, sections, directory, version):
    directory.mkdir(parents=True, exist_ok=True)
    places = {name: f"{file_of(section.title)}#{name}" for section in sections for entry in section.entries
              for name in entry.names + [name for name, _ in entry.constants]}
    index = search.Index()
    found = write_pages(directory, index, places)
    reference = write_reference(directory, sections, places, index)
    names = "".join(f'<li><a href="{place}">{name}</a></li>' for name, place in sorted(places.items()))
    (directory / "names.html").write_text(page("All names", f'<h1>All names</h1><ul class="names">{names}</ul>'))
    (directory / "index.html").write_text(front(intro, sections, places, found, version))
    (directory / "style.css").write_text(STYLE)
    guide = [(title, found[source][1]) for title, source, _ in guide_rows()]
    more = [found[name] for name in ("README.md", "examples/start/README.md", "examples/reference/README.md", *FOR_USERS, "CHANGES")]
    side = [("Guide", guide), ("More", more), ("Reference", reference)]
    (directory / "index.js").write_text(index.script(side))


def wrong_links(top):
    """Each link of the site leads somewhere."""
    ids = {page: set(re.findall(r'id="([^"]+)"', page.read_text())) for page in top.rglob("*.html")}
    for page, own in ids.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text()):
            place, _, anchor = link.partition("#")
            file = (page.parent / place).resolve() if place else page
            if "://" not in link and top in file.parents and (not file.exists() or anchor and anchor not in ids.get(file, ())):
                yield f"{page.name}: the link {link} leads nowhere"


def empty_pages(top):
    """Each page of the reference has functions, or leads to those of the sections below it."""
    for page in top.glob("ref-*.html"):
        if not re.search(r'<ul class="names">\s*<li><a href=', page.read_text()):
            yield f"{page.name}: names nothing"
