"""The events of a trace's lines as arrays: for files of millions of events.

    for line in columns(plane):
        line.kind, line.begin_ps, line.duration_ps       # int64, one value per event, in the file's order
        line.stat("correlation_id")                       # a list: int, float, str, bytes or None for each event

``tfperfkit.xplane.reader`` gives an object per event, which costs a microsecond each. Here an event's three numbers
are read for all events of a block at once, by the wire format; its stats stay in the file until one is asked for. An
event that another program than the profiler wrote, with its fields in another order, is read by protobuf.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfperfkit.errors import Unavailable
from tfperfkit.xplane.intervals import in_order
from tfperfkit.xplane.reader import Plane, StatValue

Ints = npt.NDArray[np.int64]
#: Bytes that are looked at in one piece, and events that are decoded in one: bounds the memory next to the result.
_PIECE = 1 << 20
_BLOCK = 1 << 15
#: Bytes of a block of events whose stats are long.
_HELD = 1 << 25
#: More stats than this on one event are not looked through. The profiler writes a dozen.
_MAX_STATS = 64
#: More events than this are refused: they take 4 GB.
MAX_EVENTS = 100_000_000
#: Upper limit of a session's times: 53 days.
_MAX_PS = 1 << 62

_EVENTS = 4 << 3 | 2
_METADATA, _OFFSET, _OCCURRENCES, _DURATION, _STATS = 0x08, 0x10, 0x28, 0x18, 0x22
_UINT, _INT, _REF = 0x18, 0x20, 0x38  # of a stat


class LineColumns:
    """A line: a thread of the host, a stream of a device. Times are in ps since the session began."""

    def __init__(self, plane: Plane, header: Any, parts: list[list[Any]]) -> None:
        self.plane = plane
        self.id: int = header.id
        self.name: str = bytes(header.name).decode("utf-8", "replace")
        self.display_name: str = bytes(header.display_name).decode("utf-8", "replace")
        # One column after the other, so that a long line is never there twice.
        self.kind: Ints = _joined(parts, 0)
        self.begin_ps: Ints = _joined(parts, 1)
        origin = header.timestamp_ns * 1000
        if abs(origin) >= _MAX_PS:
            raise Unavailable(f"the trace {plane.space.path.name} is damaged: a line of it begins at {origin} ps")
        self.begin_ps += origin
        self.duration_ps: Ints = _joined(parts, 2)
        self._stats: Ints = _joined(parts, 3)
        self._size: npt.NDArray[np.int32] = _joined(parts, 4)

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def end_ps(self) -> Ints:
        return self.begin_ps + self.duration_ps

    def sort(self) -> None:
        """Put the events in order: by begin, longer ones first, so that one comes before those within it. The profiler
        writes them so, mostly."""
        order = in_order(self.begin_ps, self.duration_ps)
        if order is not None:
            self.kind, self.begin_ps = self.kind[order], self.begin_ps[order]
            self.duration_ps = self.duration_ps[order]
            self._stats, self._size = self._stats[order], self._size[order]

    def name_of(self, kind: int) -> str:
        return self.plane.event_name(int(kind))

    def coded(self, names: Sequence[str], which: Ints | None = None) -> dict[str, Coded]:
        """Stats of each event (of those numbered in ``which``), or of its kind, by name; read in one pass."""
        events = which if which is not None else np.arange(len(self), dtype=np.int64)
        nothing = Coded(np.full(len(events), -1, dtype=np.int64), [])
        there = [name for name in names if name in self.plane.stat_ids]
        begins = self._stats[events]
        wanted = [self.plane.stat_ids[name] for name in there]
        places = _find_stats(self.plane, begins, begins + self._size[events], wanted)
        kinds = self.kind[events]
        found = {name: self._code(name, kinds, *places[:, number]) for number, name in enumerate(there)}
        return {name: found.get(name, nothing) for name in names}

    def stat(self, name: str, which: Ints | None = None) -> list[StatValue | None]:
        """One stat of each event, or of its kind; None if neither has it."""
        coded = self.coded([name], which)[name]
        values = [*coded.values, None]  # -1 is the last
        return [values[code] for code in coded.codes.tolist()]

    def numbers(self, name: str, which: Ints | None = None) -> Ints:
        """Return an integer stat, -1 where there is none."""
        count = len(self) if which is None else len(which)
        found = np.full(count, -1, dtype=np.int64)
        number = self.plane.stat_ids.get(name, 0)
        for first in range(0, count if number else 0, _BLOCK):
            block = slice(first, first + _BLOCK)
            events = block if which is None else which[block]
            begins = self._stats[events]
            starts, ends = _find_stats(self.plane, begins, begins + self._size[events], [number])[:, 0]
            found[block] = _values(self.plane, starts, ends, (_UINT, _INT))
        return found

    def _code(self, name: str, kinds: Ints, starts: Ints, ends: Ints) -> Coded:
        plane = self.plane
        values: list[StatValue | None] = []
        codes = np.full(len(starts), -1, dtype=np.int64)
        refs = _values(plane, starts, ends, (_REF,))
        is_ref = refs >= 0
        if is_ref.any():
            distinct, inverse = np.unique(refs[is_ref], return_inverse=True)
            codes[is_ref] = inverse
            values += [plane.stat_names.get(ref) for ref in distinct.tolist()]
        known: dict[bytes, int] = {}
        data = plane.space.data
        for index in np.flatnonzero((starts >= 0) & ~is_ref).tolist():
            raw = bytes(data[int(starts[index]) : int(ends[index])])
            code = known.get(raw)
            if code is None:
                code = known[raw] = len(values)
                values.append(plane.value(plane.space.parse_bytes("XStat", raw)))
            codes[index] = code
        missing = np.flatnonzero(starts < 0)
        if len(missing):
            distinct, inverse = np.unique(kinds[missing], return_inverse=True)
            of_kind = []
            for kind in distinct.tolist():
                metadata = plane.event_metadata.get(kind)
                value = plane.resolve(metadata.stats).get(name) if metadata is not None and metadata.stats else None
                of_kind.append(len(values) if value is not None else -1)
                values += [value] if value is not None else []
            codes[missing] = np.array(of_kind, dtype=np.int64)[inverse]
        return Coded(codes, values)


class Coded(NamedTuple):
    """A stat of many events: the value of each is ``values[code]``; -1 where it has none."""

    codes: Ints
    values: list[StatValue | None]


_NONE = np.zeros(0, dtype=np.int64)


def _values(plane: Plane, starts: Ints, ends: Ints, tags: Sequence[int]) -> Ints:
    """Return the numbers that stand behind one of the tags in the stats at these places, -1 where there is none."""
    found = np.full(len(starts), -1, dtype=np.int64)
    places = np.flatnonzero(starts >= 0)
    for block in _blocks(starts[places]):
        there = places[block]
        at, stop = starts[there], ends[there]
        low = int(at.min())
        buffer = plane.space.bytes_at(low, int(stop.max()))
        at, stop = at - low, stop - low
        _, at = _number(buffer, at, stop, _METADATA)
        for tag in tags:
            value, after = _number(buffer, at, stop, tag)
            has = after > at
            found[there[has]] = value[has]
    return found


def _blocks(places: Ints) -> Iterator[slice]:
    """Cut places in the file into blocks that are read in one piece: of not too many, and without wide gaps.

    The latter holds for places in the order of the file only, in which nearly all are.
    """
    if not len(places):
        return
    ahead = np.diff(places)
    gaps = np.flatnonzero(ahead > _PIECE) + 1 if not (ahead < 0).any() else _NONE
    bounds = [0, *gaps.tolist(), len(places)]
    for begin, end in zip(bounds, bounds[1:], strict=False):
        for first in range(begin, end, _BLOCK):
            yield slice(first, min(first + _BLOCK, end))


def _joined(parts: list[list[Any]], column: int) -> Any:
    if not parts:
        return _NONE.copy()
    if len(parts) == 1:
        return parts[0][column]
    whole = np.concatenate([part[column] for part in parts])
    for part in parts:
        part[column] = None
    return whole


def _head(plane: Plane, start: int, end: int) -> tuple[bytearray, bytes]:
    """Return the fields before a line's events, and the line's name."""
    rest, name = bytearray(), b""
    for field in plane.space.fields(start, end):
        if field.number == 4:
            break
        rest += plane.space.data[field.start : field.end]
        if field.number == 2:
            name = bytes(plane.space.data[field.value : field.end])
    return rest, name


def columns(
    plane: Plane,
    keep: Callable[[str], bool] | None = None,
    lines: Callable[[str], bool] | None = None,
    progress: Callable[[int], None] | None = None,
    until_ps: int | None = None,
) -> Iterator[LineColumns]:
    """Yield the lines of a plane, one at a time. ``keep`` is asked once for each name of an event, ``lines`` for each
    line.

    ``progress`` is called with the bytes that have been read of the file. ``until_ps``: only events that begin before
    it, in ps since the session began; a line is left where a whole block of them begins later. Raises ``Unavailable``
    for a damaged file.
    """
    unwanted = np.zeros(0, dtype=np.int64)
    if keep is not None:
        unwanted = np.array([number for number in plane.event_metadata if not keep(plane.event_name(number))], np.int64)
        unwanted.sort()
    for start, end in plane.line_spans:
        others, name = _head(plane, start, end)
        if lines is not None and not lines(name.decode("utf-8", "replace")):
            continue
        parts: list[list[Any]] = []
        count = 0
        latest = None if until_ps is None else until_ps - _origin_ps(plane, others)
        others.clear()
        for begins, ends in _events(plane, start, end, others):
            block = _decode(plane, begins, ends, unwanted)
            if latest is not None and len(block[1]):
                early = block[1] < latest
                if not early.any():
                    break
                block = [column[early] for column in block] if not early.all() else block
            count += len(block[0])
            plane.space.limit(count, MAX_EVENTS, "events")
            parts.append(block)
            if progress is not None:
                progress(int(ends[-1]))
        yield LineColumns(plane, plane.space.parse_bytes("XLine", bytes(others)), parts)


def _origin_ps(plane: Plane, head: bytearray) -> int:
    """Return the origin of the times of a line's events; ``head``: the fields before them."""
    return int(plane.space.parse_bytes("XLine", bytes(head)).timestamp_ns) * 1000


