"""``tfperf try`` and ``tfperf prove``: what they run, how a signal ends them, and the list of experiments."""

from __future__ import annotations

import os
import re
import signal
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import msgspec

from tfperfkit.config import find_run
from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.launch import target
from tfperfkit.launch.arguments import Split
from tfperfkit.records.trials import TrialReport
from tfperfkit.trials import PROVE_TIME
from tfperfkit.trials.choice import Choice, varied
from tfperfkit.trials.prove import prove_run
from tfperfkit.trials.session import Wishes, run_trials, terminal, working_folder

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|)")
_SECONDS = {"s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}


def try_changes(parts: Split, options: dict[str, Any]) -> int:
    """Returns the exit status; raises UsageError."""
    choice = Choice()
    target.check(parts)
    changes = [choice.typed(text) for text in options["changes"]]
    variants = []
    if changes:
        groups = [[change] for change in changes] if options["each"] else [changes]
        variants += [choice.variant(group) for group in groups]
    for text in options["vary"]:
        variants += varied(text, parts.script_arguments)
    if not variants and not options["everything"]:
        raise UsageError("nothing to try: name changes --with, give --vary or --all; tfperf try --list lists them")
    wishes = Wishes(
        variants=tuple(variants),
        choose=choice.headroom if options["everything"] else None,
        together=options["everything"],
        seconds=seconds(options["budget"]),
        steps=options["steps"],
        whole=options["whole"],
        in_place=options["in_place"],
        steps_from=options["steps_from"],
        folder=working_folder(),
        seed=options["seed"],
    )
    _check_json(options["json"])
    with stopped_by_signals() as struck:
        result = run_trials(parts, wishes, choice, terminal())
        return _show(result, options["json"], struck)


def prove(options: dict[str, Any]) -> int:
    """Returns the exit status; raises UsageError or RunDirectoryError."""
    _check_json(options["json"])
    with stopped_by_signals() as struck:
        result = prove_run(
            find_run(options["run"]),
            seconds(options["budget"]),
            only=options["only"] or "",
            in_place=options["in_place"],
            seed=options["seed"],
        )
        return _show(result, options["json"], struck)


def prove_after_run(folder: Path, file: TextIO) -> None:
    """For ``tfperf run --prove``: whatever goes wrong is a line, the script has had its run."""
    from tfperfkit.report.output import print_notice
    from tfperfkit.report.trials import render

    try:
        with stopped_by_signals():
            render(prove_run(folder, seconds(PROVE_TIME)), file)
    except TfperfError as error:
        print_notice(f"nothing was proven: {error}")


def seconds(text: str) -> float:
    """Of ``90s``, ``3m``; raises UsageError."""
    match = _TIME.fullmatch(text.strip().lower())
    if match is None or not float(match[1]) > 0:
        raise UsageError(f"--time {text}: a time is written 90s, 3m or 1h")
    return float(match[1]) * _SECONDS[match[2]]


def _check_json(file: str | None) -> None:
    if file and file != "-" and not os.access(Path(file).absolute().parent, os.W_OK):
        raise UsageError(f"can't write {file}")


def _show(result: TrialReport, json_file: str | None, struck: Struck) -> int:
    """On stdout; with ``--json -`` the JSON instead."""
    from tfperfkit.report.trials import render

    document = msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"
    if json_file == "-":
        sys.stdout.buffer.write(document)
        sys.stdout.flush()
    else:
        if json_file:
            try:
                Path(json_file).write_bytes(document)
            except OSError as error:
                raise UsageError(f"can't write {json_file}: {error.strerror}") from error
        render(result, sys.stdout)
    return struck.status if result.ended == "interrupted" else 0


_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Struck:
    """``number``: the first signal that asked to stop; that of Ctrl-C if no other did."""

    number: int = signal.SIGINT

    @property
    def status(self) -> int:
        """The exit status for that signal."""
        return 128 + self.number


@contextmanager
def stopped_by_signals() -> Iterator[Struck]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt as Ctrl-C does, so that what was measured is shown. The second one
    ends the process at once.

    A signal that is ignored (``nohup``) stays ignored.
    """
    struck = Struck()
    before: dict[int, object] = {}

    def stop(number: int, _: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        struck.number = number
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, stop)
    try:
        yield struck
    finally:
        for each in before:
            signal.signal(each, signal.SIG_DFL)


_KEEPS = {
    "results": "results are kept",
    "mathematics": "rounding may differ",
    "nothing": "results change",
    "ceiling": "no fix, a ceiling",
}
_WIDTH, _INDENT = 100, 4


def list_experiments() -> None:
    """Print for each experiment how it is typed, what it keeps and what it does."""
    for experiment in Choice().all():
        usage = getattr(experiment, "usage", "") or experiment.name
        print(f"{usage}  [{_KEEPS[experiment.keeps]}]")
        for line in textwrap.wrap(_describe(experiment), _WIDTH - _INDENT):
            print(" " * _INDENT + line)
    sys.stdout.flush()


def _describe(experiment: object) -> str:
    """Return the docstring of its module, without how it is typed."""
    text = " ".join((import_module(type(experiment).__module__).__doc__ or "").split())
    text = text.partition(": ")[2].replace("``", "") or text
    return text[:1].upper() + text[1:]
