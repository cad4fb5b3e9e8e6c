"""Shows the report of a folder with the parts of several ranks."""

from __future__ import annotations

import sys
from pathlib import Path

from tfperfkit.commands._reporting import Wanted
from tfperfkit.errors import UsageError
from tfperfkit.report.forms import FORMS
from tfperfkit.report.output import report_file, write_document


def show_ranks(folder: Path, wanted: Wanted) -> None:
    """Print the report, or write it in the formats that are wanted. Raises UsageError for what only the report of one
    rank has."""
    from tfperfkit.ranks.command import Shown

    refused = [f"--format {form}" for form, _ in wanted.documents if form in FORMS and not FORMS[form].of_ranks]
    refused += ["--track"] * bool(wanted.track) + ["--show"] * bool(wanted.probes)
    if refused:
        raise UsageError(f"{refused[0]} is for the report of one rank: name it, as in {folder / 'rank-0000'}")
    shown = Shown(folder)
    written = {"json": shown.json, "html": shown.html}
    for form, target in wanted.documents:
        if form != "text":
            write_document(written[form](), target)
    for text in wanted.texts():
        with report_file(text, sys.stdout) as file:
            shown.text(file)
