"""``tfperf export``: writes a run for other viewers."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP, RUN
from tfperfkit.commands._common_options import quiet, verbose
from tfperfkit.commands._help import Command


def _export(run: str, viewer: str, output: str | None) -> None:
    from tfperfkit.export.command import export

    export(run, viewer, output)


COMMAND = Command(
    "export",
    callback=_export,
    params=[
        click.Argument(["run"], default="last", metavar="[RUN]"),
        click.Option(
            ["--to", "viewer"],
            type=click.Choice(("perfetto", "speedscope")),
            default="perfetto",
            metavar="VIEWER",
            help="Write for this viewer: perfetto (also chrome://tracing) or speedscope. [default: perfetto]",
        ),
        click.Option(
            ["-o", "--output"],
            metavar="FILE",
            help="Write to FILE. [default: NAME.trace.json.gz or NAME.speedscope.json]",
        ),
        quiet("Write the file and print nothing."),
        verbose(),
    ],
    short_help="Write a run's timeline for Perfetto or speedscope.",
    help=f"""Write a run's timeline for Perfetto, or its Python samples for speedscope.

    {RUN}""",
    examples=("tfperf export", "tfperf export last --to speedscope -o samples.json"),
    context_settings=HELP,
)
