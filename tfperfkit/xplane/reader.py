"""Reads profiler traces (``.xplane.pb``) without TensorFlow, in bounded memory.

    with open_space(path) as space:
        for plane in space.planes:
            for line in plane.lines():
                for event in line.events(lambda name: not name.startswith("ThreadpoolListener")):
                    event.name, event.begin_ps, event.duration_ps, event.stats

The file is loaded, or mapped if it is large; one line is parsed at a time, in parts if it is large. Times are integers
in picoseconds since the session began (``/host:CPU`` and the device planes share that origin). A file that is
missing, empty, too large or damaged raises ``Unavailable`` with the reason, at opening or while reading.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from google.protobuf.message import DecodeError

from tfperfkit.errors import Unavailable
from tfperfkit.storage.safe_reader import open_file
from tfperfkit.xplane import wire
from tfperfkit.xplane.schema import message_class

#: A larger file is refused: 100 MB hold about 3.6 million events, far more than a window of a few steps.
DEFAULT_LIMIT_BYTES = 512_000_000
#: A line larger than this is parsed in parts. A parsed event takes about ten times its size in the file.
PART_BYTES = 8 * 1024 * 1024
#: Arrays of larger traces are not kept for the next reader. Arrays take 36 bytes for an event that counts, about
#: as much as it does in the file. Larger files are mapped: if somebody cuts one that is being read, the process dies of
#: SIGBUS, so nobody reads them while a script may still write them.
KEPT_BYTES = 1 << 27
#: Beyond these a trace is refused: no profiler writes so many, and each takes memory however small it is in the file.
MAX_PLANES = 10_000
MAX_LINES = 100_000  # of a plane
MAX_METADATA = 500_000  # names of a plane
MAX_SORTED = 4_000_000  # events of a line that is out of order
_BEHIND = 16

StatValue = int | float | str | bytes
_Made = TypeVar("_Made")


class Event:
    """One event of a line. ``name`` is the event's; ``stats`` are resolved when asked for."""

    __slots__ = ("_plane", "_raw", "begin_ps", "duration_ps", "name")

    def __init__(self, plane: Plane, raw: Any, name: str, begin_ps: int, duration_ps: int) -> None:
        self._plane = plane
        self._raw = raw
        self.name = name
        self.begin_ps = begin_ps
        self.duration_ps = duration_ps

    @property
    def end_ps(self) -> int:
        return self.begin_ps + self.duration_ps

    @property
    def occurrences(self) -> int:
        """Return how many events this one stands for; more than 1 in aggregated lines only."""
        return max(1, int(self._raw.num_occurrences))

    @property
    def stats(self) -> dict[str, StatValue]:
        """Return the event's stats by name, over those of its kind (a GPU kernel's are there)."""
        metadata = self._plane.event_metadata.get(self._raw.metadata_id)
        stats = self._plane.resolve(metadata.stats) if metadata is not None else {}
        stats.update(self._plane.resolve(self._raw.stats))
        return stats

    def stat(self, name: str) -> StatValue | None:
        """One of the event's own stats (not its kind's): quicker than ``stats`` for a single one."""
        number = self._plane.stat_ids.get(name)
        for stat in self._raw.stats:
            if stat.metadata_id == number:
                return self._plane.value(stat)
        return None


class _Cut:
    """How a large line is read: in these parts. ``in_order`` is None while nobody asked."""

    def __init__(self, parts: list[tuple[int, int]], header: Any) -> None:
        self.parts = parts
        self.header = header
        self.in_order: bool | None = None


