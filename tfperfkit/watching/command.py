"""``tfperf poke``: a window of a run that is watched, now."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from tfperfkit.clock import start_ticks, this_machine
from tfperfkit.config import find_run
from tfperfkit.errors import UsageError
from tfperfkit.records.rank import holds_parts
from tfperfkit.storage.run_directory import RunDirectory
from tfperfkit.watching.asking import answer, ask

#: The process looks each other second; a call that holds the interpreter's lock may keep it longer.
_PATIENCE_S = 15.0


def poke(name: str) -> None:
    """Raises UsageError or RunDirectoryError, in one line, where there is nobody to ask."""
    folder = find_run(name)
    if holds_parts(folder):
        raise UsageError(f"{folder} has a part for each rank: poke one of them, such as {name}/rank-0")
    run, manifest = RunDirectory.open(folder)
    shown = name if name == "last" else os.path.relpath(folder)
    if manifest.watch is None:
        raise UsageError(f"{shown} is not watched: only tfperf run --watch-only opens windows later")
    _check_runs(run, shown)
    try:
        number = ask(folder, "poke", "asked for by tfperf poke")
    except OSError as error:
        raise UsageError(f"can't write into {folder}: {error.strerror or error}") from error
    until = time.monotonic() + _PATIENCE_S
    while (found := answer(folder, number)) is None:
        if time.monotonic() > until:
            _check_runs(run, shown)
            click.echo(
                f"No answer within {_PATIENCE_S:.0f} s: the process is stopped, or a call holds the interpreter's "
                "lock. The window opens when it goes on."
            )
            return
        time.sleep(0.1)
    if found.refused:
        raise UsageError(f"no window: {found.refused}")
    click.echo(f"A window opens with the next steps. When it is over: tfperf report {Path(shown) / found.window}")


def _check_runs(run: RunDirectory, shown: str) -> None:
    """Refuse a run that has ended, as far as that can be told from here."""
    if run.read_json("exit.json") is not None:
        raise UsageError(f"{shown} has ended: there is nothing to look at any more")
    agent = run.read_json("agent.json")
    if not isinstance(agent, dict):
        raise UsageError(f"{shown} has not imported TensorFlow yet: try again when it has")
    pid, started = agent.get("pid"), agent.get("started_ticks")
    same = agent.get("machine") == this_machine()
    if same and isinstance(pid, int) and isinstance(started, int) and start_ticks(pid) != started:
        raise UsageError(f"{shown} has ended: there is nothing to look at any more")
