"""Just enough of protobuf's wire format to cut a large message into parts without parsing it whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

#: Of one message. 512 MB of events as the profiler writes them are 20 million.
MAX_FIELDS = 25_000_000


class Bytes(Protocol):
    """``bytes`` or a memory map: indexing gives ints, slicing gives bytes."""

    def __getitem__(self, index: int, /) -> int: ...


class Damaged(ValueError):
    """The bytes are no protobuf message, or end too early."""


class FieldSpan(NamedTuple):
    """One field of a message: ``start`` is its tag's first byte, ``[value, end)`` its value without the length."""

    number: int
    start: int
    value: int
    end: int


def fields(data: Bytes, start: int, end: int) -> Iterator[FieldSpan]:
    """Yield the fields of the message in ``data[start:end]``, in order. Raises ``Damaged``."""
    position = start
    while position < end:
        field_start = position
        tag, position = _varint(data, position, end)
        number, wire_type = tag >> 3, tag & 7
        value = position
        if wire_type == 2:
            length, value = _varint(data, position, end)
            position = value + length
        elif wire_type == 0:
            _, position = _varint(data, position, end)
        elif wire_type == 1:
            position += 8
        elif wire_type == 5:
            position += 4
        else:
            raise Damaged(f"wire type {wire_type} at byte {field_start}")
        if number == 0:
            raise Damaged(f"field number 0 at byte {field_start}")
        if position > end:
            raise Damaged(f"it ends too early: the field at byte {field_start} needs {position - end} bytes more")
        yield FieldSpan(number, field_start, value, position)


def parts(
    data: Bytes, start: int, end: int, number: int, part_bytes: int
) -> tuple[list[tuple[int, int]], list[FieldSpan]]:
    """Cut a message between fields into parts of about ``part_bytes``, each of which is a message too.

    Gives the parts, and the fields other than ``number``, which must be the message's many. Raises ``Damaged``.
    """
    tag = number << 3 | 2
    cuts: list[tuple[int, int]] = []
    others: list[FieldSpan] = []
    position = begin = start
    count = 0
    while position < end:
        count += 1
        # A short field of that number, the usual case, is skipped on a fast path: there are millions.
        if data[position] == tag and position + 2 < end and data[position + 2] < 0x80:
            length = data[position + 1]
            position += 2 + length if length < 0x80 else 3 + (length & 0x7F) + (data[position + 2] << 7)
        elif data[position] == tag and position + 1 < end and data[position + 1] < 0x80:
            position += 2 + data[position + 1]
        else:
            field = next(fields(data, position, end))
            if field.number != number:
                others.append(field)
            position = field.end
        if position > end:
            raise Damaged(f"it ends too early: {position - end} bytes are missing")
        if position - begin >= part_bytes:
            if count > MAX_FIELDS:
                raise Damaged(f"it has more than {MAX_FIELDS} parts")
            cuts.append((begin, position))
            begin = position
    if begin < end:
        cuts.append((begin, end))
    return cuts, others


def _varint(data: Bytes, position: int, end: int) -> tuple[int, int]:
    result = shift = 0
    while position < end and shift < 70:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
    raise Damaged(f"a number does not end at byte {position}")
