"""The run directory: layout, schema version, streaming writes and tolerant reads.

Layout (schema 1)::

    RUN/run.json            the manifest, written by the parent before the script starts
    RUN/agent.json          what the script's process said when TensorFlow was there
    RUN/exit.json           how the script ended, written by the parent
    RUN/session/*.jsonl     steps' markers, stack samples, file opens, traces of tf.functions, events
    RUN/sources.jsonl       source files of the person's own code that reports quote
    RUN/probes/NAME/        each probe's own folder
    RUN/trace/              profiler traces in TensorBoard's layout

Nothing in it is ever unpickled or executed, and no link in it is followed: ``inside`` opens its files.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit import inside
from tfperfkit.errors import RunDirectoryError, Unavailable

SCHEMA = 1
#: No single stream grows beyond this; what comes later is counted as dropped.
MAX_STREAM_BYTES = 24 * 1024 * 1024
_RESERVED_BYTES = 8192
_PAUSE_RECORDS = 4096  # a stream that nobody flushes is flushed by its writer

#: How the ``failure`` of a stream begins when a record, not the disk, was at fault.
NOT_JSON = "a record can't be written as JSON"


def plain(value: Any) -> Any:
    """For msgspec's ``enc_hook``: NumPy's numbers and arrays as Python's, anything else that is foreign as words."""
    as_list = getattr(value, "tolist", None)
    return as_list() if callable(as_list) else str(value)


_encoder = msgspec.json.Encoder(enc_hook=plain)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """``run.json``: what was asked for."""

    tfperfkit_run: int  # the schema; also what tells our directory from another
    argv: list[str]
    cwd: str
    python: str
    probes: list[str]
    options: dict[str, dict[str, Any]] = {}
    windows: dict[str, str] = {}
    steps_from: str | None = None
    started_ns: int = 0
    started_wall_s: float = 0.0
    tool_version: str = ""
    user_roots: list[str] = []
    in_process: bool = False
    last_step: int | None = None  # recording ends after this step
    shown: list[str] | None = None  # probes whose sections the report shows in full; None: all


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """``exit.json``. ``status`` is the exit status, negative for a signal, None when it is not known."""

    status: int | None
    ended_ns: int
    interrupted: bool = False
    failed: bool = False


