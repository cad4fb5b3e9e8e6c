"""``tfperf probes``: what is installed."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP)
def probes() -> None:
    """List the installed probes."""
    from tfperfkit.launch.listing import list_probes

    list_probes()


COMMAND = probes
