"""Files inside a run directory: the only place that opens them to read, or to add one later.

A run directory may come from anybody. No link in it is followed, so nothing outside is read or written; a pipe, a
socket or a device is never opened, so nothing blocks; what is too large, nested too deep or holds numbers that are
none of ours is left out, so memory stays bounded. Everything is data: JSON and protobuf, never executed.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

#: Of one file, no more than this is read: a stream as it is written ends at 24 MB.
MAX_BYTES = 64 * 1024 * 1024
#: So many JSON values of one file are read. A full stream has 5 million, and 12 if they were the shortest.
MAX_VALUES = 13_000_000
#: Our own records are nested 10 levels deep at most; Python's own ``repr`` gives up at some hundreds.
MAX_LEVELS = 50
#: Trace files of a run that are looked at.
MAX_TRACES = 1000

_ENDING = ".xplane.pb"
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NAMED = re.compile(rb'^\["([\w/.-]{1,200})",(.*)\]\n', re.ASCII | re.MULTILINE)
_DIGITS = b"0" * 19  # of a whole number: it may not fit into 64 bits
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}\n"))
#: So much of a file is looked at at once: long streams have millions of short lines.
_BLOCK = 1 << 20

Record = TypeVar("Record")


def open_file(root: Path, relative: str) -> BinaryIO:
    """Open a regular file below ``root``, to read. Raises OSError for anything else, a link on the way included."""
    folder, name = _descend(root, relative)
    try:
        _regular(os.stat(name, dir_fd=folder, follow_symlinks=False), relative)
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _FLAGS, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        _regular(os.fstat(descriptor), relative)  # it may have been changed since
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def write_file(root: Path, relative: str, data: bytes) -> None:
    """Write a file below ``root``, whole or not at all; what had its name is replaced, a link too. Raises OSError."""
    folder, name = _descend(root, relative)
    temporary = f".{os.getpid()}.{os.urandom(4).hex()}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o644, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(temporary, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def read_json(root: Path, relative: str) -> Any:
    """Return the value in a JSON file; None if it is missing, damaged, too large or no file of its own."""
    try:
        with open_file(root, relative) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    if len(data) > MAX_BYTES or _values(data) > MAX_VALUES:
        return None
    try:
        return _decoded(data)
    except ValueError:
        return None


def read_stream(root: Path, relative: str, too_much: Callable[[str], object] = lambda name: None) -> Iterator[Any]:
    """Yield the records of a file of JSON lines, in order. Lines that are cut or damaged are left out.

    ``too_much`` is called with the file's name when it holds more than is read.
    """
    for block in _blocks(root, relative, too_much):
        yield from records(block)


def read_streams(root: Path, relative: str, too_much: Callable[[str], object] = lambda name: None) -> dict[str, bytes]:
    """Return the lines of a file of many streams, ``["name",record]`` each, as the lines that each stream would have
    alone."""
    found: dict[bytes, list[bytes]] = {}
    for block in _blocks(root, relative, too_much):
        for name, record in _NAMED.findall(block):
            found.setdefault(name, []).append(record)
    return {name.decode(): b"\n".join(lines) + b"\n" for name, lines in found.items()}


def records(lines: bytes) -> Iterator[Any]:
    """Return the records of the lines of a stream."""
    return _each(lines, Any)


def typed(lines: bytes, kind: type[Record]) -> Iterator[Record]:
    """Those records of the lines of a stream that are of this kind."""
    return _each(lines, kind)


def _each(lines: bytes, kind: Any) -> Iterator[Any]:
    """Block by block, where nothing in a block is damaged or needs a closer look; else line by line."""
    decoder = msgspec.json.Decoder(kind)
    file = io.BytesIO(lines)
    while block := file.read(_BLOCK) + file.readline():
        try:
            if _may_be_deep(block) or _has_long_numbers(block):
                raise ValueError
            rows: Iterable[Any] = (found := decoder.decode_lines(block))
            if len(found) != block.count(b"\n") + (not block.endswith(b"\n")):
                raise ValueError  # a line is empty, or more than one record
        except (ValueError, RecursionError):  # what msgspec raises is a ValueError
            rows = _by_line(block, kind)
        yield from rows


def _by_line(block: bytes, kind: Any) -> Iterator[Any]:
    for line in io.BytesIO(block):
        try:
            yield msgspec.convert(_decoded(line), kind)
        except ValueError:
            continue


def _blocks(root: Path, relative: str, too_much: Callable[[str], object]) -> Iterator[bytes]:
    """Whole lines of a file, many at once, as far as it is read."""
    try:
        file = open_file(root, relative)
    except OSError:
        return
    left_bytes, left_values = MAX_BYTES, MAX_VALUES
    with file:
        while True:
            try:
                block = file.read(min(_BLOCK, left_bytes + 1))
                block += file.readline(max(left_bytes + 1 - len(block), 0))
            except OSError:
                return
            left_bytes -= len(block)
            left_values -= _values(block) if block else 0
            if left_bytes < 0 or left_values < 0:
                yield _kept(block, left_bytes + len(block), left_values + _values(block))
                too_much(relative)
                return
            if not block.endswith(b"\n"):  # the end, or the process died while writing the line
                yield block[: block.rfind(b"\n") + 1]
                return
            yield block


def _kept(block: bytes, left_bytes: int, left_values: int) -> bytes:
    """Return the lines of a block up to a limit."""
    end = 0
    for line in io.BytesIO(block):
        left_bytes -= len(line)
        left_values -= _values(line)
        if left_bytes < 0 or left_values < 0 or not line.endswith(b"\n"):
            break
        end += len(line)
    return block[:end]


def trace_files(trace_dir: Path) -> list[Path]:
    """Return the profiler's traces in a log directory, sorted: files of their own, reached without any link."""
    found: list[Path] = []
    top = trace_dir / "plugins" / "profile"
    if any(_kind(folder) != stat.S_IFDIR for folder in (trace_dir, trace_dir / "plugins", top)):
        return found
    for session in _names(top):
        folder = top / session
        if _kind(folder) != stat.S_IFDIR:
            continue
        for name in _names(folder):
            if name.endswith(_ENDING) and _kind(folder / name) == stat.S_IFREG and len(found) < MAX_TRACES:
                found.append(folder / name)
    return sorted(found)


