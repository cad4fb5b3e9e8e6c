"""Part of one rank's run that the report of all ranks needs, kept in its folder when its own report is made.

Each rank works it out on its own machine so, and of a thousand parts only these small files are read.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from tfperfkit.errors import RunDirectoryError
from tfperfkit.model import Report
from tfperfkit.ranks.part import Part, part_of_report
from tfperfkit.rule import Evidence
from tfperfkit.storage import safe_reader
from tfperfkit.storage.run_directory import RunDirectory
from tfperfkit.version import __version__

FILE = "rank.json"
#: Version and fields of a kept part: a part of another version, or with other fields, is made again.
_FORM = (__version__, *Part.__struct_fields__)


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    form: tuple[str, ...]
    part: Part


def keep(folder: Path, report: Report, evidence: Evidence) -> None:
    """Write the file, of a rank that has ended; silent where that can't be done: the report has been given."""
    with contextlib.suppress(Exception):
        run, manifest = RunDirectory.open(folder)
        if manifest.rank is not None:
            write(run, part_of_report(manifest.rank.folder, manifest, report, evidence))


def write(run: RunDirectory, part: Part) -> None:
    """Keep a part; silent where that can't be done. One that may still train is not kept."""
    if part.problem or part.status in ("running", "unknown"):
        return
    with contextlib.suppress(OSError, RunDirectoryError):
        run.write_json(FILE, msgspec.to_builtins(_Kept(form=_FORM, part=part)))


def read(folder: Path, name: str) -> Part | None:
    """Return the record of the part of this name; None if nothing was, or it is damaged or another version's."""
    raw = safe_reader.read_json(folder / name, FILE)
    try:
        found = msgspec.convert(raw, _Kept, str_keys=True)
    except msgspec.ValidationError:
        return None
    # A part may have been copied under another name, which tells its rank.
    return found.part if found.form == _FORM and found.part.name == name else None
