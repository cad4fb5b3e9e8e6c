"""``tfperf poke``: a window of a run that is watched, or a trace of one that offers it, now."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP, short_help="Look into a run now: a window, or a trace.")
@click.option(
    "--seconds", type=click.FloatRange(0.01, 60), default=1.0, help="Length of a trace (--on-demand). Default: 1."
)
@click.argument("run")
def poke(run: str, seconds: float) -> None:
    """Look into a run now. RUN: a folder, a run's name, or last.

    Of one that is watched (tfperf run --watch-only) a window is opened. Of one with --on-demand a trace is taken, of
    all ranks if there are several.
    """
    from tfperfkit.watching.command import poke as ask

    ask(run, seconds)


COMMAND = poke
