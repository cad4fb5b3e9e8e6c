"""The traces of runs as one log directory for TensorBoard: a folder of links, so that nothing is written next to the
traces.

XProf keeps caches next to its input and shows them when the input has changed; in a run directory they would stay.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from tfperfkit import registry
from tfperfkit.errors import UsageError
from tfperfkit.storage.run_directory import RunDirectory
from tfperfkit.storage.safe_reader import open_file, trace_files


class Shown(msgspec.Struct, frozen=True):
    """One trace as TensorBoard lists it: its name there and its hosts."""

    name: str
    hosts: tuple[str, ...]


def build(logdir: Path, runs: list[Path]) -> list[Shown]:
    """Fill ``logdir`` with links to the traces; raises UsageError or RunDirectoryError for what can't be shown."""
    shown: list[Shown] = []
    for path in runs:
        run, _ = RunDirectory.open(path)
        found = sessions(run)
        name = safe_name(path.resolve().name)
        for session in found:
            label = _unused(name if len(found) == 1 else f"{name}-{safe_name(session[0].parent.name)}", shown)
            folder = logdir / "plugins" / "profile" / label
            folder.mkdir(parents=True)
            for file in session:
                (folder / file.name).symlink_to(file.resolve())
            shown.append(Shown(label, tuple(file.name[: -len(_ENDING)] for file in session)))
    return shown


def sessions(run: RunDirectory) -> list[list[Path]]:
    """Return the trace files of a run by profiler session, the latest first: what was traced before the first step has
    no steps to show. Raises UsageError when there is none, or a file can't be used."""
    files = trace_files(run.trace)
    if not files:
        tracer = registry.tracer()
        hint = f": the probe {tracer} records one (tfperf run --probes {tracer} SCRIPT)" if tracer else ""
        why = f", and its row in tfperf report {run.path.name} says why it did not" if tracer else ""
        raise UsageError(f"the run {run.path.name} has no trace{hint}{why}")
    for file in files:
        check(file)
    by_folder: dict[Path, list[Path]] = {}
    for file in files:
        by_folder.setdefault(file.parent, []).append(file)
    return [by_folder[folder] for folder in sorted(by_folder, reverse=True)]  # folders are named by the time


def check(file: Path) -> None:
    """Refuse a file that the plugin would show as an empty page. Reads a few bytes per plane, however large it is."""
    try:
        with open_file(file.parent, file.name) as data:
            size = os.fstat(data.fileno()).st_size
            if size == 0:
                raise UsageError(f"the trace {file} is empty: record the run again")
            position = fields = 0
            while position < size:
                fields += 1
                data.seek(position)
                end = _field_end(data.read(20), position)
                if end is None or end > size or fields > _MAX_FIELDS:
                    raise UsageError(f"the trace {file} is damaged at byte {position}: record the run again")
                position = end
    except OSError as error:
        raise UsageError(f"can't read the trace {file}: {error.strerror}") from error


def safe_name(text: str) -> str:
    """Return a name that means the same in a path, in an address and on a page."""
    return re.sub(r"[^A-Za-z0-9._+-]", "_", text.encode("utf-8", "replace").decode()).strip(".") or "run"


_ENDING = ".xplane.pb"
_MAX_FIELDS = 100_000  # planes and errors of the profiler


def _field_end(head: bytes, position: int) -> int | None:
    """Return the end of the field that begins with ``head``.

    An XSpace has only fields with a length, numbered 1 to 15.
    """
    if not head or head[0] & 7 != 2 or not 0 < head[0] >> 3 < 16:
        return None
    length = shift = 0
    for index, byte in enumerate(head[1:11], 2):
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            return position + index + length
        shift += 7
    return None


def _unused(name: str, shown: list[Shown]) -> str:
    taken = {item.name for item in shown}
    number = 1
    label = name
    while label in taken:
        number += 1
        label = f"{name}-{number}"
    return label
