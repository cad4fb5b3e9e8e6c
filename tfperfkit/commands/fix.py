"""``tfperf fix``: shows findings as patches."""

from __future__ import annotations

import re

import click

from tfperfkit.commands import HELP, RUN
from tfperfkit.commands._common_options import color
from tfperfkit.commands._help import Command
from tfperfkit.errors import UsageError

_ID = re.compile(r"[A-Z]{3,}\d{3}(-\d+)?")


def _fix(run: str, identity: str | None, write: bool, undo: bool) -> None:
    from tfperfkit.explain.pages import examples
    from tfperfkit.fixing.command import fix_run, undo_run

    if identity is None and _ID.fullmatch(run):
        run, identity = "last", run
    if undo:
        if write or identity is not None:
            raise UsageError("--undo brings back all files of a run: give it RUN alone")
        undo_run(run)
    else:
        fix_run(run, identity, write, examples)


COMMAND = Command(
    "fix",
    callback=_fix,
    params=[
        click.Argument(["run"], default="last", metavar="[RUN]"),
        click.Argument(["identity"], required=False, metavar="[ID]"),
        click.Option(["--apply", "write"], is_flag=True, help="Write the patches to the files; keeps the originals."),
        click.Option(["--undo"], is_flag=True, help="Bring the originals back that --apply has kept."),
        color(),
    ],
    short_help="Show suggested patches; --apply writes them.",
    help=f"""Show suggested source patches for a run's findings. Nothing is written without --apply.

    {RUN} ID is one finding, such as INP003.

    Needs LibCST: pip install 'tfperfkit[fix]'.""",
    examples=("tfperf fix", "tfperf fix INP003 --apply", "tfperf fix --undo"),
    context_settings=HELP,
)
