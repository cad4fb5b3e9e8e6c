"""``tfperf try``: what a change gains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._splitting import ScriptCommand
from tfperfkit.commands._trial_options import COMMON, time_for_all
from tfperfkit.trials import TRY_TIME


class _Try(ScriptCommand):
    spelled = "try"

    def look(self, ctx: click.Context, words: Sequence[str] | None) -> None:
        if words == ["--list"]:
            from tfperfkit.trials.command import list_experiments

            list_experiments()
            ctx.exit()


def _try(**options: Any) -> int:
    from tfperfkit.trials.command import try_changes

    return try_changes(click.get_current_context().obj, options)


COMMAND = _Try(
    "try",
    callback=_try,
    params=[
        click.Option(
            ["--with", "changes"],
            metavar="EXPERIMENT",
            multiple=True,
            help="A change to try: jit, threads=2,1, env:NAME=VALUE ... Several are tried together.",
        ),
        click.Option(["--each"], is_flag=True, help="Try each --with by itself."),
        click.Option(
            ["--all", "everything"], is_flag=True, help="Try what this script allows, then the best together."
        ),
        click.Option(
            ["--vary"],
            metavar="OPTION",
            multiple=True,
            help="An option of the script, with values to try: '--batch-size {32,128}'.",
        ),
        click.Option(["--whole"], is_flag=True, help="Time the script's whole run, not its training steps."),
        click.Option(["--steps"], type=click.IntRange(6, 1_000_000), help="Steps of a trial. Default: by time."),
        click.Option(["--steps-from"], metavar="FUNCTION", help="One call of this function is one training step."),
        click.Option(["--list", "listing"], is_flag=True, help="List the experiments."),
        time_for_all(TRY_TIME),
        *COMMON,
    ],
    options_metavar="[OPTIONS]",
    short_help="Measure what a change gains, without an edit.",
    help="""Measure what a change gains: the script as it is and changed, in turn.

    \b
    tfperf try [OPTIONS] SCRIPT [ARGUMENTS OF THE SCRIPT]
    tfperf try train.py --with jit --each --with batch=x4

    The script is not edited, and runs on a view of its folder, so that its files stay as they are.""",
    context_settings=HELP,
)