class Line:
    """A timeline: a thread of the host, a stream of a device."""

    def __init__(self, plane: Plane, start: int, end: int) -> None:
        self._plane = plane
        self._cut = plane.cut(start, end) if end - start > PART_BYTES else None
        self._whole: Any = plane.space.parse("XLine", start, end) if self._cut is None else None
        header: Any = self._whole if self._cut is None else self._cut.header
        self.id: int = header.id
        self.name: str = _text(header.name)
        self.display_name: str = _text(header.display_name)
        self.timestamp_ns: int = header.timestamp_ns

    def events(self, keep: Callable[[str], bool] | None = None) -> Iterator[Event]:
        """Yield the events in the file's order (not sorted). ``keep`` is asked once for each name."""
        plane, origin = self._plane, self.timestamp_ns * 1000
        names: dict[int, str | None] = {}
        for message in self._messages():
            for raw in message.events:
                number = raw.metadata_id
                try:
                    name = names[number]
                except KeyError:
                    name = plane.event_name(number)
                    if keep is not None and not keep(name):
                        name = None
                    names[number] = name
                if name is not None:
                    yield Event(plane, raw, name, origin + raw.offset_ps, raw.duration_ps)

    def in_order(self, keep: Callable[[str], bool] | None = None) -> Iterator[Event]:
        """Return the events by begin, longer ones first, so that one comes before those within it.

        The profiler writes them so; a large line that is in order already is not held in memory.
        """
        if self._cut is not None:
            if self._cut.in_order is None:
                self._cut.in_order = self._is_in_order()
            if self._cut.in_order:
                return self.events(keep)
        events = list(islice(self.events(keep), MAX_SORTED + 1))
        self._plane.space.limit(len(events), MAX_SORTED, "events out of order")
        return iter(sorted(events, key=lambda event: (event.begin_ps, -event.duration_ps)))

    def _is_in_order(self) -> bool:
        begin, duration = -(1 << 63), 0
        for message in self._messages():
            for raw in message.events:
                offset = raw.offset_ps
                if offset < begin or (offset == begin and raw.duration_ps > duration):
                    return False
                begin, duration = offset, raw.duration_ps
        return True

    def _messages(self) -> Iterator[Any]:
        if self._cut is None:
            yield self._whole
            return
        for start, end in self._cut.parts:
            yield self._plane.space.parse("XLine", start, end)


class Plane:
    """The lines of one device or of the host, with the names that they share."""

    def __init__(self, space: Space, start: int, end: int) -> None:
        self.space = space
        self._lines: list[tuple[int, int]] = []
        self._cuts: dict[int, _Cut] = {}
        self._made: dict[object, Any] = {}
        rest = bytearray()
        names = 0
        for field in space.fields(start, end):
            if field.number == 3:
                self._lines.append((field.value, field.end))
                space.limit(len(self._lines), MAX_LINES, "lines")
            else:
                rest += space.data[field.start : field.end]
                names += 1
                space.limit(names, MAX_METADATA, "names")
        message = space.parse_bytes("XPlane", bytes(rest))
        self.id: int = message.id
        self.name: str = _text(message.name)
        self.event_metadata: dict[int, Any] = {entry.key: entry.value for entry in message.event_metadata}
        self.stat_names: dict[int, str] = {entry.key: _text(entry.value.name) for entry in message.stat_metadata}
        self.stat_ids: dict[str, int] = {name: number for number, name in self.stat_names.items()}
        self.stats: dict[str, StatValue] = self.resolve(message.stats)

    @property
    def line_count(self) -> int:
        return len(self._lines)

    @property
    def line_spans(self) -> tuple[tuple[int, int], ...]:
        """Yield the begin and end of each line in the file."""
        return tuple(self._lines)

    def lines(self) -> Iterator[Line]:
        """Yield the lines, parsed one at a time: keep none and no more than one is in memory."""
        for start, end in self._lines:
            yield Line(self, start, end)

    def once(self, make: Callable[..., _Made], *key: Hashable) -> _Made:
        """Return ``make(plane, *key)``, made once for all callers if the file is small enough to keep the result."""
        if self.space.size > KEPT_BYTES:
            return make(self, *key)
        if (make, key) not in self._made:
            self._made[make, key] = make(self, *key)
        made: _Made = self._made[make, key]
        return made

    def cut(self, start: int, end: int) -> _Cut:
        """Return how to read a large line; found once."""
        if start not in self._cuts:
            parts, others = self.space.parts(start, end)
            header = b"".join(self.space.data[field.start : field.end] for field in others)
            self._cuts[start] = _Cut(parts, self.space.parse_bytes("XLine", header))
        return self._cuts[start]

    def event_name(self, number: int) -> str:
        metadata = self.event_metadata.get(number)
        return _text(metadata.name) if metadata is not None else ""

    def resolve(self, stats: Any) -> dict[str, StatValue]:
        """Stats by name; one without a name or a value is left out."""
        found = {}
        for stat in stats:
            name, value = self.stat_names.get(stat.metadata_id), self.value(stat)
            if name is not None and value is not None:
                found[name] = value
        return found

    def value(self, stat: Any) -> StatValue | None:
        kind = stat.WhichOneof("value")
        if kind is None:
            return None
        value: StatValue = getattr(stat, kind)
        if kind == "ref_value":
            return self.stat_names.get(int(value))
        return _text(value) if isinstance(value, bytes) and kind == "str_value" else value


