"""``tfperf poke``: measures a run that is still training."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP, RUN
from tfperfkit.commands._common_options import verbose
from tfperfkit.commands._help import Command


def _poke(run: str, seconds: float) -> None:
    from tfperfkit.watching.command import poke as ask

    ask(run, seconds)


COMMAND = Command(
    "poke",
    callback=_poke,
    params=[
        click.Argument(["run"], default="last", metavar="[RUN]"),
        click.Option(
            ["--seconds"],
            type=click.FloatRange(0.01, 60),
            default=1.0,
            metavar="S",
            help="Length of the trace, at most 60 s. [default: 1]",
        ),
        verbose(),
    ],
    short_help="Measure a run that is still training.",
    help=f"""Measure a run that is still training.

    In a run with --long-run, tfperf opens a profiling window now. In a run with --profiler-service, tfperf records a
    trace of all ranks.

    {RUN}""",
    context_settings=HELP,
)
