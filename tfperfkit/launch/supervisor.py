"""The parent: starts the script in the real interpreter, passes signals on, survives it, knows how it ended.

The script inherits our stdin, stdout and stderr and stays in our process group, so that the terminal's Ctrl-C and
Ctrl-Z reach it as they would reach ``python``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.errors import RunDirectoryError, UsageError
from tfperfkit.launch import signals
from tfperfkit.launch.keeper import Keeper
from tfperfkit.launch.preload import Preload
from tfperfkit.storage.reserved_space import SMALL, Room
from tfperfkit.storage.run_directory import Exit, RunDirectory

_BOOTSTRAP = str(Path(__file__).with_name("bootstrap"))
#: The older a run, the rarer its files are looked through for new ones: after this part of its age, or a minute.
_HELD_PART, _HELD_NS = 60, 60 * NS_PER_S
_WITH_VALUE = ("W", "X")  # flags of Python whose value may be the next argument


class Live(Protocol):
    """Display while the script runs; neither method raises."""

    def look(self) -> None: ...

    def close(self) -> None: ...


class Ended(msgspec.Struct, frozen=True):
    """How the script ended. ``restored``: the run directory had been removed and was written back."""

    exit: Exit
    restored: bool = False

    @property
    def exit_code(self) -> int:
        """As a shell reports it: 128 + the number of the signal."""
        status = self.exit.status or 0
        return 128 - status if status < 0 else status


def interpreter(original: Sequence[str] | None = None) -> list[str]:
    """This interpreter, with the flags that it was itself started with (``-O``, ``-X dev``, ``-W``, ``-u`` …).

    Taken word for word from ``sys.orig_argv``: what Python makes of them can't be told from what the environment set.
    """
    words = list(sys.orig_argv if original is None else original)[1:]
    flags: list[str] = []
    while words and words[0].startswith("-") and words[0] not in ("-", "--"):
        word = words.pop(0)
        if word.startswith("--"):  # --check-hash-based-pycs default|always|never
            flags += [word, *words[:1]]
            del words[:1]
            continue
        kept, ends = "-", False
        for position, letter in enumerate(word[1:], 1):
            if letter in ("m", "c"):
                ends = True
                break
            kept += letter
            if letter in _WITH_VALUE:
                value = word[position + 1 :]
                if not value and words:
                    flags += [kept, words.pop(0)]
                    kept = "-"
                else:
                    kept += value
                break
        if kept != "-":
            flags.append(kept)
        if ends:
            break
    return [sys.executable, *([] if flags and flags == _of_launcher(words) else flags)]


def _of_launcher(words: Sequence[str]) -> list[str]:
    """Return the flags in the first line of the program that was started: those of whoever installed it (pipx writes
    ``-E``), not of a user, who would have given ``python train.py`` none.
    """
    try:
        with open(words[0] if words else "", "rb") as file:
            first = file.readline(1_000)
    except OSError:
        return []
    return os.fsdecode(first).split()[1:] if first.startswith(b"#!") else []


def unprofiled_reason() -> str | None:
    """Return why a script of this interpreter can't be recorded, or None."""
    if len(interpreter()) == 1:
        return None  # flags of our own launcher at most, which the script does not get
    if sys.flags.isolated or sys.flags.ignore_environment:
        return "Python runs with -I or -E, so it does not look at PYTHONPATH: the script runs unprofiled"
    if sys.flags.no_site:
        return "Python runs with -S, without the site module: the script runs unprofiled"
    return None


def environment(run: RunDirectory, profile: bool, family: Sequence[str] | None = None) -> dict[str, str]:
    """Return the environment that starts the agent; the agent restores the script's own before the script can see it.

    ``profile``: the script needs kernprof's ``profile`` in builtins. ``family``: children are recorded too, with these
    folders for user code.
    """
    changed = dict(os.environ)
    before = changed.get("PYTHONPATH")
    changed["TFPERF_RUN_DIRECTORY"] = str(run.path)
    if before is not None:
        changed["TFPERF_PYTHONPATH"] = before
    if profile:
        changed["TFPERF_PROFILE"] = "1"
    if family is not None:
        changed["TFPERF_CHILDREN"] = os.pathsep.join(["script", *family])
    changed["PYTHONPATH"] = _BOOTSTRAP + (os.pathsep + before if before else "")
    return changed


