"""The files that the HTML page brings along: bundled libraries with their licences, and scripts of our own that only
draw.
"""

from __future__ import annotations

from pathlib import Path

import tfperfkit.report.html as room


def test_files_that_are_bundled_have_their_licences() -> None:
    vendor = Path(str(room.__file__)).parent / "vendor"
    assert "MIT License" in (vendor / "uPlot.LICENSE.txt").read_text()
    assert "Permission to use, copy, modify" in (vendor / "d3-hierarchy.LICENSE.txt").read_text()
    assert sum(path.stat().st_size for path in vendor.glob("*.js")) < 70_000


def test_no_script_writes_markup_or_asks_for_anything() -> None:
    for path in (Path(str(room.__file__)).parent / "assets").glob("*.js"):
        source = path.read_text()
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "fetch(",
            "XMLHttpRequest",
            "import(",
        ):
            assert word not in source, (path.name, word)