class Space:
    """An open trace file. ``errors`` and ``warnings`` are the profiler's own words."""

    def __init__(self, path: Path, data: Any, size: int) -> None:
        self.path = path
        self.data = data
        self.size = size
        spans = list(islice(self.fields(0, size), MAX_PLANES + 1))
        self.limit(len(spans), MAX_PLANES, "planes")
        rest = b"".join(data[field.start : field.end] for field in spans if field.number != 1)
        message = self.parse_bytes("XSpace", rest)
        self.errors: tuple[str, ...] = tuple(_text(text) for text in message.errors)
        self.warnings: tuple[str, ...] = tuple(_text(text) for text in message.warnings)
        self.hostnames: tuple[str, ...] = tuple(_text(text) for text in message.hostnames)
        self.planes = tuple(Plane(self, field.value, field.end) for field in spans if field.number == 1)

    def plane(self, name: str) -> Plane | None:
        """Return the first plane of this name, e.g. ``/host:CPU``."""
        return next((plane for plane in self.planes if plane.name == name), None)

    def devices(self) -> tuple[Plane, ...]:
        """Return the planes of accelerators."""
        return tuple(plane for plane in self.planes if plane.name.startswith("/device:"))

    def limit(self, count: int, limit: int, what: str) -> None:
        """Raises ``Unavailable`` when there are more."""
        if count > limit:
            raise Unavailable(f"the trace {self.path.name} is refused: it has more than {limit} {what}")

    def fields(self, start: int, end: int) -> Iterator[wire.FieldSpan]:
        try:
            yield from wire.fields(self.data, start, end)
        except wire.Damaged as error:
            raise Unavailable(f"the trace {self.path.name} is damaged: {error}") from error

    def parts(self, start: int, end: int) -> tuple[list[tuple[int, int]], list[wire.FieldSpan]]:
        """Cut a line between its events."""
        try:
            return wire.parts(self.data, start, end, number=4, part_bytes=PART_BYTES)
        except wire.Damaged as error:
            raise Unavailable(f"the trace {self.path.name} is damaged: {error}") from error

    def parse(self, message: str, start: int, end: int) -> Any:
        return self.parse_bytes(message, bytes(self.data[start:end]))

    def parse_bytes(self, message: str, data: bytes) -> Any:
        parsed = message_class(message)()
        try:
            parsed.ParseFromString(data)
        except (DecodeError, RuntimeError, ValueError) as error:
            raise Unavailable(f"the trace {self.path.name} is damaged: {message} can't be decoded") from error
        return parsed

    def bytes_at(self, start: int, end: int) -> Any:
        """Return a copy as an array of bytes, with 16 zeros behind it, so that a number may be looked for at its
        end."""
        import numpy as np

        made = np.zeros(end - start + _BEHIND, dtype=np.uint8)
        made[:-_BEHIND] = np.frombuffer(self.data, dtype=np.uint8, count=end - start, offset=start)
        self.release(start, end)
        return made

    def release(self, start: int, end: int) -> None:
        """Nobody needs these bytes for now: what the file has of them in memory counts as the process's no longer."""
        advise = getattr(self.data, "madvise", None)
        if advise is not None and hasattr(mmap, "MADV_DONTNEED"):
            first = start - start % mmap.PAGESIZE
            advise(mmap.MADV_DONTNEED, first, end - first)

    def close(self) -> None:
        """Drop the bytes at once: planes and space refer to each other, and garbage is collected late."""
        close = getattr(self.data, "close", None)
        if close is not None:
            close()
        self.data = b""

    def __enter__(self) -> Space:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def open_space(path: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> Space:
    """Open a trace file; raises ``Unavailable`` with the reason when it can't be read."""
    try:
        with open_file(path.parent, path.name) as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                raise Unavailable(f"the trace {path.name} is empty")
            if size > limit_bytes:
                limit = f"the limit is {limit_bytes / 1e6:.0f} MB"
                raise Unavailable(f"the trace {path.name} is too large to read: {size / 1e6:.0f} MB, {limit}")
            large = size > KEPT_BYTES
            data: Any = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if large else file.read(size)
    except OSError as error:
        raise Unavailable(f"the trace {path.name} can't be read: {error.strerror or error}") from error
    try:
        return Space(path, data, len(data))
    except BaseException:
        if large:
            data.close()
        raise


def profile_options(space: Space) -> dict[str, int] | None:
    """Return the options that the profiler really used: host_tracer_level, device_tracer_level, python_tracer_level.

    None when the trace does not tell. TensorFlow 2.20 and 2.21 ignore options that they don't like without a word.
    """
    plane = space.plane("Task Environment")
    raw = plane.stats.get("profile_options") if plane is not None else None
    if not isinstance(raw, bytes):
        return None
    try:
        options = space.parse_bytes("ProfileOptions", raw)
    except Unavailable:
        return None
    return {field.name: int(getattr(options, field.name)) for field in options.DESCRIPTOR.fields}


def _text(value: Any) -> str:
    return bytes(value).decode("utf-8", "replace")