def begin_at(plane: Plane, start: int, end: int, place: int) -> int | None:
    """Return the begin (ps since the session began) of the event at this place of a line, which begins and ends at
    ``start`` and ``end``; None if there is none.
    """
    head, _ = _head(plane, start, end)
    for begins, ends in _events(plane, start, end, bytearray()):
        if int(ends[-1]) >= place or int(ends[-1]) >= end:
            index = min(int(np.searchsorted(ends, place)), len(ends) - 1)
            offset = plane.space.parse("XEvent", int(begins[index]), int(ends[index])).offset_ps
            return int(offset) + _origin_ps(plane, head)
    return None


def _events(plane: Plane, start: int, end: int, others: bytearray) -> Iterator[tuple[Ints, Ints]]:
    """Yield the begins and ends of a line's events in the file, in blocks; its other fields are added to ``others``."""
    data = plane.space.data
    begins, ends = array("q"), array("q")
    base = start
    while base < end:
        last = base + _PIECE >= end
        piece = data[base : min(base + _PIECE, end)]
        size = len(piece)
        limit = size if last else size - 16
        position = 0
        short: list[int] = []  # events of less than 16 KB, skipped on a fast path: there are millions
        while position < limit:
            if piece[position] == _EVENTS and position + 2 < size:
                length = piece[position + 1]
                if length < 0x80:
                    short.append(position)
                    position += 2 + length
                    continue
                more = piece[position + 2]
                if more < 0x80:
                    short.append(position)
                    position += 3 + (length & 0x7F | more << 7)
                    continue
            field = next(plane.space.fields(base + position, end))
            position = field.end - base
            if field.number == 4:
                _add_short(piece, short, base, begins, ends)
                short = []
                begins.append(field.value)
                ends.append(field.end)
            else:
                others += data[field.start : field.end]
        _add_short(piece, short, base, begins, ends)
        base += position
        if base > end:
            raise Unavailable(f"the trace {plane.space.path.name} is damaged: it ends too early")
        plane.space.release(base - position, base)
        while len(begins) >= _BLOCK or (begins and (base >= end or base - begins[0] >= _HELD)):
            yield (
                np.frombuffer(begins[:_BLOCK], dtype=np.int64).copy(),
                np.frombuffer(ends[:_BLOCK], dtype=np.int64).copy(),
            )
            del begins[:_BLOCK], ends[:_BLOCK]


