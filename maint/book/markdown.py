# SPDX-License-Identifier: BSD-3-Clause
"""Makes HTML of the Markdown that the pages in doc/ use: headings, lists, tables, code, links, emphasis."""
import html
import re


def inline(text):
    codes = []

    def keep(match):
        codes.append(f"<code>{html.escape(match[1])}</code>")
        return f"\0{len(codes) - 1}\0"

    text = html.escape(re.sub(r"`([^`]+)`", keep, text), quote=False)
    text = re.sub(r"!\[([^]]*)\]\(([^)]+)\)", r'<img alt="\1" src="\2">', text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", re.sub(r"(?<![*\w])\*([^* ][^*]*)\*", r"<em>\1</em>", text))
    text = re.sub(r"\0(\d+)\0", lambda m: codes[int(m[1])], text)
    return re.sub(r"\[([^]]+)\]\(([^)\s]+?)(\.md)?(#[^)]*)?\)",
                  lambda m: f'<a href="{(m[2] + (".html" if m[3] or m[2] == "CHANGES" else "")).lower()}{m[4] or ""}">{m[1]}</a>', text)


def anchor(title):
    return re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def table(lines):
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
    out = ["<table>"]
    for number, row in enumerate(cells):
        if number == 1 and all(re.fullmatch(r":?-+:?", cell) for cell in row):
            continue
        tag = "th" if number == 0 else "td"
        out.append("<tr>" + "".join(f"<{tag}>{inline(cell)}</{tag}>" for cell in row) + "</tr>")
    return out + ["</table>"]


def convert(text):
    lines, out = text.splitlines() + [""], []
    while lines:
        line = lines.pop(0)
        if not line.strip() or line.startswith("<!--"):
            continue
        heading = re.match(r"(#+) (.*)", line)
        if heading:
            level = len(heading[1])
            out.append(f'<h{level} id="{anchor(heading[2])}">{inline(heading[2])}</h{level}>')
        elif line.startswith("```"):
            code = []
            while lines and not lines[0].startswith("```"):
                code.append(lines.pop(0))
            lines.pop(0)
            out.append("<pre><code>" + html.escape("\n".join(code)) + "</code></pre>")
        elif line.startswith("|"):
            rows = [line]
            while lines and lines[0].startswith("|"):
                rows.append(lines.pop(0))
            out += table(rows)
        else:
            item = re.match(r"([-*]|\d+\.) (.*)", line)
            text = item[2] if item else line
            while lines and lines[0].strip() and not re.match(r"([-*]|\d+\.) |#|\||```", lines[0]):
                text += " " + lines.pop(0).strip()
            number = f' value="{item[1][:-1]}"' if item and item[1][:-1].isdigit() else ""
            question = re.match(r"\*\*(.+?)\*\*", text) if number else None
            number += f' id="{anchor(question[1])}"' if question else ""
            out.append(f"<li{number}>{inline(text)}</li>" if item else f"<p>{inline(text)}</p>")
    text = re.sub(r"((?:<li>.*</li>\n?)+)", r"<ul>\n\1</ul>\n", "\n".join(out))
    return re.sub(r"((?:<li value.*</li>\n?)+)", r"<ol>\n\1</ol>\n", text)
