"""``tfperf check``: runs the script, judges its counts, measures its time against a base, and tells the outcome."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.analysis.analyze import study
from tfperfkit.checking import worktree
from tfperfkit.checking.budget import DEFAULT_SLOWDOWN, Budget, read_budget
from tfperfkit.checking.counts import Run, judge
from tfperfkit.checking.render import annotated, junit, lines_of, markdown
from tfperfkit.checking.result import EXIT_STATUS, Checked, Measure, overall
from tfperfkit.checking.rounds import Failed, measure_time
from tfperfkit.checking.runner import Command, Ran, ended_by_signals, run
from tfperfkit.checking.timed import Timed
from tfperfkit.config import project, read_silencing, runs_folder
from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.model import Report
from tfperfkit.report.console import print_lines
from tfperfkit.report.github import github
from tfperfkit.report.json import encode_any
from tfperfkit.report.output import report_file, write_document
from tfperfkit.report.review import review
from tfperfkit.report.sarif import sarif
from tfperfkit.report.terminal import terminal_of
from tfperfkit.report.text import one_line
from tfperfkit.rule import Evidence

#: Returns a report whose findings have their patches.
WithPatches = Callable[[Report, Evidence], Report]
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def check(
    words: tuple[str, ...], options: Mapping[str, Any], documents: Sequence[tuple[str, str]], with_patches: WithPatches
) -> int:
    """Check the script and write the result; return the exit status: 0 kept, 1 not kept, 3 undecided.

    ``words`` is what is run, as after ``tfperf run``. ``documents`` holds each format with its file (``-``: stdout).
    ``with_patches`` adds the patches of findings to a report.
    """
    begun = time.monotonic()
    limit_s = seconds(str(options["time_limit"]))
    after = options["interrupt_after"]
    run_s = seconds(str(after), "interrupt-after") if after else None
    for _, target in documents:
        _check_writable(target)
    cwd = Path.cwd()
    command = Command(words, cwd, run_s, quiet=bool(options["quiet"]))
    if words[0] != "-m" and not Path(cwd, words[0]).exists():
        raise UsageError(f"no such script: {words[0]}")
    budget, file = read_budget(cwd)
    read_silencing(cwd)  # the run reads it again: a mistake there is said before it
    base = options["base"]
    if budget.is_empty and not base:
        raise UsageError(f"{file} has no [tool.tfperf.budget] to check: write one, or compare with --base REVISION")
    commit = worktree.resolved(cwd, base) if base else ""
    with ended_by_signals(), tempfile.TemporaryDirectory(prefix="tfperf-check-") as scratch:
        checked = _checked(command, budget, commit, Path(scratch), begun + limit_s, options["run_dir"], with_patches)
    texts: list[str | None] = [file for form, file in documents if form == "text" and file != "-"]
    others = [document for document in documents if document[0] != "text"]
    _write(checked, others, str(project(cwd)))
    for text in texts or [None]:
        with report_file(text, sys.stderr if "-" in [file for _, file in others] else sys.stdout) as out:
            screen = msgspec.structs.replace(terminal_of(out), folder=str(cwd))
            print_lines(lines_of(checked, screen), out, screen)
            out.flush()
    return EXIT_STATUS[checked.outcome]


def _checked(
    command: Command,
    budget: Budget,
    commit: str,
    scratch: Path,
    until_s: float,
    out: str | None,
    with_patches: WithPatches,
) -> Checked:
    script = shlex.join(command.words)
    measures: list[Measure] = []
    notes: list[str] = []
    findings: Any = ()
    folder = _folder(command, out)
    if not budget.is_empty:
        until = f"until it is interrupted after {command.limit_s:g} s" if command.limit_s else "to its end"
        _report_progress(command)(f"running {script} with all probes, {until}")
        ran = run(command, folder, light=False)
        if ran.failed:
            return _failed(script, ran, "the script", commit)
        report, evidence = study(folder)
        measures += judge(Run(report, evidence), budget, interrupted=ran.interrupted)
        findings = with_patches(report, evidence).findings
        if ran.interrupted:
            notes.append(f"Runs were interrupted after {command.limit_s:g} s, as asked.")
        if ran.interrupted and not report.steps.count:
            notes.append("No training step was seen until then: give it longer.")
        elif not report.steps.count:
            notes.append("No training step was seen: name the function that makes one in [tool.tfperf] steps-from.")
    timed: Timed | None = None
    if commit:
        try:
            timed = _against(command, budget, commit, scratch, until_s)
        except Failed as failed:
            if failed.which == "head":
                return _failed(script, failed.ran, str(failed), commit)
            notes.append(f"{failed}: its step time is not known. {' / '.join(failed.ran.tail[-2:])}".strip())
            timed = Timed(_allowed(budget))
        measures.append(timed.measure())
    return Checked(
        outcome=overall(tuple(measures)),
        script=script,
        measures=tuple(measures),
        time=timed.clock if timed is not None else None,
        processor=timed.processor if timed is not None else None,
        undisturbed=timed.undisturbed if timed is not None else None,
        decided_by=timed.decided_by if timed is not None else "",
        base=commit,
        rounds=timed.rounds if timed is not None else 0,
        run=_handle(folder) if not budget.is_empty else "",
        findings=findings,
        notes=tuple(notes),
    )


def _allowed(budget: Budget) -> float:
    return budget.slowdown if budget.slowdown is not None else DEFAULT_SLOWDOWN


def _against(command: Command, budget: Budget, commit: str, scratch: Path, until_s: float) -> Timed:
    repository = worktree.top(command.cwd)
    below = os.path.relpath(command.cwd.resolve(), repository.resolve())
    progress = _report_progress(command)
    progress(f"checking out {commit[:12]} next to it")
    with worktree.checked_out(repository, commit) as tree:
        place = (tree / below).resolve()
        target = Path(command.words[0])
        words = command.words
        if words[0] != "-m" and target.is_absolute() and target.is_relative_to(repository):
            words = (str(tree / target.relative_to(repository)), *words[1:])
        if not place.is_dir():
            raise UsageError(f"the base has no folder {below}")
        return measure_time(
            Command(words, place, command.limit_s), command, scratch, _allowed(budget), until_s, progress
        )


def _failed(script: str, ran: Ran, which: str, commit: str) -> Checked:
    for line in ran.tail:
        _tell(f"| {line}", mark="")
    says = f"{which} ended with exit status {ran.status}" if "exit status" not in which else which
    failed = Measure(
        name="run", title="the script runs", limit=None, value=None, unit="text", outcome="fail", says=says
    )
    return Checked(outcome="fail", script=script, measures=(failed,), base=commit)


def _folder(command: Command, out: str | None) -> Path:
    if out:
        return Path(command.cwd, out)
    stem = "".join(char if char.isalnum() or char in "-_." else "_" for char in Path(command.name).stem)[:60]
    base = runs_folder() / f"check-{stem or 'script'}-{time.strftime('%m%d-%H%M%S')}"
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TfperfError(f"can't write {base.parent}: {error.strerror}; give a folder with --run-dir") from error
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


def _handle(folder: Path) -> str:
    return folder.name if folder.parent == runs_folder() else shlex.quote(str(folder))


def seconds(text: str, option: str = "time-limit") -> float:
    """``90``, ``90s``, ``5m``, ``1h``, as given to an option; raises UsageError."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    try:
        value = float(number) * _UNITS[unit]
    except ValueError:
        value = -1.0
    if not 0 < value < 1e7:
        raise UsageError(f"--{option} {text}: give a time such as 90s, 5m or 1h")
    return value


