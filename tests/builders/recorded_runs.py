"""Recorded runs of fault scripts, packed by ``python -m benchmarks.recorded``, and their analysis."""

from __future__ import annotations

import functools
import tarfile
import tempfile
from pathlib import Path

from tfperfkit.analysis.analyze import study
from tfperfkit.model import Report
from tfperfkit.rule import Evidence

FOLDER = Path(__file__).parents[1] / "recorded"
_ARCHIVES = {path.name.removesuffix(".tar.xz"): path for path in FOLDER.rglob("*.tar.xz")}
#: Runs that every analysis is tested on.
NAMES = sorted(name for name, path in _ARCHIVES.items() if path.parent == FOLDER)
#: These, and further runs of the fault collection, whose first finding is tested.
FAULTS = sorted(_ARCHIVES)


@functools.cache
def study_recorded(name: str) -> tuple[Report, Evidence]:
    """The report and the evidence of a recorded run; made once for all tests of a process."""
    return study(unpack_recorded(name, Path(tempfile.mkdtemp(prefix=f"recorded-{name}-"))))


def unpack_recorded(name: str, folder: Path) -> Path:
    """Unpack a recorded run into ``folder``; return that folder."""
    with tarfile.open(_ARCHIVES[name]) as archive:
        archive.extractall(folder, filter="data")
    return folder
