"""Hooks of mkdocs: a folder in ``nav`` (``findings/``) stands for all of its pages, in their order; and search from
disk asks no other host, where the theme would load a script from one; blocks of code have the file's name; what a page
collects from the code is filled in.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

_SHIM = re.compile(r"<script src=[\"']?https://[^>]*iframe-worker[^>]*></script>")
#: Folders of pages that the site has without an entry in its navigation or its search.
_UNLISTED = ("results/", "design/")
_FILE = re.compile(r"^(```\w+) +(\w[^\n\"`=]*)$", re.MULTILINE)
_ROOT = Path(__file__).resolve().parents[2]
_WORKER = Path(__file__).with_name("worker.js")


def on_config(config: Any) -> Any:
    """Called with mkdocs.yml as it was read."""
    config["nav"] = [_unfolded(entry, Path(config["docs_dir"])) for entry in config["nav"]]
    return config


def _unfolded(entry: Any, root: Path) -> Any:
    if isinstance(entry, dict):
        return {title: _unfolded(below, root) for title, below in entry.items()}
    if isinstance(entry, list):
        return [_unfolded(below, root) for below in entry]
    if not entry.endswith("/"):
        return entry
    return [page.relative_to(root).as_posix() for page in sorted((root / entry).glob("*.md"))]


def on_files(files: Any, config: Any) -> Any:
    """Add the records of measurements, ``benchmarks/results``, as the folder ``results``."""
    from mkdocs.structure.files import File

    for path in sorted((_ROOT / "benchmarks" / "results").iterdir()):
        content = path.read_bytes() if path.suffix != ".md" else _site_links(path.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"results/{path.name}", content=content))
    return files


def _site_links(markdown: str) -> str:
    """Return a page of the records with links as the site has them."""
    return markdown.replace("](../../docs/", "](../")


def on_page_markdown(markdown: str, page: Any = None, **_: Any) -> str:
    """Called with a page's source: a block's file becomes its title, which GitHub can't be given."""
    if page is not None:
        if page.file.src_uri.startswith(_UNLISTED):
            page.meta["search"] = {"exclude": True}
        markdown = markdown.replace("../benchmarks/results/", "results/")
    if str(_ROOT) not in sys.path:
        sys.path.insert(0, str(_ROOT))
    from benchmarks.collected import fill_in

    return _FILE.sub(r'\1 title="\2"', fill_in(markdown))


def on_page_content(html: str, **_: Any) -> str:
    """Called with a page's body: what marks a literal block in a docstring is no text."""
    return html.replace("<p>::</p>", "").replace("::</p>", ":</p>")


def on_post_page(output: str, **_: Any) -> str:
    """Called with each page as it will be written."""
    return _SHIM.sub(lambda _: f"<script>{_WORKER.read_text(encoding='utf-8')}</script>", output)


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for 404.html."""
    return on_post_page(output_content)
