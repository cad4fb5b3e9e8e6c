"""``tfperf list``: what is installed and what was recorded."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import color, verbose
from tfperfkit.commands._help import Command

_KINDS = ("rules", "probes", "experiments", "runs", "terms")


def _list(kind: str) -> None:
    if kind == "probes":
        _list_probes()
    elif kind == "experiments":
        from tfperfkit.trials.command import list_experiments

        list_experiments()
    elif kind == "runs":
        from tfperfkit.runs.command import show

        show("", "when", 0, None)
    else:
        from tfperfkit.explain.command import list_rules, list_terms

        (list_rules if kind == "rules" else list_terms)()


def _list_probes() -> None:
    """Print one line per installed probe to stdout; a probe that can't be loaded is listed with its reason."""
    import sys

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tfperfkit import registry
    from tfperfkit.errors import ProbeError
    from tfperfkit.report.text import one_line

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("probe", "measures", "from", "what"):
        table.add_column(heading, overflow="fold")
    for name, point in registry.available().items():
        source = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"
        try:
            probe = registry.load(name)
            span = "the whole run" if probe.cost.value == "free" else "a few steps"
            words = (type(probe).__doc__ or "").strip().partition("\n")[0]
        except ProbeError as error:
            span, words = "-", str(error)
        table.add_row(*(Text(one_line(text)) for text in (name, span, source, words)))
    for name, problem in registry.refused().items():
        table.add_row(Text(one_line(name)), Text("-"), Text(""), Text(one_line(f"can't be selected: {problem}")))
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 140, highlight=False)
    with console.capture() as drawn:
        console.print(table)
    print("\n".join(line.rstrip(" ") for line in drawn.get().splitlines()))


COMMAND = Command(
    "list",
    callback=_list,
    params=[click.Argument(["kind"], type=click.Choice(_KINDS), metavar="|".join(_KINDS)), verbose(), color()],
    short_help="List rules, probes, experiments and runs.",
    help="List the installed rules, probes or experiments, the recorded runs, or the terms that tfperf explain knows.",
    examples=("tfperf list rules", "tfperf list experiments"),
    context_settings=HELP,
)
