"""``tfperf trace``: a run as a trace for other viewers."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP, short_help="Write a run for Perfetto, chrome://tracing or speedscope.")
@click.argument("run")
@click.option("--out", metavar="FILE", help="Default: NAME.trace.json.gz in the current folder.")
def trace(run: str, out: str | None) -> None:
    """Write a run as a trace for Perfetto or chrome://tracing, and its Python samples for speedscope."""
    from tfperfkit.export.command import export

    export(run, out)


COMMAND = trace
