"""A trace in Chrome's JSON format (``traceEvents``), gzipped, written as it comes: nothing is held in memory."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import BinaryIO

import msgspec

from tfperfkit.timeline import Slice

_encoder = msgspec.json.Encoder(enc_hook=str)
_LEVEL = 5


class ChromeTrace:
    """Writes slices. Groups become processes and tracks threads, shown in the order in which they first came.

    ``origin_ns`` is the time 0 of the file.
    """

    def __init__(
        self, file: BinaryIO, origin_ns: int, about: Mapping[str, object], tick: Callable[[int], None]
    ) -> None:
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=_LEVEL, mtime=0)
        self._packed = packed
        self._out = io.BufferedWriter(packed, 1 << 16)
        self._origin_ns = origin_ns
        self._groups: dict[str, int] = {}
        self._tracks: dict[tuple[str, str], int] = {}
        self._tick = tick
        self.count = 0
        self._out.write(b'{"displayTimeUnit":"ms","otherData":' + _encoder.encode(about) + b',"traceEvents":[')
        self._separator = b"\n"

    def add(self, item: Slice) -> None:
        process = self._groups.get(item.group) or self._new_group(item.group)
        thread = self._tracks.get((item.group, item.track)) or self._new_track(process, item.group, item.track)
        event: dict[str, object] = {
            "ph": "X",
            "pid": process,
            "tid": thread,
            "name": item.name,
            "ts": round((item.begin_ns - self._origin_ns) / 1000, 3),
            "dur": round(item.duration_ns / 1000, 3),
        }
        if item.args:
            event["args"] = item.args
        self._write(event)
        self.count += 1
        if self.count % 10_000 == 0:
            self._tick(self.count)

    def _new_group(self, name: str) -> int:
        process = self._groups[name] = len(self._groups) + 1
        self._describe("process_name", process, 0, {"name": name})
        self._describe("process_sort_index", process, 0, {"sort_index": process})
        return process

    def _new_track(self, process: int, group: str, name: str) -> int:
        thread = self._tracks[group, name] = len(self._tracks) + 1
        self._describe("thread_name", process, thread, {"name": name})
        self._describe("thread_sort_index", process, thread, {"sort_index": thread})
        return thread

    def _describe(self, what: str, process: int, thread: int, args: Mapping[str, object]) -> None:
        self._write({"ph": "M", "pid": process, "tid": thread, "name": what, "args": args})

    def _write(self, event: Mapping[str, object]) -> None:
        try:
            data = _encoder.encode(event)
        except UnicodeEncodeError:  # a lone surrogate in a file's name
            data = _encoder.encode(_printable(event))
        self._out.write(self._separator + data)
        self._separator = b",\n"

    def __enter__(self) -> ChromeTrace:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if kind is None:
            self._out.write(b"\n]}\n")
            self._out.flush()
            self._packed.close()


def _printable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return value
