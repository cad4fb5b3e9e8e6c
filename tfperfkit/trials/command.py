"""``tfperf try``: what it runs, how a signal ends it, and the list of experiments."""

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

from tfperfkit.config import find_run, is_run
from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.launch import target
from tfperfkit.launch.arguments import Split
from tfperfkit.records.trials import TrialReport
from tfperfkit.trials import FINDINGS_TIME, SCRIPT_TIME
from tfperfkit.trials.choice import Choice, varied
from tfperfkit.trials.findings import try_findings
from tfperfkit.trials.session import Wishes, run_trials, terminal, working_folder

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|)")
_SECONDS = {"s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}


#: The options that only a script, or only a run, has.
_OF_SCRIPT = {
    "--with": "changes",
    "--together": "together",
    "--all": "everything",
    "--vary": "vary",
    "--whole-run": "whole_run",
    "--steps": "steps",
    "--steps-from": "steps_from",
}
_OF_RUN = {"--only": "only"}


def try_changes(parts: Split, options: dict[str, Any]) -> int:
    """Measure the findings of the run, or the changes of the script, that ``parts.target`` names.

    Returns the exit status. Raises UsageError or RunDirectoryError.
    """
    folder = None if parts.is_module else _run_of(parts.target)
    refused, other = (_OF_RUN, "RUN") if folder is None else (_OF_SCRIPT, "SCRIPT")
    for option, name in refused.items():
        if options[name]:
            raise UsageError(
                f"{option} is for {other}, and {parts.target} is a {'script' if folder is None else 'run'}"
            )
    _check_json(options["json_file"])
    if folder is None:
        return _try_script(parts, options)
    if parts.script_arguments:
        raise UsageError(f"unexpected argument {parts.script_arguments[0]!r:.80} after the run {parts.target}")
    return _try_findings(folder, options)


def _run_of(name: str) -> Path | None:
    """Return the folder of the run that ``name`` means; None if it is a script."""
    if Path(name).is_file() or name.endswith(".py"):
        return None
    folder = find_run(name)
    return None if folder.is_dir() and not is_run(folder) else folder


def _try_script(parts: Split, options: dict[str, Any]) -> int:
    choice = Choice()
    target.check(parts)
    changes = [choice.typed(text) for text in options["changes"]]
    variants = []
    if changes:
        groups = [changes] if options["together"] else [[change] for change in changes]
        variants += [choice.variant(group) for group in groups]
    for text in options["vary"]:
        variants += varied(text, parts.script_arguments)
    if not variants and not options["everything"]:
        raise UsageError("nothing to try: give --with, --vary or --all (tfperf list experiments)")
    wishes = Wishes(
        variants=tuple(variants),
        choose=choice.headroom if options["everything"] else None,
        together=options["everything"],
        seconds=seconds(options["time_limit"] or SCRIPT_TIME),
        steps=options["steps"],
        whole=options["whole_run"],
        in_place=options["no_sandbox"],
        steps_from=options["steps_from"],
        folder=working_folder(),
        seed=options["seed"],
    )
    with stopped_by_signals() as struck:
        result = run_trials(parts, wishes, choice, terminal())
        return _show(result, options["json_file"], struck)


def _try_findings(folder: Path, options: dict[str, Any]) -> int:
    with stopped_by_signals() as struck:
        result = try_findings(
            folder,
            seconds(options["time_limit"] or FINDINGS_TIME),
            only=options["only"] or "",
            in_place=options["no_sandbox"],
            seed=options["seed"],
        )
        return _show(result, options["json_file"], struck)


def try_after_run(folder: Path, file: TextIO) -> None:
    """Measure the findings for ``tfperf run --try``. Every failure is one line, since the script has had its run."""
    from tfperfkit.report.output import print_notice
    from tfperfkit.report.trials import render

    try:
        with stopped_by_signals():
            render(try_findings(folder, seconds(FINDINGS_TIME)), file)
    except TfperfError as error:
        print_notice(f"nothing was measured: {error}")


def seconds(text: str) -> float:
    """Of ``90s``, ``3m``; raises UsageError."""
    match = _TIME.fullmatch(text.strip().lower())
    if match is None or not float(match[1]) > 0:
        raise UsageError(f"--time-limit {text}: a time is written 90s, 3m or 1h")
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
        """Return the exit status for that signal."""
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
