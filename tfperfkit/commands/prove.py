"""``tfperf prove``: what the findings of a run gain."""

from __future__ import annotations

from typing import Any

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._trial_options import COMMON, time_for_all
from tfperfkit.trials import PROVE_TIME


def _prove(**options: Any) -> int:
    from tfperfkit.trials.command import prove

    return prove(options)


COMMAND = click.Command(
    "prove",
    callback=_prove,
    params=[
        click.Argument(["run"]),
        click.Option(["--only"], metavar="WHAT", help="A finding's id (INP002, INP002-2), or an experiment (jit)."),
        time_for_all(PROVE_TIME),
        *COMMON,
    ],
    help="""Measure what the findings of a run gain. RUN: a folder, a run's name, or last.

    What was measured is kept beside the run: tfperf report shows it with each finding.""",
    context_settings=HELP,
)
