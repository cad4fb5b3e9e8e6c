"""A hook of mkdocs: a folder in ``nav`` (``findings/``) stands for all of its pages, in their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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