def _check_writable(file: str) -> None:
    if file == "-":
        return
    path = Path(file)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(f"can't write {file}: {'it is a folder' if path.is_dir() else 'no such folder'}")


def _write(checked: Checked, documents: Sequence[tuple[str, str]], root: str) -> None:
    made: dict[str, Callable[[], bytes]] = {
        "json": lambda: encode_any(checked),
        "markdown": lambda: markdown(checked, root).encode("utf-8", "backslashreplace"),
        "junit": lambda: junit(checked).encode("utf-8", "backslashreplace"),
        "sarif": lambda: sarif(annotated(checked), root),
        "github": lambda: github(annotated(checked), root).encode("utf-8", "backslashreplace"),
        "review": lambda: review(checked.findings, os.getcwd(), root),
    }
    for name, file in documents:
        write_document(made[name](), file)


def _report_progress(command: Command) -> Callable[[str], None]:
    """Return what writes a line of progress to stderr; with ``--quiet`` it writes nothing."""
    return (lambda text: None) if command.quiet else _tell


def _tell(text: str, mark: str = "tfperf: ") -> None:
    """Progress, on stderr."""
    if sys.stderr is not None:
        try:
            print(one_line(f"{mark}{text}"), file=sys.stderr, flush=True)
        except OSError:
            pass
