"""``tfperf explain``: explains a rule, a probe or a term."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import color, verbose
from tfperfkit.commands._help import Command


def _explain(topic: tuple[str, ...], full: bool) -> None:
    from tfperfkit.explain.command import explain as show_pages

    show_pages(topic, full=full)


COMMAND = Command(
    "explain",
    callback=_explain,
    params=[
        click.Argument(["topic"], nargs=-1, required=True, metavar="TOPIC"),
        click.Option(["--full"], is_flag=True, help="Add how a finding is detected and how its gain is estimated."),
        verbose(),
        color(),
    ],
    short_help="Explain a rule, a probe or a term.",
    help="Explain a rule, a probe or a term of the report. tfperf list rules|probes|terms lists them.",
    examples=("tfperf explain BAT001", 'tfperf explain "clean steps"'),
    context_settings=HELP,
)
