"""``tfperf report``: a finished run's report again."""

from __future__ import annotations

from typing import Any

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._probe_options import ReportOptionsCommand, probe_options
from tfperfkit.report.forms import CHOICES


@click.command(cls=ReportOptionsCommand, context_settings=HELP)
@click.argument("run")
@click.option("--json", "json_file", metavar="FILE", help="Write the report as JSON; - for stdout.")
@click.option("--html", "html_file", metavar="FILE", help="Write the report as one HTML file, with pictures.")
@click.option("--output", metavar="FILE", help="Write the report to a file.")
@click.option("--track", metavar="NAMES", help="Send the report to trackers (with commas), as tfperf run --track.")
@click.option("--show", metavar="NAMES", help="Probes whose tables are shown in full (with commas), or all.")
@click.option(
    "--format",
    "form",
    type=click.Choice(CHOICES),
    help="What is written to stdout, or to --output. Default: text.",
)
@click.option("--for-agents", is_flag=True, help="Write the findings for a coding agent: short, by id, under 4 kB.")
def report(
    run: str,
    json_file: str | None,
    html_file: str | None,
    output: str | None,
    track: str | None,
    show: str | None,
    form: str | None,
    for_agents: bool,
    **options: Any,
) -> None:
    """Show the report of a finished run again. RUN: a folder, a run's name, or last."""
    from tfperfkit.commands._ranks import show_ranks
    from tfperfkit.commands._reporting import Wanted, show_report
    from tfperfkit.config import find_run
    from tfperfkit.records.rank import holds_parts

    declared, given = probe_options(click.get_current_context(), options)
    if for_agents and form not in (None, "text"):
        raise click.UsageError(f"--for-agents is text; leave out --format {form}")
    form = "agents" if for_agents else form if form != "text" else None
    wanted = Wanted(json_file, html_file, output, show, form, track)
    folder = find_run(run)
    if holds_parts(folder):
        show_ranks(folder, wanted)
    else:
        show_report(run, wanted, declared, given)


COMMAND = report