def names(root: Path, relative: str) -> list[str]:
    """Return the names in a folder below ``root`` that is reached without any link; none where there is no such
    folder."""
    try:
        folder, name = _descend(root, relative)
        try:
            below = os.open(name, _FOLDER | _FLAGS, dir_fd=folder)
        finally:
            os.close(folder)
        try:
            return sorted(os.listdir(below))[:MAX_TRACES]
        finally:
            os.close(below)
    except OSError:
        return []


def _descend(root: Path, relative: str) -> tuple[int, str]:
    """Return a descriptor of the folder that holds the file, and its name there."""
    *folders, name = relative.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in (*folders, name)):
        raise OSError(errno.EINVAL, "not a name within a run directory", relative)
    descriptor = os.open(root, _FOLDER)
    for part in folders:
        try:
            below = os.open(part, _FOLDER | _FLAGS, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor, name


def _regular(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", name)


def _kind(path: Path) -> int:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return 0


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(MAX_TRACES), strict=False)]
    except OSError:
        return []


def _values(data: bytes) -> int:
    """Return how many JSON values there are at most; a line counts for three, for whoever looks at it in vain."""
    lines = max(data.count(b"\n"), 1)
    return 3 * lines + data.count(b",") + data.count(b"[") + data.count(b"{") + data.count(b":")


def _decoded(data: bytes) -> Any:
    """Raises ValueError for what is no JSON, nested too deep, or has a whole number beyond 64 bits."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if _may_be_deep(data) or _has_long_numbers(data):
        _check(value, 0)
    return value


def _has_long_numbers(data: bytes) -> bool:
    return _DIGITS in data.translate(_AS_ZEROS)


def _may_be_deep(data: bytes) -> bool:
    """Return whether a line may be; quick, and never wrong when it says no. Brackets inside of texts may make it say
    yes."""
    brackets = data.translate(None, _NOT_BRACKETS)
    for _ in range(MAX_LEVELS // 2):  # each iteration takes a level away, or two
        if brackets.count(b"\n") == len(brackets):
            return False
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return brackets.count(b"\n") != len(brackets)


def _check(value: Any, level: int) -> None:
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ValueError("a number beyond 64 bits")
    elif isinstance(value, list | dict):
        if level >= MAX_LEVELS:
            raise ValueError("nested too deep")
        for item in value if isinstance(value, list) else value.values():
            _check(item, level + 1)
