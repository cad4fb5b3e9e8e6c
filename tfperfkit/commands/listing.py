"""``tfperf list``: what is installed and what was recorded."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import color
from tfperfkit.commands._help import Command

_KINDS = ("rules", "probes", "experiments", "runs", "terms")


def _list(kind: str) -> None:
    if kind == "probes":
        from tfperfkit.launch.listing import list_probes

        list_probes()
    elif kind == "experiments":
        from tfperfkit.trials.command import list_experiments

        list_experiments()
    elif kind == "runs":
        from tfperfkit.runs.command import show

        show("", "when", 0, None)
    else:
        from tfperfkit.explain.command import list_rules, list_terms

        (list_rules if kind == "rules" else list_terms)()


COMMAND = Command(
    "list",
    callback=_list,
    params=[click.Argument(["kind"], type=click.Choice(_KINDS), metavar="|".join(_KINDS)), color()],
    short_help="List rules, probes, experiments and runs.",
    help="List the rules, probes and experiments that are installed, the recorded runs, or the terms of the report.",
    examples=("tfperf list rules", "tfperf list experiments"),
    context_settings=HELP,
)
