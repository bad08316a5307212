"""Writes the reference and the pages of doc/ as one site of HTML, with a search that needs no server."""
import html
import json
import re
import shutil

import book
import markdown

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:56em;margin:1em auto;padding:0 1em;color:#222}
pre,code{font-family:ui-monospace,monospace;font-size:.9em}pre{background:#f4f4f4;padding:.7em;overflow:auto}
table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .5em;text-align:left;vertical-align:top}
h3{border-top:1px solid #ccc;padding-top:.7em}#found{list-style:none;padding:0}nav{margin-bottom:1em}img{max-width:100%}
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#262626}a{color:#8bf}}"""
SEARCH = """const box=document.getElementById('search'),found=document.getElementById('found');
box.addEventListener('input',()=>{const words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);found.innerHTML='';
if(!words.length)return;for(const [name,text,page] of INDEX.filter(([n,t])=>words.every(w=>(n+' '+t).toLowerCase()
.includes(w))).slice(0,30)){const li=document.createElement('li'),a=document.createElement('a');a.href=ROOT+page;
a.textContent=name;li.append(a,' '+text);found.append(li)}});"""


def file_of(section):
    return "ref-" + re.sub(r"[^a-z0-9]+", "-", re.split(r"[:,(]", section)[0].strip().lower()).strip("-") + ".html"


def page(title, body, root=""):
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(title)}</title><link rel="stylesheet" href="{root}style.css"></head><body>
<nav><a href="{root}index.html">libabt</a> <input id="search" type="search" placeholder="Search"
autocomplete="off"></nav><ul id="found"></ul>
{body}
<script>const ROOT="{root}"</script><script src="{root}index.js"></script></body></html>
"""


def linked(text, places, own=()):
    return re.sub(r"\bABTX?_\w+", lambda m: f'<a href="{places[m[0]]}">{m[0]}</a>'
                  if m[0] in places and m[0] not in own else m[0], html.escape(text, quote=False))


def function(entry, places):
    out = []
    for base in entry.behind:
        out += [f"<p>Of {linked(base.name, places)}: {linked(text, places)}</p>" for text in base.text]
    rows = [("Callers", " ".join(entry.contract.callers)), ("Waiting", " ".join(entry.contract.waiting)),
            ("Memory order", entry.order)]
    out += [f"<p><strong>{what}.</strong> {linked(text, places)}</p>" for what, text in rows if text]
    if entry.cost:
        out.append("<p><strong>Cost</strong>, in instructions of one operation in a release build:</p><table>")
        out.append("<tr><th>operation</th>" + "".join(f"<th>{cpu}</th>" for cpu in entry.cost[0][1]) + "</tr>")
        out += [f"<tr><td>{html.escape(work)}</td>" + "".join(f"<td>{n}</td>" for n in counts.values()) + "</tr>"
                for work, counts in entry.cost] + ["</table>"]
    else:
        out.append(f"<p><strong>Cost.</strong> {book.NOT_COUNTED}</p>")
    if entry.errors:
        out.append("<p><strong>Errors</strong></p><table>")
        out += [f"<tr><td>{linked(code, places)}</td><td>{linked(text, places)}</td></tr>" for code, text in entry.errors]
        out.append("</table>")
    return out


def entry_html(entry, places):
    ids = "".join(f'<a id="{name}"></a>' for name in entry.names[1:] + [name for name, _ in entry.constants])
    code = re.sub(r"\s*\b(ABT_API_PUBLIC|ABTX_DIRECT|ABT_DEPRECATED)\b", "", entry.code)
    title = entry.name if len(entry.names) == 1 else f"{entry.name} …"
    out = [f'<h3 id="{entry.name}">{title}{ids}</h3>', f"<pre><code>{linked(code, places, entry.names)}</code></pre>"]
    out += [f"<p>{linked(text, places, [entry.name])}</p>" for text in entry.text]
    if entry.kind == "function":
        out += function(entry, places)
    if entry.examples:
        links = ", ".join(f'<a href="examples/{name}.html">{name}</a>' for name in entry.examples)
        out.append(f"<p><strong>Examples</strong>: {links}</p>")
    return out


def write_pages(directory, index):
    """The pages of doc/, of doc/guide/ and the examples."""
    for file in sorted((book.TOP / "doc").glob("*.md")) + sorted((book.TOP / "doc/guide").glob("*.md")) + \
            [book.TOP / name for name in ("examples/start/README.md", "README.md", "CONTRIBUTING.md", "SECURITY.md")]:
        text = file.read_text()
        target = directory / file.relative_to(book.TOP).with_suffix(".html")
        target = target.with_name(target.name.lower())
        target.parent.mkdir(parents=True, exist_ok=True)
        title = re.search(r"^# (.*)", text, re.M)[1]
        root = "../" * (len(target.relative_to(directory).parts) - 1)
        target.write_text(page(title, markdown.convert(text), root))
        place = str(target.relative_to(directory))
        index.append((title, re.sub(r"[`*\[\]]", "", re.sub(r"\(.*?\)", "", text.split("\n\n")[1]))[:90].replace("\n", " "),
                      place))
        index += [(f"{title}: {heading}", "", place + "#" + markdown.anchor(heading))
                  for heading in re.findall(r"^## (.*)", text, re.M)]
    for picture in (book.TOP / "doc").glob("*.svg"):
        shutil.copy(picture, directory / "doc")
    for file in sorted((book.TOP / "examples/start").glob("*.c")):
        body = f"<h1>{file.name}</h1><pre><code>{html.escape(file.read_text())}</code></pre>"
        shutil.copy(file, directory / "examples/start")
        (directory / "examples" / (file.name + ".html")).write_text(page(file.name, body, "../"))
        index.append(("example " + file.name, "", f"examples/{file.name}.html"))


def write(intro, sections, directory, version):
    directory.mkdir(parents=True, exist_ok=True)
    places = {name: f"{file_of(section.title)}#{name}" for section in sections for entry in section.entries
              for name in entry.names + [name for name, _ in entry.constants]}
    index = []
    write_pages(directory, index)
    pages = {}
    for section in sections:
        body = pages.setdefault(file_of(section.title), [])
        body.append(f"<h1>{html.escape(section.title)}</h1>")
        body += [f"<p>{linked(text, places)}</p>" for text in section.text]
        for entry in section.entries:
            body += entry_html(entry, places)
            index += [(name, entry.summary, places[name]) for name in entry.names]
            index += [(name, entry.name, places[name]) for name, _ in entry.constants]
    for name, body in pages.items():
        (directory / name).write_text(page(name, "\n".join(body)))
    guides = [item for item in index if "#" not in item[2] and "/" in item[2] and item[2].startswith("doc/")]
    first = [f"<h1>libabt {version}</h1><p>Lightweight threads for people who write runtimes.</p><h2>Guide</h2><ul>"]
    first += [f'<li><a href="{place}">{html.escape(name)}</a></li>' for name, _, place in guides]
    first += ["</ul><h2>Reference</h2>"] + [f"<p>{linked(text, places)}</p>" for text in intro[2:]] + ["<ul>"]
    first += [f'<li><a href="{file_of(s.title)}">{html.escape(s.title)}</a></li>' for s in sections] + ["</ul>"]
    (directory / "index.html").write_text(page("libabt", "\n".join(first)))
    (directory / "style.css").write_text(STYLE)
    (directory / "index.js").write_text("const INDEX=" + json.dumps(index) + ";\n" + SEARCH + "\n")