def _add_short(piece: bytes, tags: list[int], base: int, begins: array[int], ends: array[int]) -> None:
    """Add the begins and ends of the values of events that begin with these tags; their lengths take a byte or two."""
    if tags:
        bytes_ = np.frombuffer(piece, dtype=np.uint8)
        at = np.array(tags, dtype=np.int64)
        first = bytes_[at + 1].astype(np.int64)
        two = first >= 0x80
        length = np.where(two, first & 0x7F | bytes_[at + 2].astype(np.int64) << 7, first)
        at += base + 2 + two
        begins.frombytes(at.tobytes())
        ends.frombytes((at + length).tobytes())


def _decode(plane: Plane, begins: Ints, ends: Ints, unwanted: Ints) -> list[Any]:
    """kind, offset (ps), duration (ps), where the stats begin and how long they are, for a block of events."""
    low, high = int(begins[0]), int(ends[-1])
    buffer = plane.space.bytes_at(low, high)
    at, stop = begins - low, ends - low
    kind, at = _number(buffer, at, stop, _METADATA)
    if len(unwanted):
        places = np.searchsorted(unwanted, kind)
        wanted = unwanted[np.minimum(places, len(unwanted) - 1)] != kind
        if not wanted.all():
            kind, at, stop, begins, ends = kind[wanted], at[wanted], stop[wanted], begins[wanted], ends[wanted]
    offset, at = _number(buffer, at, stop, _OFFSET)
    _, at = _number(buffer, at, stop, _OCCURRENCES)
    duration, at = _number(buffer, at, stop, _DURATION)
    odd = np.flatnonzero((at != stop) & (buffer[at] != _STATS))
    stats = at + low
    for index in odd.tolist():
        start, end = int(begins[index]), int(ends[index])
        event = plane.space.parse("XEvent", start, end)
        kind[index], offset[index], duration[index] = event.metadata_id, event.offset_ps, event.duration_ps
        stats[index] = start  # the search for a stat passes over the other fields
    if len(at) and int((at - stop).max()) > 0:
        raise Unavailable(f"the trace {plane.space.path.name} is damaged: an event ends too early")
    return [kind, offset, duration, stats, (ends - stats).astype(np.int32)]