class RunDirectory:
    """Paths of a run directory, with the writes and reads that everything else goes through."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def session(self) -> Path:
        return self.path / "session"

    @property
    def trace(self) -> Path:
        return self.path / "trace"

    def probe(self, name: str) -> Path:
        """The folder of a probe. A name can't lead out of the run directory."""
        if not name or name != Path(name).name or name in (".", ".."):
            raise RunDirectoryError(f"not a probe's name: {name!r}")
        return self.path / "probes" / name

    def make_probe(self, name: str) -> None:
        """Make the folder of a probe. Raises Unavailable when the run directory has gone: it is not made anew while the
        script lives, who removed it meant it."""
        if not self.path.is_dir():
            raise Unavailable("the run directory is gone")
        (self.path / "probes").mkdir(exist_ok=True)
        self.probe(name).mkdir(exist_ok=True)

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> RunDirectory:
        """Make the directory and its manifest; raises RunDirectoryError when it can't be written."""
        run = cls(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if (path / "run.json").exists():
                raise RunDirectoryError(
                    f"{path} already holds a run: give another --out, or remove that folder first"
                )
            for part in (run.session, run.trace, run.path / "probes"):
                part.mkdir(exist_ok=True)
            run.write_json("run.json", manifest)
        except OSError as error:
            raise RunDirectoryError(
                f"can't write the run directory {path}: {error.strerror or error}; give another one with --out"
            ) from error
        return run

    @classmethod
    def open(cls, path: Path) -> tuple[RunDirectory, Manifest]:
        """Open an existing run directory; raises RunDirectoryError in one line when it is not one we can read."""
        run = cls(path)
        if not path.exists():
            raise RunDirectoryError(f"no such run: {path}")
        if not path.is_dir() or not (path / "run.json").is_file():
            raise RunDirectoryError(f"not a run directory of tfperf: {path} (it has no run.json)")
        raw = run.read_json("run.json")
        if not isinstance(raw, dict) or "tfperfkit_run" not in raw:
            raise RunDirectoryError(f"not a run directory of tfperf: {path} (its run.json is damaged or not ours)")
        if raw["tfperfkit_run"] != SCHEMA:
            raise RunDirectoryError(
                f"{path} has schema {raw['tfperfkit_run']!r}; this version reads schema {SCHEMA}: "
                "use the version of tfperfkit that recorded it"
            )
        try:
            return run, msgspec.convert(raw, Manifest)
        except msgspec.ValidationError as error:
            raise RunDirectoryError(f"{path}: run.json is damaged ({error})") from error

    def write_json(self, name: str, record: Any) -> None:
        """Write a small JSON file whole: a reader sees the old one or the new one, never half of it."""
        target = self.path / name
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            temporary.write_bytes(_encoder.encode(record))
            os.replace(temporary, target)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def read_json(self, name: str) -> Any:
        """Read a JSON file; None if it is missing, too large or damaged."""
        return inside.read_json(self.path, name)

    def records(self, relative: str) -> Iterator[Any]:
        """The records of a stream, e.g. ``session/markers.jsonl``; see ``read_stream``."""
        return inside.read_stream(self.path, relative)


class StreamWriter:
    """An append-only file of JSON lines. ``append`` only remembers; ``flush`` encodes and writes.

    A write that fails ends the stream for good, unless it is ``patient``: then what could not be written is kept for
    the next flush. A record that can't be encoded costs itself only. ``lost`` counts what is missing and ``failure``
    says why.
    """

    def __init__(self, path: Path, limit_bytes: int = MAX_STREAM_BYTES, patient: bool = False) -> None:
        self.path = path
        self._patient = patient
        self.lost = 0
        self.failure: str | None = None
        self._pending: list[Any] = []
        self._written = 0
        self._base = 0  # what the file held before us, in bytes
        self._limit = limit_bytes
        self._descriptor = -1
        self._identity = (0, 0)  # device and inode of the file that we opened
        self._ended = False
        self._writing = threading.Lock()

    def append(self, record: Any) -> None:
        self._pending.append(record)
        if len(self._pending) >= _PAUSE_RECORDS:
            self.flush()

    def flush(self) -> None:
        # Never waits: who finds a write under way (on another thread, or on this one when the garbage collector or a
        # signal calls back in the middle of it) leaves its records to the next.
        if self._writing.acquire(blocking=False):
            try:
                self._flush()
            finally:
                self._writing.release()

    def _flush(self) -> None:
        # Swapping the list is atomic under the GIL, so appending threads never wait for a disk.
        pending, self._pending = self._pending, []
        if not pending:
            return
        if self._ended:
            self.lost += len(pending)
            return
        data = b"".join(self._encoded(pending))
        try:
            if self._written + len(data) > self._limit:
                self._end(f"more than {self._limit // (1024 * 1024)} MB", len(pending))
                return
            descriptor = self._opened()
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            self._written += len(data)
        except Exception as error:
            if self._is_ours():
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, self._base + self._written)  # half a batch would hide its own end
            if self._patient and len(pending) < _PAUSE_RECORDS:
                self._pending = pending + self._pending
                return
            self._end((error.strerror if isinstance(error, OSError) else None) or str(error), len(pending))

    def _opened(self) -> int:
        if self._is_ours():
            return self._descriptor
        # A script may close all descriptors (a daemon does): the number may be another file's by now, not ours to use.
        self.path.parent.mkdir(exist_ok=True)  # not its parents: who removed the run directory meant it
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(self.path, flags, 0o644)
        status = os.fstat(self._descriptor)
        self._identity = (status.st_dev, status.st_ino)
        self._base = status.st_size - self._written
        return self._descriptor

    def _is_ours(self) -> bool:
        if self._descriptor < 0:
            return False
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def _close(self) -> None:
        if self._is_ours():
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = -1

    def _encoded(self, records: list[Any]) -> Iterator[bytes]:
        for record in records:
            try:
                yield _encoder.encode(record) + b"\n"
            except Exception as error:  # foreign objects raise what they like
                self.lost += 1
                self.failure = self.failure or f"{NOT_JSON} ({type(error).__name__}: {error})"

    def _end(self, reason: str, lost: int) -> None:
        self._ended = True
        self.failure = reason
        self.lost += lost

    def discard(self) -> None:
        """In a forked child: what was remembered is the parent's to write, and nothing more comes from here."""
        self._ended = True
        self._pending = []
        self._close()

    def close(self) -> None:
        """Write what is left and end the stream. Waits at most a second for a write that is under way."""
        if not self._writing.acquire(timeout=1.0):
            return
        try:
            self._flush()
            self._flush()  # what was appended from within the write
        finally:
            self._close()
            self._ended = True
            self.failure = self.failure or "closed"
            self._writing.release()


def read_stream(path: Path) -> Iterator[Any]:
    """The records of a stream, in order. Lines that are cut or damaged are left out; a missing file has none."""
    return inside.read_stream(path.parent, path.name)