def explain(run: RunDirectory, probes: Sequence[str], reason: str) -> None:
    """Leave in the run directory why nothing was recorded, for the report."""
    events = run.session / "events.jsonl"
    notes: list[dict[str, object]] = [{"kind": "note", "text": f"Nothing was recorded: {reason}."}]
    notes += [{"kind": "probe", "probe": name, "status": "failed", "reason": reason} for name in probes]
    notes.append({"kind": "end", "ns": now_ns()})
    events.write_bytes(b"".join(msgspec.json.encode(note) + b"\n" for note in notes))
    run.write_json("agent.json", {"versions": {}})


def keep_room(run: RunDirectory) -> Room:
    """Put disk space aside for what is written at the end. Raises RunDirectoryError when the disk is full already."""
    try:
        return Room(run.path, SMALL)
    except OSError as error:
        (run.path / "run.json").unlink(missing_ok=True)  # nothing was run: the same --run-dir must do again
        raise RunDirectoryError(f"can't write the run directory {run.path}: {error.strerror}") from error


class Beside(Protocol):
    """Who looks at the run each ``pause_s`` while the script runs, and hears of a user's SIGUSR2."""

    @property
    def pause_s(self) -> float: ...
    def look(self) -> None: ...
    def signalled(self) -> None: ...


def supervise(
    command: Sequence[str],
    environ: dict[str, str] | None,
    run: RunDirectory,
    room: Room,
    live: Live | None = None,
    beside: Beside | None = None,
    first: Live | None = None,
) -> Ended:
    """Run the script to its end and write down how it ended; without ``environ`` in the environment as it is.

    ``room`` is given back then; ``live``, ``beside`` and ``first`` look now and then. Raises UsageError when the script
    can't be started.
    """
    keeper = Keeper(run.path)
    # Who draws or judges meanwhile imports for itself.
    preload = Preload(run) if environ is not None and live is None and beside is None else None

    begun = held = now_ns()

    def look() -> None:
        nonlocal held
        now = now_ns()
        if now - held >= min((now - begun) // _HELD_PART, _HELD_NS):
            held = now
            keeper.look()
        for looking in (live, beside, preload, first):
            if looking is not None:
                looking.look()

    with signals.relay(beside.pause_s if beside is not None else signals.LOOK_S) as relay:
        if beside is not None:
            relay.asked = beside.signalled
        try:
            child = subprocess.Popen(command, env=environ, close_fds=False, preexec_fn=relay.in_child)
        except (OSError, subprocess.SubprocessError) as error:
            raise UsageError(f"can't start {command[0]}: {error}") from error
        try:
            returncode = relay.wait(child, look)
        finally:
            for looked in (live, first):
                if looked is not None:
                    looked.close()
            if preload is not None:
                preload.finish()
    interrupted = relay.interrupted or returncode == -signal.SIGINT
    exit_record = Exit(status=returncode, ended_ns=now_ns(), interrupted=interrupted)
    restored = keeper.restore()
    keeper.close()
    room.free()
    _write(run, exit_record)
    return Ended(exit_record, restored)


def with_notes(run: RunDirectory, ended: Exit, notes: list[str]) -> Exit:
    """``ended`` with notes for the report, now and later."""
    if notes:
        ended = msgspec.structs.replace(ended, notes=notes)
        _write(run, ended)
    return ended


def _write(run: RunDirectory, ended: Exit) -> None:
    try:
        run.write_json("exit.json", ended)
    except OSError:
        pass  # the report that comes now knows it all the same
