"""What maint/check-reference asks of the pages that maint/reference has made: python3 checks.py MAN HTML DOC"""
import pathlib
import re
import sys


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
        if not form:  # the plots have no text, but its outlines
            continue
        for x, words in re.findall(r'<text x="([0-9.]+)"[^>]*>([^<]*)', text):
            if float(x) + float(form[2]) / 2 * len(words) > float(form[1]):
                yield f"{picture.name}: \"{words}\" is cut off"


def main(man, site, doc):
    site = pathlib.Path(site).resolve()
    found = [*wrong_links(site), *empty_pages(site), *cut_pictures(pathlib.Path(doc))]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


sys.exit(main(*sys.argv[1:]))
