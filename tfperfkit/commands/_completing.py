"""Completions for a shell: arguments and values of our commands, such as runs, codes of findings, files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

#: As many runs are offered, the newest.
_RUNS = 40
Completer = Callable[[click.Context, str], list[CompletionItem]]


def complete(command: click.Command) -> click.Command:
    """Return the command, whose arguments and options are completed by what they stand for."""
    for name, each in getattr(command, "commands", {}).items():
        command.commands[name] = complete(each)  # type: ignore[attr-defined]  # a group has them
    for param in command.params:
        made = _ARGUMENTS.get(param.name or "") if isinstance(param, click.Argument) else None
        made = made or _VALUES.get(getattr(param, "metavar", None) or "")
        if made is not None:
            param.shell_complete = made  # type: ignore[method-assign]
    return command


def files(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the shell's own completion of files."""
    return [CompletionItem(incomplete, type="file")]


def folders(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the shell's own completion of folders."""
    return [CompletionItem(incomplete, type="dir")]


def runs(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Names of the runs folder; folders where one is being typed."""
    from tfperfkit.config import runs_folder
    from tfperfkit.runs.listing import names as recorded

    try:
        found = recorded(runs_folder())
    except Exception:  # no folder of runs, or one that can't be read
        found = []
    offered = [name for name in ("last", *sorted(found, key=_time_of_run, reverse=True)) if name.startswith(incomplete)]
    return [CompletionItem(name) for name in offered[:_RUNS]] or folders(ctx, incomplete)


def _time_of_run(name: str) -> str:
    """Return the month, day and time at the end of a run's name."""
    return "-".join(name.split("-")[-2:])


def codes(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Codes of findings."""
    from tfperfkit.explain.pages import findings

    return [CompletionItem(code) for code in findings() if code.startswith(incomplete.upper())]


def shells(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Those that can complete."""
    return [CompletionItem(name) for name in ("bash", "zsh", "fish") if name.startswith(incomplete)]


_ARGUMENTS: dict[str, Any] = {
    "run": runs,
    "runs": runs,
    "folder": folders,
    "identity": codes,
    "topic": codes,
    "path": files,
    "shell": shells,
}
_VALUES: dict[str, Any] = {"FILE": files, "DIR": folders}
