"""``tfperf doctor``: this environment."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP)
def doctor() -> int:
    """Check this environment: what was found and what to do. Exit status 1 if something is broken."""
    from tfperfkit.doctor.command import doctor as examine

    return examine()


COMMAND = doctor
