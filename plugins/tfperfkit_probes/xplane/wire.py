"""Just enough of protobuf's wire format to cut a large message into parts without parsing it whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol


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
    """The fields of the message in ``data[start:end]``, in order. Raises ``Damaged``."""
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
