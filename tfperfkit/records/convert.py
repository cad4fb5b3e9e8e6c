"""A probe's records with their types: for any probe's ``analyze``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar, runtime_checkable

import msgspec

_Record = TypeVar("_Record")


class Streams(Protocol):
    """Whatever holds streams by name: a Capture, a run directory."""

    def records(self, stream: str) -> Iterator[Any]: ...


@runtime_checkable
class Typed(Protocol):
    """Rows that know themselves by type, quicker than one by one."""

    def read_kind(self, kind: type[_Record], /) -> Iterable[_Record]: ...


def read(streams: Streams, stream: str, kind: type[_Record]) -> list[_Record]:
    """Return the records of a stream, converted to ``kind``; a damaged one costs itself, not the report."""
    return list(each(streams.records(stream), kind))


def each(rows: Iterator[Any], kind: type[_Record]) -> Iterator[_Record]:
    """Return the rows that are of this kind."""
    return iter(rows.read_kind(kind)) if isinstance(rows, Typed) else _converted(rows, kind)


def _converted(rows: Iterator[Any], kind: type[_Record]) -> Iterator[_Record]:
    for row in rows:
        try:
            yield msgspec.convert(row, kind)
        except msgspec.ValidationError:
            continue
