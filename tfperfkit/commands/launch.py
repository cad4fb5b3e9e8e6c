"""``tfperf launch``: several workers on this machine."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(
    short_help="Train with several workers on this machine, for trying.",
    context_settings={
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        **HELP,
    },
)
@click.option("-n", "count", type=click.IntRange(2, 64), default=2, help="So many workers. Default: 2.")
@click.option("--out", metavar="DIR", help="Folder of this run. Default: a new one below the user's state folder.")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ITS ARGUMENTS]")
def launch(count: int, out: str | None, words: tuple[str, ...]) -> int:
    """Train with several workers on this machine, for trying: TF_CONFIG is set, the rest is passed on.

    Options of tfperf run stand between ours and SCRIPT.
    """
    from tfperfkit.commands.run import COMMAND as RUN
    from tfperfkit.launch.run import launch_workers

    given = RUN.make_context("run", list(words)).params["out"]  # ours may stand among those of tfperf run
    return launch_workers(count, given or out, words)


COMMAND = launch
