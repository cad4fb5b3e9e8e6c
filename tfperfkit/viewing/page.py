"""The HTML report of a run in the browser."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tfperfkit.viewing.command import open_browser


def new_page(folder: Path) -> Path:
    """Return the file for the page of a run: ``report.html`` in its folder, or one in a temporary folder if the folder
    can't be written, or if it has a link of this name, which may lead anywhere."""
    page = folder / "report.html"
    if os.access(folder, os.W_OK) and not page.is_symlink():
        return page
    return Path(tempfile.mkdtemp(prefix="tfperf-view-")) / f"{folder.name}.html"


def show_page(page: Path, browser: bool) -> None:
    """Print the address of the page, and open it in a browser window if there can be one."""
    address = page.absolute().as_uri()
    print(address, flush=True)
    if browser:
        open_browser(address)
