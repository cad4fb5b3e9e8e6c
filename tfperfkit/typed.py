"""A probe's records with their types: for any probe's ``analyze``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from tfperfkit.probe import Capture

_Record = TypeVar("_Record")


def read(capture: Capture, stream: str, kind: type[_Record]) -> list[_Record]:
    """The records of a stream, converted to ``kind``; a damaged one costs itself, not the report."""
    return list(each(capture.records(stream), kind))


def each(rows: Iterator[Any], kind: type[_Record]) -> Iterator[_Record]:
    """The rows that are of this kind."""
    for row in rows:
        try:
            yield msgspec.convert(row, kind)
        except msgspec.ValidationError:
            continue
