"""``tfperf poke``: a window of a run that is watched, now."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP, short_help="Open a window in a run that is watched.")
@click.argument("run")
def poke(run: str) -> None:
    """Open a window in a run that is watched (tfperf run --watch-only). RUN: a folder, a run's name, or last."""
    from tfperfkit.watching.command import poke as ask

    ask(run)


COMMAND = poke
