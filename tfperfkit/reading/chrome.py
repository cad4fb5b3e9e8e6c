"""A Chrome trace of a TensorFlow, JAX or PyTorch profile (``trace.json.gz``) as tracks.

XProf writes it next to the XPlane and thins it out to a million events: if both are there the XPlane is read.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tfperfkit.errors import Unavailable
from tfperfkit.reading import kineto
from tfperfkit.reading.tracks import Device, Event, HostTrace, Track
from tfperfkit.xplane.columns import Coded, Ints
from tfperfkit.xplane.hlo import Module

#: Maximum size of the text, unpacked. JSON is held whole while it is read, which takes about five times its size.
MAX_BYTES = 1_000_000_000
_PIECE = 1 << 22


class _File(msgspec.Struct):
    traceEvents: list[Event] = []


class ChromeTrack:
    """Events of one thread. Stats are the event's ``args``."""

    def __init__(self, name: str, events: list[Event]) -> None:
        self.name = name
        self._args = [event.args or {} for event in events]
        self._names: list[str] = []
        known: dict[str, int] = {}
        kinds = []
        for event in events:
            if event.name not in known:
                known[event.name] = len(self._names)
                self._names.append(event.name)
            kinds.append(known[event.name])
        self.kind: Ints = np.array(kinds, dtype=np.int64)
        self.begin_ps: Ints = np.rint(np.array([event.ts or 0.0 for event in events]) * 1e6).astype(np.int64)
        self.duration_ps: Ints = np.rint(np.array([event.dur or 0.0 for event in events]) * 1e6).astype(np.int64)

    def __len__(self) -> int:
        return len(self.kind)

    def name_of(self, kind: int, /) -> str:
        return self._names[kind]

    def coded(self, names: Sequence[str], which: Ints | None = None, /) -> dict[str, Coded]:
        events = which.tolist() if which is not None else range(len(self))
        found = {}
        for name in names:
            values: list[Any] = []
            known: dict[Any, int] = {}
            codes = []
            for event in events:
                value = self._args[event].get(name)
                if not isinstance(value, str | int | float):
                    codes.append(-1)
                    continue
                if value not in known:
                    known[value] = len(values)
                    values.append(value)
                codes.append(known[value])
            found[name] = Coded(np.array(codes, dtype=np.int64), values)
        return found

    def numbers(self, name: str, which: Ints | None = None, /) -> Ints:
        events = which.tolist() if which is not None else range(len(self))
        return np.array([_whole_number(self._args[event].get(name)) for event in events], dtype=np.int64)


class _Device:
    stats: dict[str, Any] = {}

    def __init__(self, name: str, tracks: list[ChromeTrack]) -> None:
        self.name = name
        self._tracks = tracks

    def tracks(self) -> Iterator[Track]:
        return iter(self._tracks)


class ChromeTrace:
    """One file."""

    words: tuple[str, ...] = ()
    until_ps: int | None = None

    def __init__(self, host: str, planes: dict[str, list[ChromeTrack]], remarks: tuple[str, ...]) -> None:
        self.host = host
        self.remarks = remarks
        self._planes = planes

    def devices(self) -> Sequence[Device]:
        return [_Device(name, tracks) for name, tracks in self._planes.items() if _is_device(name)]

    def host_tracks(self, keep: Callable[[str], bool], /) -> Iterator[Track]:
        for name, tracks in self._planes.items():
            if not _is_device(name):
                yield from tracks

    def modules(self) -> dict[str, Module]:
        return {}


@contextmanager
def open_chrome(file: Path, progress: Callable[[int], None]) -> Iterator[Sequence[HostTrace]]:
    """Yield the hosts of a file: XProf writes several into one. Raises ``Unavailable`` with the reason when it can't be
    read."""
    events = events_of(file, progress)
    foreign = kineto.is_kineto(events)
    found: dict[str, dict[str, list[ChromeTrack]]] = {}
    if foreign:
        for (plane, _), (thread, mine) in kineto.placed(events).items():
            found.setdefault("", {}).setdefault(plane, []).append(ChromeTrack(thread, mine))
    else:
        for (host, plane), thread, mine in _placed(events):
            found.setdefault(host, {}).setdefault(plane, []).append(ChromeTrack(thread, mine))
    stem, remarks = file.name.partition(".")[0], (kineto.REMARK,) if foreign else ()
    # Events that name no host (the profiler's own notes) belong to the only host, if there is one.
    named = [host for host in found if host]
    if len(named) == 1:
        found = {"": {plane: tracks for planes in found.values() for plane, tracks in planes.items()}}
    yield tuple(ChromeTrace(host or stem, planes, remarks) for host, planes in found.items())


def _placed(events: list[Event]) -> Iterator[tuple[tuple[str, str], str, list[Event]]]:
    """Yield for each thread: its host ("" if there is none) and plane, its name, its events."""
    processes: dict[int | str, str] = {}
    threads: dict[tuple[int | str, int | str], str] = {}
    of: dict[tuple[int | str, int | str], list[Event]] = {}
    for event in events:
        if event.ph == "M" and event.args:
            if event.name == "process_name":
                processes[event.pid] = str(event.args.get("name", ""))
            elif event.name == "thread_name":
                threads[event.pid, event.tid] = str(event.args.get("name", ""))
        elif event.ph == "X" and event.ts is not None:
            of.setdefault((event.pid, event.tid), []).append(event)
    for (pid, tid), mine in of.items():
        host, _, plane = processes.get(pid, str(pid)).rpartition(" /")
        yield (host.strip(), f"/{plane}" if host else plane), threads.get((pid, tid), str(tid)), mine


def events_of(file: Path, progress: Callable[[int], None]) -> list[Event]:
    """Return the events of a file, whether it holds an object or a list. Raises ``Unavailable``."""
    text = _read_text(file, progress)
    try:
        if text.lstrip()[:1] == b"[":
            return msgspec.json.decode(text, type=list[Event], strict=False)
        return msgspec.json.decode(text, type=_File, strict=False).traceEvents
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        if text.lstrip()[:1] == b"[":  # a timeline of a program that was killed has no end
            return _unended(file, text)
        raise Unavailable(f"the trace {file.name} is damaged: {error}") from error


def _unended(file: Path, text: bytes) -> list[Event]:
    end = text.rfind(b"}")
    try:
        return msgspec.json.decode(text[: end + 1] + b"]", type=list[Event], strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unavailable(f"the trace {file.name} is damaged: {error}") from error


def _read_text(file: Path, progress: Callable[[int], None]) -> bytes:
    """Return the content of a file, unpacked."""
    text = bytearray()
    try:
        with file.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            opened = gzip.open(raw) if packed else raw
            while piece := opened.read(_PIECE):
                text += piece
                progress(raw.tell())
                if len(text) > MAX_BYTES:
                    raise Unavailable(f"the trace {file.name} is too large to read: more than {MAX_BYTES / 1e6:.0f} MB")
    except (OSError, EOFError, zlib.error) as error:
        raise Unavailable(f"the trace {file.name} can't be read: {error}") from error
    return bytes(text)


def _is_device(name: str) -> bool:
    return name.startswith("/device:") or "/stream:" in name


def _whole_number(value: object) -> int:
    """Return a whole number; 0 for anything else."""
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 19 else -1
