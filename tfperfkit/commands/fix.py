"""``tfperf fix``: findings as patches."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP, short_help="Show findings as patches of the source; --apply writes them.")
@click.argument("run")
@click.argument("identity", required=False, metavar="[ID]")
@click.option("--apply", "write", is_flag=True, help="Write the patches into the files.")
def fix(run: str, identity: str | None, write: bool) -> None:
    """Show what the findings of a run have changed in the source, as patches. RUN: a folder, a run's name, or last.

    ID: of one finding, such as INP003. Needs LibCST: pip install 'tfperfkit[fix]'."""
    from tfperfkit.fixing.command import fix_run

    fix_run(run, identity, write)


COMMAND = fix
