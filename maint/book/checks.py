# SPDX-License-Identifier: BSD-3-Clause
"""What maint/check-reference asks of the pages that maint/reference has made: python3 checks.py HTML"""
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


def main(site):
    site = pathlib.Path(site).resolve()
    found = [*wrong_links(site), *empty_pages(site)]
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


sys.exit(main(*sys.argv[1:]))
