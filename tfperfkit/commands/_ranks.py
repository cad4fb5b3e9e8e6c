"""The report of a folder with the parts of several ranks, wherever it is asked to go."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tfperfkit.errors import UsageError
from tfperfkit.launch.forms import FORMS
from tfperfkit.launch.run import Wanted


def keep(folder: Path, report: Any, evidence: Any) -> None:
    """What the report of all ranks needs of this run, if it is one of several."""
    from tfperfkit.ranks.kept import keep as keep_part

    keep_part(folder, report, evidence)


def show(folder: Path, wanted: Wanted) -> None:
    """Print the report, or write it in the forms that are wanted. Raises UsageError for a form that only the report of
    one rank has."""
    from tfperfkit.launch.output import report_file, write
    from tfperfkit.ranks.command import Shown

    wished = FORMS[wanted.form] if wanted.form else None
    if (wished is not None and not wished.of_ranks) or wanted.track or wanted.probes:
        option = (wished.option if wished is not None else "") or f"--format {wanted.form}"
        option = "--track" if wanted.track else "--show" if wanted.probes else option
        raise UsageError(f"{option} is for the report of one rank: name it, as in {folder / 'rank-0000'}")
    shown = Shown(folder)
    piped = False
    for path, form in ((wanted.json, shown.json), (wanted.html, shown.html)):
        if path == "-":
            _pipe(form())
            piped = True
        elif path:
            write(form(), Path(path))
    if piped:
        return
    if wanted.form:
        document = {"json": shown.json, "html": shown.html}[wanted.form]()
        if wanted.output:
            write(document, Path(wanted.output))
        else:
            _pipe(document)
        return
    with report_file(wanted.output, sys.stdout) as file:
        shown.text(file)


def _pipe(document: bytes) -> None:
    sys.stdout.buffer.write(document)
    sys.stdout.flush()
