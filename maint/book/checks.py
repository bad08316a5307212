# SPDX-License-Identifier: BSD-3-Clause
"""What maint/check-reference asks of the pages that maint/reference has made: python3 checks.py MAN HTML DOC"""
import html
import pathlib
import re
import shutil
import subprocess
import sys

import book
import search

BROWSER = next((name for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), None)


def wrong_links(top):
    """Each link of the site leads somewhere."""
    ids = {page: set(re.findall(r'id="([^"]+)"', page.read_text())) for page in top.rglob("*.html")}
    for page, own in ids.items():
        for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text()):
            place, _, anchor = link.partition("#")
            file = (page.parent / place).resolve() if place else page
            if "://" in link or top not in file.parents or (page.parent.name == "html" and page.name != "index.html" and
                                                            not page.name.startswith("ref-")):
                continue
            if not file.exists() or anchor and anchor not in ids.get(file, ()):
                yield f"{page.name}: the link {link} leads nowhere"


def empty_pages(top):
    """Each page of the reference has functions, or leads to those of the sections below it."""
    for page in top.glob("ref-*.html"):
        if not re.search(r'<ul class="names">\s*<li><a href=', page.read_text()):
            yield f"{page.name}: names nothing"


def cut_pictures(folder):
    """No text of a picture of maint/trace-picture stands beyond its edge: a letter has at least half of the size."""
    for picture in sorted(folder.glob("*.svg")):
        text = picture.read_text()
        form = re.search(r'viewBox="0 0 ([0-9.]+) .* font-size="([0-9.]+)"', text)
        if not form:  # a plot, in which matplotlib has found room for the text
            continue
        for x, words in re.findall(r'<text x="([0-9.]+)"[^>]*>([^<]*)', text):
            if float(x) + float(form[2]) / 2 * len(words) > float(form[1]):
                yield f"{picture.name}: \"{words}\" is cut off"


# What the lines of names begin with, that stand in NAME.
VERBS = set("""Adds Asks Associates Attaches Begins Binds Blocks Calls Changes Checks Closes Connects Copies Counts Declares
    Defines Detaches Does Ends Forgets Forks Frees Gets Gives Holds Initialises Joins Lets Locks Looks Makes Measures Moves
    Names Opens Pops Prepares Prints Pushes Puts Reads Receives Records Refers Registers Removes Renames Replaces Reserves Resumes
    Returns Runs Says Sends Serves Sets Sleeps Stands Starts Stops Stores Suspends Switches Takes Tells Undoes Unlocks Waits
    Wakes Writes Yields""".split())


def unclear_names(pages):
    """NAME of each page is a line of its own, which begins with a verb."""
    lines = {}
    for page, text in pages.items():
        line = re.search(r"^\.Nd (.*)", text, re.M)[1]
        if re.match(r"\w*", line)[0] not in VERBS:
            yield f"{page}: NAME does not begin with a verb: {line}"
        if line in lines:
            yield f"{page}: NAME is that of {lines[line]}: {line}"
        lines[line] = page


def untold_parameters(pages):
    """Each parameter of a function is told, and where there is a deadline, what it is."""
    for page, text in pages.items():
        given = [words for words in re.findall(r'^\.Fa "(.*)"', text, re.M) if words != "void"]
        told = re.findall(r"^\.It Fa (\S+)\n(.+)", text, re.M)
        if len(given) != len(told):
            yield f"{page}: {len(given)} parameters, and {len(told)} are told"
        if any(words.startswith("abtio_deadline ") for words in given) and ".Xr abtio_deadline 3" not in text:
            yield f"{page}: does not lead to abtio_deadline"
        if any(re.search(r"abstime|deadline", words) for words in given) and not re.search(r"^When ", "\n".join(words for _, words in told), re.M):
            yield f"{page}: does not say what the deadline is"


def words_not_found(site):
    """The search for each word of words.tsv shows the page that is meant among the first five."""
    parts, index = search.load((site / "index.js").read_text())
    for word, place in book.rows(pathlib.Path(__file__).parent / "words.tsv"):
        if not any(place in found[2] for found in search.find(parts, index, word)[:5]):
            yield f"the search for \"{word}\" does not show {place} among the first five"


def undescribed_examples(site):
    """What the search shows below the name of an example says what it does: it is not its licence."""
    parts, _ = search.load((site / "index.js").read_text())
    for title, line, _ in parts:
        if title.startswith("example ") and (not line or "SPDX" in line):
            yield f"{title} is described as \"{line}\""


def unlike_browser(site):
    """The words, looked for by the page's own script in a browser: the same parts are shown as by search.find."""
    parts, index = search.load((site / "index.js").read_text())
    words = [word for word, _ in book.rows(pathlib.Path(__file__).parent / "words.tsv")]
    asking = "".join(f"box.value={word!r};show();told.push([...found.querySelectorAll('a')].map(a=>a.textContent).join('|'));"
                     for word in words)
    page = site / "asked.html"
    page.write_text((site / "index.html").read_text().replace("</body>", f"""<pre id="told"></pre><script>const told=[];{asking}
        document.getElementById('told').textContent=told.join('\\n')</script></body>"""))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False).stdout
    page.unlink()
    told = re.search(r'<pre id="told">(.*?)</pre>', shown, re.S)
    told = html.unescape(told[1]).split("\n") if told else []
    if len(told) != len(words):
        yield f"{BROWSER} shows {len(told)} answers to {len(words)} searches"
    for word, names in zip(words, told):
        expected = [" ".join(part[0].split()) for part in search.find(parts, index, word)]
        if [" ".join(name.split()) for name in names.split("|")] != expected:
            yield f"the page's search for \"{word}\" shows {names[:100]}, not {expected[:3]}"


def main(man, site, doc):
    site = pathlib.Path(site).resolve()
    pages = {page.name: page.read_text() for page in sorted(pathlib.Path(man).iterdir())}
    found = [*unclear_names(pages), *untold_parameters(pages)]
    found += [*wrong_links(site), *empty_pages(site), *cut_pictures(pathlib.Path(doc)), *words_not_found(site), *undescribed_examples(site)]
    found += unlike_browser(site) if BROWSER else []
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


sys.exit(main(*sys.argv[1:]))
