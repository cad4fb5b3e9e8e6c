"""The run directory: layout, schema version, streaming writes and tolerant reads.

Layout (schema 1)::

    RUN/run.json            the manifest, written by the parent before the script starts
    RUN/agent.json          what the script's process said when TensorFlow was there
    RUN/exit.json           how the script ended, written by the parent
    RUN/records.jsonl       all streams in one file, each line ["stream",record]: session/markers and the like (steps'
                            markers, stack samples, file opens, traces of tf.functions, events), sources (files of the
                            user's own code that reports quote), probes/NAME/STREAM
    RUN/session/            events.jsonl: why nothing was recorded, or what no longer went into records.jsonl
    RUN/probes/NAME/        each probe's own folder
    RUN/trace/              profiler traces in TensorBoard's layout
    RUN/summary.json, tables.json, patches.json, rank.json, proof.json
                            what a report, or ``tfperf try``, has left for the next one; a run needs none of them
    RUN/patched/            originals of the files that ``tfperf fix --apply`` changed
    RUN/children/           with --children: a part for each process that the script started, see ``records.children``
    RUN/details/, blocks/, windows/, minutes.jsonl, changes.jsonl, asked.json, answer.json
                            of watch mode only, see ``records.history``

Nothing in it is ever unpickled or executed, and no link in it is followed: ``inside`` opens its files.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tfperfkit.errors import RunDirectoryError, Unavailable
from tfperfkit.records.children import CHILDREN, ChildOrigin
from tfperfkit.records.convert import each
from tfperfkit.records.history import BLOCKS, DETAILS, WatchPlan
from tfperfkit.records.rank import Rank
from tfperfkit.records.service import OnDemand
from tfperfkit.records.silencing import Silencing
from tfperfkit.records.trials import TrialPlan
from tfperfkit.storage import ring, safe_reader
from tfperfkit.storage.stream_writer import encoder

SCHEMA = 1
#: All streams of the script's process, through one descriptor.
RECORDS = "records.jsonl"
#: Beside it: what each window was doing, ``[probe, phase, ns]``.
PHASES = "phases"
#: And what faulthandler has to say of a process that is struck in a window.
STACKS = "stacks.txt"

_Record = TypeVar("_Record")


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
    revision: str = ""  # of the working folder, where Git keeps it
    user_roots: list[str] = []
    in_process: bool = False
    require_gpu: bool = False  # the script must not train without one
    last_step: int | None = None  # recording ends after this step
    left_out: dict[str, str] = {}  # why the windows of these probes are not opened
    shown: list[str] | None = None  # probes whose sections the report shows in full; None: all
    module: bool | None = None  # whether argv names a module (-m); None: not known
    rank: Rank | None = None  # of several processes of one training
    watch: WatchPlan | None = None  # watch mode: no windows but where something changes, bounded files
    on_demand: OnDemand | None = None  # TensorFlow's profiler service is started, for these
    because: str = ""  # this is the run of a window that watch mode has opened: why
    children: bool = False  # processes that the script starts are recorded too
    child: ChildOrigin | None = None  # this is the part of such a process
    silencing: Silencing | None = None  # the findings that pyproject.toml silences
    trial: TrialPlan | None = None  # this is a trial: the changes to make, and when it ends


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """``exit.json``. ``status`` is the exit status, negative for a signal, None when it is not known."""

    status: int | None
    ended_ns: int
    interrupted: bool = False
    failed: bool = False
    notes: list[str] = []  # for the report


class Rows(Iterator[Any]):
    """The records of a stream, one after another, or (``of``) those of a kind, which are kept for who asks next."""

    def __init__(self, run: RunDirectory, relative: str) -> None:
        self._run, self._relative = run, relative
        self._next: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        if self._next is None:
            self._next = self._run.rows(self._relative)
        return self._next

    def __next__(self) -> Any:
        return next(iter(self))

    def read_kind(self, kind: type[_Record]) -> tuple[_Record, ...]:
        """Return all records of the stream that are of this kind."""
        return self._run.typed(self._relative, kind)


class RunDirectory:
    """Paths of a run directory, with the writes and reads that everything else goes through."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read_in_part: set[str] = set()  # files that are larger than ``inside`` reads
        self._recorded: dict[str, bytes] | None = None  # the lines of RECORDS by stream
        self._typed: dict[tuple[str, type], tuple[Any, ...]] = {}

    @property
    def session(self) -> Path:
        return self.path / "session"

    @property
    def trace(self) -> Path:
        return self.path / "trace"

    def probe(self, name: str) -> Path:
        """Return the folder of a probe. A name can't lead out of the run directory."""
        if not name or name != Path(name).name or name in (".", ".."):
            raise RunDirectoryError(f"not a probe's name: {name!r}")
        return self.path / "probes" / name

    def make_probe(self, name: str) -> None:
        """Make the folder of a probe.

        Raises Unavailable when the run directory has gone: it is not created again while the script lives, because its
        removal was intended.
        """
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
            run._claim(manifest)
        except FileExistsError as error:
            if not (path / "run.json").exists():
                raise RunDirectoryError(f"can't write the run directory {path}: something else is there") from error
            raise RunDirectoryError(
                f"{path} already holds a run: give another --run-dir, or remove that folder first"
            ) from error
        except OSError as error:
            raise RunDirectoryError(
                f"can't write the run directory {path}: {error.strerror or error}; give another one with --run-dir"
            ) from error
        return run

    def _claim(self, manifest: Manifest) -> None:
        """Write the manifest, first and only if there is none: of two runs that begin at once one is refused."""
        manifest_file = self.path / "run.json"
        with manifest_file.open("xb") as file:
            try:
                file.write(encoder.encode(manifest))
                file.flush()
                children = (self.path / CHILDREN,) if manifest.children else ()
                for part in (self.session, self.trace, self.path / "probes", *children):
                    part.mkdir(exist_ok=True)
                # Now, so that they can be written also when no file can be made any more.
                for file_now in (self.path / RECORDS, self.session / f"{PHASES}.jsonl", self.session / STACKS):
                    file_now.touch()
            except OSError as error:
                manifest_file.unlink(missing_ok=True)
                if isinstance(error, FileExistsError):  # of another file: the directory is not taken
                    raise NotADirectoryError(error.errno, "something else is there") from error
                raise

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
        """Write a whole small JSON file at once: a reader sees the old one or the new one, never a half."""
        target = self.path / name
        temporary = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            temporary.write_bytes(encoder.encode(record))
            os.replace(temporary, target)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def read_json(self, name: str) -> Any:
        """Read a JSON file; None if it is missing, too large or damaged."""
        return safe_reader.read_json(self.path, name)

    def records(self, relative: str) -> Rows:
        """Return the records of a stream, e.g. ``session/markers.jsonl``, in order; then those of a file of that name,
        if any. Lines that are cut or damaged are left out."""
        return Rows(self, relative)

    def rows(self, relative: str) -> Iterator[Any]:
        """Return the rows that ``records`` iterates over."""
        later = safe_reader.read_stream(self.path, relative, self.read_in_part.add)
        return itertools.chain(safe_reader.records(self._lines(relative)), later)

    def typed(self, relative: str, kind: type[_Record]) -> tuple[_Record, ...]:
        """Those records that are of a kind; read once, however many ask."""
        found = self._typed.get((relative, kind))
        if found is None:
            later = safe_reader.read_stream(self.path, relative, self.read_in_part.add)
            found = (*safe_reader.typed(self._lines(relative), kind), *each(later, kind))
            self._typed[relative, kind] = found
        return found

    def _lines(self, relative: str) -> bytes:
        if self._recorded is None:
            self._recorded = safe_reader.read_streams(self.path, RECORDS, self.read_in_part.add)
            for _, name in ring.files(self.path, DETAILS):
                for stream, lines in safe_reader.read_streams(self.path, name, self.read_in_part.add).items():
                    self._recorded[stream] = self._recorded.get(stream, b"") + lines
        return self._recorded.get(relative.removesuffix(".jsonl"), b"")

    def blocks(self) -> Iterator[Any]:
        """Yield the rows of some seconds that watch mode keeps, the last ones, in order."""
        for _, name in ring.files(self.path, BLOCKS):
            lines = safe_reader.read_streams(self.path, name, self.read_in_part.add)
            yield from safe_reader.records(lines.get("session/blocks", b""))


def read_stream(path: Path) -> Iterator[Any]:
    """Return the records of a stream, in order. Lines that are cut or damaged are left out; a missing file has none."""
    return safe_reader.read_stream(path.parent, path.name)
