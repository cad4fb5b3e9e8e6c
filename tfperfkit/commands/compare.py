"""``tfperf compare``: compares runs."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import color, json_file, verbose
from tfperfkit.commands._help import Command


def _compare(runs: tuple[str, ...], json_file: str | None) -> None:
    from tfperfkit.comparing.command import compare_runs

    compare_runs(runs if len(runs) > 1 or runs == ("last",) else (*runs, "last"), json_file)


COMMAND = Command(
    "compare",
    callback=_compare,
    params=[
        click.Argument(["runs"], nargs=-1, required=True, metavar="RUN [RUN...]"),
        json_file("the comparison"),
        verbose(),
        color(),
    ],
    short_help="Compare two runs.",
    help="""Compare runs: what changed in set-up, step time and findings, and whether the difference is significant.

    The first RUN is the baseline. RUN is a folder, a run's name, last, or a JSON report. One RUN is compared with
    last.""",
    examples=("tfperf compare before after", "tfperf compare train-1128-2030"),
    context_settings=HELP,
)
