"""The session that records in this process, if any, its end in forked children, and the folder of a child that
trains."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Protocol

import msgspec

from tfperfkit.clock import NS_PER_S, now_ns, wall_s
from tfperfkit.storage.run_directory import PHASES, RECORDS, STACKS, Manifest, RunDirectory


class Recorder(Protocol):
    """Session as this module uses it."""

    @property
    def finished(self) -> bool: ...
    def abandon(self) -> None: ...


_active: weakref.ref[Recorder] | None = None
_fork_hooked = False


def active_session() -> Recorder | None:
    """Return the session that records now; None when there is none or it has ended."""
    session = _active() if _active is not None else None
    return session if session is not None and not session.finished else None


def activate(session: Recorder) -> None:
    """Make this the process's session. A forked child abandons it: it records nothing."""
    global _active, _fork_hooked
    _active = weakref.ref(session)
    if not _fork_hooked:
        _fork_hooked = True
        os.register_at_fork(after_in_child=_abandon)


def _abandon() -> None:
    session = active_session()
    if session is not None:
        session.abandon()


def furnish(root: Path, part: Path) -> None:
    """Make the part of a child that trains a run directory with the settings of the run ``root``, as it imports
    TensorFlow. Raises RunDirectoryError or OSError."""
    _, whole = RunDirectory.open(root)
    run, own = RunDirectory.open(part)
    run.write_json(
        "run.json",
        Manifest(
            tfperfkit_run=whole.tfperfkit_run,
            argv=own.argv,
            cwd=own.cwd,
            python=own.python,
            probes=whole.probes,
            options=whole.options,
            windows=whole.windows,
            steps_from=whole.steps_from,
            started_ns=own.started_ns,
            started_wall_s=wall_s() - (now_ns() - own.started_ns) / NS_PER_S,
            tool_version=whole.tool_version,
            revision=whole.revision,
            user_roots=whole.user_roots,
            left_out=whole.left_out,
            shown=whole.shown,
            child=msgspec.structs.replace(own.child, trains=True) if own.child is not None else None,
        ),
    )
    for folder in (run.session, run.trace, run.path / "probes"):
        folder.mkdir(exist_ok=True)
    for file in (run.path / RECORDS, run.session / f"{PHASES}.jsonl", run.session / STACKS):
        file.touch()
