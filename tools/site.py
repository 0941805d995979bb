"""What mkdocs needs to know of this project: pages that live outside docs/, and links to pages."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.structure.files import File, Files

# A page outside docs/ -> its name on the site.
PAGES = {
    "benchmarks/README.md": "benchmarks/records.md",
    "benchmarks/RESULTS.md": "benchmarks/results.md",
    "benchmarks/report.md": "benchmarks/report.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples/distributed_postgres.md": "postgres.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that live outside docs/."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=source))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Points links at pages of the site; what is not on the site becomes plain text."""
    names = {page_name: source for source, page_name in PAGES.items()}
    here = names.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    return _LINK.sub(lambda link: _moved(link, here, page.file.src_uri), markdown)


def _moved(link: re.Match[str], here: str, page: str) -> str:
    image, text, target, anchor = link.groups()
    path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
    on_site = PAGES.get(path) or path.removeprefix("docs/").replace(".ipynb", ".md")
    if path not in PAGES and not path.startswith("docs/"):
        return f"*{text}* (`{path}`)" if image else f"{text} (`{path}`)"
    moved = posixpath.relpath(on_site, posixpath.dirname(page) or ".")
    return f"{image}[{text}]({moved}{anchor or ''})"
