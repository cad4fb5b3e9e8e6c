"""Analyses a run and shows its report: after ``tfperf run``, and again for ``tfperf report``."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from tfperfkit import registry
from tfperfkit.config import find_run, folder_of_run, project, read_silencing, working_folder
from tfperfkit.errors import TfperfError
from tfperfkit.option import Declared, convert
from tfperfkit.records.silencing import Silencing
from tfperfkit.report.forms import FORMS
from tfperfkit.report.output import print_notice, print_report, report_file, write_document

if TYPE_CHECKING:
    from tfperfkit.model import Report
    from tfperfkit.storage.run_directory import Exit
    from tfperfkit.tracking.destinations import Destination


class Wanted(NamedTuple):
    """The output that the user asked for.

    ``documents`` holds each format (``text`` is one) with its file, or ``-`` for stdout. ``probes`` names the probes
    whose tables precede the verdict, with commas, or ``all``. ``full`` asks for everything, ``quiet`` for the verdict.
    """

    documents: tuple[tuple[str, str], ...] = ()
    probes: str | None = None
    track: str | None = None
    full: bool = False
    quiet: bool = False

    def texts(self) -> list[str | None]:
        """Return the files to which the text goes; None is stdout."""
        return [None if file == "-" else file for form, file in self.documents if form == "text"]


def report_after_run(
    folder: Path,
    documents: Sequence[tuple[str, Path]],
    file: TextIO | None,
    ended: Exit,
    track: Sequence[Destination],
    *,
    full: bool = False,
    verbose: bool = False,
) -> None:
    """Report on a script that has just ended. Every failure becomes one line that says where the data is; with
    ``verbose`` a traceback precedes the line of a fault of tfperf. ``documents``: each format with its file. ``full``:
    all evidence precedes the verdict."""
    if file is None and not documents and not track:
        return
    try:
        from tfperfkit.analysis.analyze import study

        report, evidence = study(folder, ended=ended, pictures=_are_drawn(documents, track))
        _keep_for_later(folder, report, evidence)
        report = _with_patches(report, evidence)
        with ExitStack() as outputs:  # one that fails must not prevent the others; the last one entered runs first
            if track:  # the slowest
                outputs.callback(_send_to_trackers, report, folder, track)
            for form, path in documents:
                outputs.callback(_write_form, report, form, path)
            if file is not None:
                print_report(report, file, full=full, handle=_last_or_name(folder))
    except BrokenPipeError:
        pass
    except KeyboardInterrupt:
        print_notice(f"interrupted; the report again: tfperf report {folder}")
    except (TfperfError, OSError) as error:
        print_notice(f"{error}; the run's data: {folder}")
    except Exception as error:
        if verbose:
            traceback.print_exc()
        print_notice(
            f"the report failed, which is a fault of tfperf ({type(error).__name__}: {error}); the run's data: {folder}"
        )


def show_report(name: str, wanted: Wanted, declared: Sequence[Declared], given: Mapping[str, Any]) -> None:
    """Report on a finished run again. Raises RunDirectoryError or UsageError.

    ``given`` are options of probes, by spelling. They override those of the run; pyproject.toml is not read.
    """
    from tfperfkit.analysis.analyze import study

    shown = registry.shown("", wanted.probes) if wanted.probes else None
    options: dict[str, dict[str, Any]] = {}
    for each in declared:
        if each.flag in given:
            value = convert(each, given[each.flag], each.flag, working_folder())
            options.setdefault(each.probe, {})[each.option.name] = value
    track: tuple[Destination, ...] = ()
    if wanted.track:
        from tfperfkit.tracking.destinations import destinations

        track = destinations(wanted.track)
    drawn = _are_drawn(wanted.documents, track)
    folder = find_run(name)
    show_all = bool(wanted.probes) and shown is None
    if wanted.quiet and not wanted.probes:
        shown = ()
    silencing = _current_silencing(folder)
    report, evidence = study(folder, options, shown, show_all=show_all, pictures=drawn, silencing=silencing)
    if not options:  # what is kept is what anybody would see
        _keep_for_later(folder, report, evidence)
    report = _with_patches(report, evidence)
    if track:
        _send_to_trackers(report, folder, track)
    for form, target in wanted.documents:
        if form != "text":
            _write_form(report, form, target)
    for text in wanted.texts():
        with report_file(text, sys.stdout) as file:
            print_report(report, file, full=wanted.full, handle="last" if name == "last" else "")


def _are_drawn(documents: Sequence[tuple[str, str | Path]], track: Sequence[Destination]) -> bool:
    """Return whether a format or a tracker shows pictures."""
    return bool(track) or any(form in ("html", "agents") for form, _ in documents)


def _last_or_name(folder: Path) -> str:
    """Return ``last`` if that names the run that has just ended; "" for its own name."""
    try:
        return "last" if find_run("last").samefile(folder) else ""
    except (TfperfError, OSError):
        return ""


def _current_silencing(folder: Path) -> Silencing | None:
    """Return what pyproject.toml silences today, if the current folder is in the run's project. Else the run's own
    choice counts (None)."""
    cwd, made_in = working_folder(), folder_of_run(folder)
    if made_in is None or project(made_in) != project(cwd):
        return None
    return read_silencing(cwd) or Silencing()


def _keep_for_later(folder: Path, report: Report, evidence: Any) -> None:
    """Store what lists of runs, and the report of all ranks, need of this run."""
    from tfperfkit.analysis import summary
    from tfperfkit.ranks.kept import keep

    summary.write(folder, report)
    keep(folder, report, evidence)


def _with_patches(report: Report, evidence: Any) -> Report:
    from tfperfkit.fixing.shown import with_patches

    return with_patches(report, evidence)


def _write_form(report: Report, form: str, target: str | Path) -> None:
    from tfperfkit.explain.pages import find_page

    write_document(FORMS[form].write(report, find_page), target)


def _send_to_trackers(report: Report, folder: Path, track: Sequence[Destination]) -> None:
    """Send to each tracker; each prints one line."""
    from tfperfkit.explain.pages import find_page
    from tfperfkit.tracking.send import send

    send(report, folder, track, find_page, print_notice)
