"""``tfperf launch``: trains with several workers on this machine."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import run_dir
from tfperfkit.commands._help import Command


def _launch(count: int, run_dir: str | None, words: tuple[str, ...]) -> int:
    from tfperfkit.commands.run import COMMAND as RUN
    from tfperfkit.launch.run import launch_workers

    given = RUN.make_context("run", list(words)).params["run_dir"]  # it may stand among the options of tfperf run
    return launch_workers(count, given or run_dir, words)


COMMAND = Command(
    "launch",
    callback=_launch,
    params=[
        click.Option(
            ["-n", "count"],
            type=click.IntRange(2, 64),
            default=2,
            metavar="N",
            help="Number of workers, 2 to 64. [default: 2]",
        ),
        run_dir("Record the run in DIR."),
        click.Argument(
            ["words"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="[RUN OPTIONS] SCRIPT [ARGUMENTS]"
        ),
    ],
    short_help="Train with several workers on this machine.",
    help="""Train with several workers on this machine, to try a distributed script.

    tfperf sets TF_CONFIG for each worker. Options of tfperf run, such as -q and -v, go before SCRIPT.""",
    examples=("tfperf launch -n 2 train.py", "tfperf launch -n 4 --probes none train.py --steps 100"),
    status="that of the first worker that failed; 0 if none did.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, **HELP},
)
