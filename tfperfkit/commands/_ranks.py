"""Shows the report of a folder with the parts of several ranks."""

from __future__ import annotations

import sys
from pathlib import Path

from tfperfkit.commands._reporting import Wanted
from tfperfkit.errors import UsageError
from tfperfkit.report.forms import FORMS
from tfperfkit.report.output import report_file, write_document


def show_ranks(folder: Path, wanted: Wanted) -> None:
    """Print the report, or write it in the formats that are wanted. Raises UsageError for a format that only the report
    of one rank has."""
    from tfperfkit.ranks.command import Shown

    form = FORMS[wanted.form] if wanted.form else None
    if (form is not None and not form.of_ranks) or wanted.track or wanted.probes:
        option = (form.option if form is not None else "") or f"--format {wanted.form}"
        option = "--track" if wanted.track else "--show" if wanted.probes else option
        raise UsageError(f"{option} is for the report of one rank: name it, as in {folder / 'rank-0000'}")
    shown = Shown(folder)
    documents = {"json": shown.json, "html": shown.html}
    for path, name in ((wanted.json, "json"), (wanted.html, "html")):
        if path:
            write_document(documents[name](), path)
    if wanted.writes_to_stdout():
        return
    if wanted.form:
        write_document(documents[wanted.form](), wanted.output or "-")
        return
    with report_file(wanted.output, sys.stdout) as file:
        shown.text(file)
