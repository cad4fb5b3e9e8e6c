"""Meaning of a path: the trace files of one run, and their kind."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from tfperfkit.errors import UsageError
from tfperfkit.storage.addresses import fetched

Kind = Literal["xplane", "chrome", "horovod"]

_XPLANE = ".xplane.pb"
_CHROME = (".trace.json.gz", ".trace.json", ".json.gz", ".json")
_PROFILES = ("plugins", "profile")
#: Folders are not looked through deeper than this, and no more folders than this: a home folder is no log directory.
_DEPTH, _FOLDERS = 8, 20_000
_HEAD = 65_536


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The trace files of one run: one per host. ``others``: runs in the same folder, which were not chosen."""

    kind: Kind
    files: tuple[Path, ...]
    run: str = ""
    others: tuple[str, ...] = ()


def find(path: Path) -> Source:
    """Return the traces below a path: a file, a run's folder, a log directory. Raises UsageError where there is
    none."""
    try:
        if path.is_dir():
            return _in_folder(path)
        if not path.exists():
            raise UsageError(f"there is no {path}")
        kind = kind_of(path)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror or error}") from error
    return Source(kind=kind, files=(path,), run=path.name)


def holds_trace(folder: Path) -> bool:
    """Return whether there is a trace in the folder or below it. Raises UsageError if the folder is too large to
    look."""
    return bool(_runs(folder))


def is_trace_at_address(address: str) -> bool:
    """Return whether a trace is at the address, not a run of tfperf. Fetches either. Raises UsageError or
    RunDirectoryError."""
    folder = fetched(address, _of_run_or_trace)
    return not any(folder.rglob("run.json"))


def _of_run_or_trace(names: Sequence[str]) -> Sequence[str]:
    is_run = any(name.rpartition("/")[2] == "run.json" for name in names)
    return names if is_run else _of_last_run(names)


def at_address(address: str) -> Path:
    """Return a copy of the trace at an address: in a log directory, the files of the run whose name comes last, since
    TensorFlow and JAX name runs by time. Raises UsageError or RunDirectoryError."""
    folder = fetched(address, _of_run_or_trace)
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_file() else folder


def _of_last_run(names: Sequence[str]) -> Sequence[str]:
    planes = [name for name in names if name.endswith(_XPLANE)]
    traces = planes or [name for name in names if name.endswith(_CHROME[:2])]
    last = max((name.rpartition("/")[0] for name in traces), key=lambda run: run.rpartition("/")[2], default="")
    return [name for name in traces if name.rpartition("/")[0] == last]


def kind_of(file: Path) -> Kind:
    """Return the kind of a trace file, by its contents. Raises UsageError if it is none."""
    with file.open("rb") as opened:
        head = opened.read(_HEAD)
    if not head:
        raise UsageError(f"{file} is empty: no trace was written")
    if head[:2] == b"\x1f\x8b":
        try:
            with gzip.open(file) as unpacked:
                head = unpacked.read(_HEAD)
        except (OSError, EOFError) as error:
            raise UsageError(f"{file} is no trace: it can't be unpacked ({error})") from error
    text = head.lstrip()
    if text[:1] == b"{":
        return "chrome"
    if text[:1] == b"[":
        return "horovod" if _is_horovod(text) else "chrome"
    # An XSpace begins with a plane, or with what the profiler says: fields 1 to 4, all of variable length.
    if file.name.endswith((_XPLANE, ".pb")) or head[0] in (0x0A, 0x12, 0x1A, 0x22):
        return "xplane"
    raise UsageError(
        f"{file} is no trace that tfperf knows: .xplane.pb, Chrome trace (.json, .json.gz), Horovod timeline"
    )


def _is_horovod(head: bytes) -> bool:
    return any(word in head for word in (b"NEGOTIATE_", b'"HOROVOD_', b"_NEGOTIATION", b'"WAIT_FOR_DATA"'))


def _in_folder(folder: Path) -> Source:
    runs = _runs(folder)
    if not runs:
        raise UsageError(
            f"no trace in {folder}: a run is plugins/profile/RUN/HOST.xplane.pb, as TensorFlow's and JAX's profilers "
            "write it"
        )
    # By when it was written, for the names of runs are times in somebody's own form.
    newest = max(runs, key=lambda run: (max(_written(file) for file in runs[run]), run))
    files = runs[newest]
    kind: Kind = "xplane" if files[0].name.endswith(_XPLANE) else kind_of(files[0])
    name = os.path.relpath(newest, folder)
    return Source(
        kind=kind,
        files=tuple(files),
        run=newest.name if name == "." else name,
        others=tuple(sorted(os.path.relpath(run, folder) for run in runs if run != newest)),
    )


def _runs(folder: Path) -> dict[Path, list[Path]]:
    """Return the trace files of each folder that has any; a host's Chrome trace counts only where there is no
    XPlane."""
    found: dict[Path, list[Path]] = {}
    start = len(folder.parts)
    for seen, (place, folders, names) in enumerate(os.walk(folder)):
        if seen > _FOLDERS:
            raise UsageError(f"{folder} holds more than {_FOLDERS} folders: name the log directory of the run")
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        here = Path(place)
        if len(here.parts) - start >= _DEPTH:
            folders.clear()
        planes = sorted(name for name in names if name.endswith(_XPLANE))
        of_profile = here.parts[-3:-1] == _PROFILES or here == folder
        chrome = sorted(name for name in names if name.endswith(_CHROME[:2])) if of_profile else []
        if planes or chrome:
            found[here] = [here / name for name in planes or chrome]
    return found


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