def _number(buffer: npt.NDArray[np.uint8], at: Ints, stop: Ints, tag: int) -> tuple[Ints, Ints]:
    """Return the number after ``tag`` if the tag is at ``at``, else 0; and the place after the number."""
    present = np.flatnonzero((at < stop) & (buffer[at] == tag)) if len(at) else at
    values = np.zeros(len(at), dtype=np.int64)
    after = at.copy()
    if len(present):
        numbers, places = _varints(buffer, at[present] + 1)
        values[present], after[present] = numbers, places
    return values, after


def _varints(buffer: npt.NDArray[np.uint8], at: Ints) -> tuple[Ints, Ints]:
    """Return the numbers in base 128 that begin at ``at``, and the places behind them."""
    byte = buffer[at]
    values = (byte & 0x7F).astype(np.uint64)
    after = at + 1
    going = np.flatnonzero(byte >= 0x80)
    shift = np.uint64(7)
    while len(going) and shift < 70:
        byte = buffer[np.minimum(after[going], len(buffer) - 1)]
        values[going] |= (byte & 0x7F).astype(np.uint64) << shift
        after[going] += 1
        going = going[byte >= 0x80]
        shift += np.uint64(7)
    return values.view(np.int64), after


def _find_stats(plane: Plane, begins: Ints, ends: Ints, wanted: Sequence[int]) -> Ints:
    """Find the begins [0] and ends [1] of the stats of these numbers, by number and event; -1 if an event has none."""
    found = np.full((2, len(wanted), len(begins)), -1, dtype=np.int64)
    if any(wanted):
        for block in _blocks(begins):
            _find_in_block(plane, begins[block], ends[block], wanted, found[:, :, block])
    return found


def _find_in_block(plane: Plane, begins: Ints, ends: Ints, wanted: Sequence[int], found: Ints) -> None:
    if not len(begins):
        return
    low, high = int(begins.min()), int(ends.max())
    buffer = plane.space.bytes_at(low, high)
    at, stop = begins - low, ends - low
    going = np.flatnonzero(at < stop)
    for _ in range(_MAX_STATS):
        if not len(going):
            return
        place = at[going]
        is_stat = buffer[place] == _STATS
        for index in going[~is_stat].tolist():  # another field than a stat: rare
            try:
                field = next(plane.space.fields(low + int(at[index]), low + int(stop[index])))
            except (StopIteration, Unavailable):
                at[index] = stop[index]
            else:
                at[index] = field.end - low
        going, place = going[is_stat], place[is_stat]
        length, inside = _varints(buffer, place + 1)
        length = np.clip(length, 0, stop[going] - inside)
        number, _ = _number(buffer, inside, inside + length, _METADATA)
        for index, each in enumerate(wanted):
            hit = (number == each) if each else np.zeros(len(number), dtype=bool)
            if hit.any():
                found[0, index, going[hit]] = inside[hit] + low
                found[1, index, going[hit]] = inside[hit] + length[hit] + low
        at[going] = inside + length
        going = np.flatnonzero(at < stop)
