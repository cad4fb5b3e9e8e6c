"""``tfperf report``: a finished run's report again, or what a recorded trace shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import documents, full, json_file, noise, paired
from tfperfkit.commands._probe_options import ReportOptionsCommand, probe_options
from tfperfkit.errors import UsageError
from tfperfkit.report.forms import CHOICES


def _report(run: str, **options: Any) -> None:
    from tfperfkit.commands._ranks import show_ranks
    from tfperfkit.commands._reporting import Wanted, show_report
    from tfperfkit.config import find_run
    from tfperfkit.reading.command import is_trace, read
    from tfperfkit.records.rank import holds_parts

    declared, given = probe_options(click.get_current_context(), options)
    written = paired(options["formats"], options["outputs"])
    if is_trace(run):
        _refuse_for_trace(options, given)
        read(run, options["json_file"], everything=options["full"])
        return
    shortcuts = [(form, options[name]) for form, name in (("html", "html"), ("json", "json_file")) if options[name]]
    if not written and "-" not in dict(shortcuts).values():
        written = [("text", "-")]
    wanted = Wanted((*shortcuts, *written), options["show"], options["track"], options["full"], options["quiet"])
    folder = find_run(run)
    if holds_parts(folder):
        show_ranks(folder, wanted)
    else:
        show_report(run, wanted, declared, given)


def _refuse_for_trace(options: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise UsageError for an option that only a run has."""
    names = {"--html": "html", "--format": "formats", "-o": "outputs", "--show": "show", "--track": "track"}
    for option in [*(option for option, name in names.items() if options[name]), *given]:
        raise UsageError(f"{option} is for runs that tfperf recorded; a trace has --json and --full")


COMMAND = ReportOptionsCommand(
    "report",
    callback=_report,
    params=[
        click.Argument(["run"], default="last", metavar="[RUN | TRACE]"),
        click.Option(["--html"], metavar="FILE", help="Also write the report as an HTML file; - for stdout."),
        json_file("the report"),
        *documents(CHOICES),
        full(),
        click.Option(["--show"], metavar="NAMES", help="Show the full tables of these probes, or all."),
        click.Option(["--track"], metavar="NAMES", help="Send the report to trackers, as tfperf run --track does."),
        *noise(),
    ],
    short_help="Show a run's report again, or analyse a recorded trace.",
    help="""Show a run's report again, or analyse a recorded trace.

    RUN is a folder, a run's name, or last. [default: last]

    TRACE was recorded by TensorFlow, JAX, PyTorch or Horovod: a TensorBoard log directory, an .xplane.pb, a Chrome
    trace (.json.gz) or a Horovod timeline, or the address of one (gs://bucket/logs).""",
    brief=("html", "json_file", "outputs", "formats", "full", "show"),
    examples=(
        "tfperf report",
        "tfperf report last --html report.html",
        "tfperf report last --format markdown -o report.md",
        "tfperf report logs/plugins/profile/2026_01_31",
    ),
    context_settings=HELP,
)
