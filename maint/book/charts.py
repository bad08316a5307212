# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the pages, drawn from the tables in them: a panel for each name in the first column, a line for each way,
over the number of streams. A page asks for one by <!-- picture NAME.svg: TITLE --> behind the table."""

import html
import math
import re

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# By Okabe and Ito, which colour-blind readers can tell apart: libabt, libraries of threads, OpenMP, oneTBB, Rust, Go.
COLOURS = {"libabt": "#d55e00", "GLT": "#cc5577", "libabtomp": "#e69f00", "Argobots": "#000000", "Qthreads": "#7f6000",
           "MassiveThreads": "#b22222", "Boost.Fiber": "#444444", "pthreads": "#8a8a8a", "libgomp": "#0072b2", "libomp": "#004080", "oneTBB": "#009e73", "rayon": "#cc79a7",
           "tokio": "#7d3c6b", "Go": "#56b4e9", "tasks": "#009e73"}
WIDTH, HEIGHT, COLUMNS, LEFT, TOP, RIGHT, BOTTOM = 290, 170, 3, 52, 26, 12, 24
ASKED = re.compile(r"((?:^\|.*\n)+)\n<!-- picture (\S+): (.*?) -->\n", re.M)


def value_of(cell):
    found = re.match(r"([\d.]+)(?: (ns|us|ms|s)\b)?", cell)
    return float(found[1]) * UNITS[found[2] or "ns"] if found else None


def panels_of(table):
    """{panel: {line: {streams: ns}}}. The streams are columns, or the second column has them and the others are lines."""
    head, _, *rows = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in table.splitlines()]
    panels = {}
    for name, second, *cells in rows:
        lines = panels.setdefault(name, {})
        for title, cell in zip(head[2:], cells):
            line, streams = (title, second) if head[1] in ("streams", "threads") else (second, title)
            if streams.isdigit() and value_of(cell) is not None:
                lines.setdefault(line, {})[int(streams)] = max(value_of(cell), 1e-3)
    return {name: lines for name, lines in panels.items() if lines}


def amount(ns):
    unit, factor = next(((unit, factor) for unit, factor in reversed(UNITS.items()) if ns >= factor), ("ns", 1))
    return f"{ns / factor:.3g} {unit}"


def panel(name, lines, x, y):
    """Both scales are logarithmic; marks at powers of ten."""
    counts = sorted({n for points in lines.values() for n in points})
    values = [ns for points in lines.values() for ns in points.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
    high = max(high, low + 1)

    def across(n):
        span = math.log2(counts[-1] / counts[0]) or 1
        return x + LEFT + (WIDTH - LEFT - RIGHT) * math.log2(n / counts[0]) / span

    def down(ns):
        return y + HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(ns) - low) / (high - low)

    yield f'<text x="{x + LEFT}" y="{y + 16}" font-weight="bold">{html.escape(name[:44])}</text>'
    for power in range(low, high + 1, max(1, (high - low) // 4)):
        at = down(10 ** power)
        yield f'<path d="M{x + LEFT} {at:.1f}H{x + WIDTH - RIGHT}" stroke="#ddd"/>'
        yield f'<text x="{x + LEFT - 4}" y="{at + 3:.1f}" text-anchor="end">{amount(10 ** power)}</text>'
    for n in counts:
        yield f'<text x="{across(n):.1f}" y="{y + HEIGHT - 8}" text-anchor="middle">{n}</text>'
    for line, points in lines.items():
        colour = COLOURS.get(line, "#000")
        path = " ".join(f"{across(n):.1f},{down(ns):.1f}" for n, ns in sorted(points.items()))
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        yield from (f'<circle cx="{across(n):.1f}" cy="{down(ns):.1f}" r="2.5" fill="{colour}"/>' for n, ns in points.items())


def picture(table):
    panels = panels_of(table)
    width, height = WIDTH * min(len(panels), COLUMNS), HEIGHT * math.ceil(len(panels) / COLUMNS) + 20
    names = dict.fromkeys(line for lines in panels.values() for line in lines)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="9" font-family="sans-serif">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for at, (name, lines) in enumerate(panels.items()):
        out += panel(name, lines, at % COLUMNS * WIDTH, at // COLUMNS * HEIGHT)
    out += [f'<text x="{LEFT + 80 * at}" y="{height - 6}" fill="{COLOURS.get(name, "#000")}">{html.escape(name)}</text>'
            for at, name in enumerate(names)]
    return "\n".join(out + ["</svg>\n"])


def draw(text, directory):
    """The page's text, with the pictures that it asks for in a directory."""
    def drawn(found):
        table, name, title = found.groups()
        (directory / name).write_text(picture(table))
        return f"{table}\n![{title}]({name})\n"
    return ASKED.sub(drawn, text)
