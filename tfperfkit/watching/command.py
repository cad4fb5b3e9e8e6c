"""``tfperf poke``: a window of a run that is watched, or a trace of one that offers it, now."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from tfperfkit.clock import start_ticks, this_machine
from tfperfkit.config import find_run
from tfperfkit.errors import UsageError
from tfperfkit.records.rank import holds_parts
from tfperfkit.records.service import Service
from tfperfkit.storage.run_directory import RunDirectory
from tfperfkit.watching import on_demand
from tfperfkit.watching.asking import answer, ask

#: The process looks each other second; a call that holds the interpreter's lock may keep it longer.
_PATIENCE_S = 15.0


def poke(name: str, seconds: float = 1.0) -> None:
    """``seconds``: the length of a trace. Raises UsageError or RunDirectoryError, in one line, where there is nobody to
    ask."""
    folder = find_run(name)
    shown = name if name == "last" else os.path.relpath(folder)
    together = holds_parts(folder)
    parts = sorted(folder.glob("rank-*")) if together else [folder]
    services = {part: service for part in parts if (service := on_demand.offered(part)) is not None}
    if services:
        _trace(folder, shown, services, seconds)
        return
    if together:
        raise UsageError(
            f"{folder} has a part for each rank, and none offers a trace (tfperf run --profiler-service): poke one "
            f"that is watched, such as {name}/rank-0000"
        )
    run, manifest = RunDirectory.open(folder)
    if manifest.on_demand:
        _check_runs(run, shown)
        raise UsageError(f"{shown} has no profiler service: tfperf report says why")
    if manifest.watch is None:
        raise UsageError(
            f"{shown} is not watched: tfperf run --long-run opens windows later, and --profiler-service gives traces"
        )
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


def _trace(folder: Path, shown: str, services: dict[Path, Service], seconds: float) -> None:
    """Capture a trace of all processes that can be asked; the others are named."""
    addresses, left = [], []
    for part, service in services.items():
        name = shown if part == folder else part.name
        try:
            addresses.append(on_demand.address(service))
        except UsageError as reason:
            left.append(f"{name} {reason}")
    if not addresses:
        raise UsageError("; ".join(left))
    for line in left:
        click.echo(f"Left out: {line}")
    written = on_demand.trace(folder, addresses, seconds)
    traces = "1 trace" if len(written) == 1 else f"{len(written)} traces"
    click.echo(f"{traces} of {seconds:g} s: tfperf report {Path(shown) / on_demand.TRACES}")
    if len(written) < len(addresses):
        click.echo(f"{len(addresses) - len(written)} of the {len(addresses)} that were asked gave none.")


def _check_runs(run: RunDirectory, shown: str) -> None:
    """Refuse a run that has ended, as far as that can be seen from here."""
    if run.read_json("exit.json") is not None:
        raise UsageError(f"{shown} has ended: there is nothing to look at any more")
    agent = run.read_json("agent.json")
    if not isinstance(agent, dict):
        raise UsageError(f"{shown} has not imported TensorFlow yet: try again when it has")
    pid, started = agent.get("pid"), agent.get("started_ticks")
    same = agent.get("machine") == this_machine()
    if same and isinstance(pid, int) and isinstance(started, int) and start_ticks(pid) != started:
        raise UsageError(f"{shown} has ended: there is nothing to look at any more")
