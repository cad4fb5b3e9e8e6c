"""``tfperf fix``: shows findings as patches."""

from __future__ import annotations

import re

import click

from tfperfkit.commands import HELP, RUN
from tfperfkit.commands._common_options import color, quiet, verbose
from tfperfkit.commands._help import Command
from tfperfkit.errors import UsageError
from tfperfkit.trials import LADDER_TIME, PROVE_TIME

_ID = re.compile(r"[A-Z]{3,}\d{3}(-\d+)?")


def _fix(
    run: str,
    identity: str | None,
    only: str | None,
    write: bool,
    undo: bool,
    prove: bool,
    everything: bool,
    time_limit: str | None,
) -> int:
    from tfperfkit.explain.pages import examples
    from tfperfkit.fixing.command import fix_run, undo_run

    if identity is None and _ID.fullmatch(run):
        run, identity = "last", run
    identity = identity or only
    if undo:
        if write or prove or identity is not None:
            raise UsageError("--undo brings back all files of a run: give it RUN alone")
        undo_run(run)
        return 0
    if everything and (not prove or identity is not None):
        raise UsageError("--all takes all findings of a run, and needs --prove")
    if not prove:
        if time_limit:
            raise UsageError("--time-limit is for --prove")
        fix_run(run, identity, write, examples)
        return 0
    from tfperfkit.trials.command import seconds
    from tfperfkit.trials.proving import climb_run, prove_run

    if everything:
        return climb_run(run, seconds(time_limit or LADDER_TIME), write)
    return prove_run(run, identity, seconds(time_limit or PROVE_TIME), write, examples)


COMMAND = Command(
    "fix",
    callback=_fix,
    params=[
        click.Argument(["run"], default="last", metavar="[RUN]"),
        click.Argument(["identity"], required=False, metavar="[ID]"),
        click.Option(
            ["--apply", "write"], is_flag=True, help="Write the patches to the files; --undo takes them back."
        ),
        click.Option(
            ["--prove"],
            is_flag=True,
            help="Measure each patch; --apply then writes only patches that are faster with the same results.",
        ),
        click.Option(
            ["--all", "everything"],
            is_flag=True,
            help="With --prove: add one proven patch after another, and profile again after each.",
        ),
        click.Option(["--only"], metavar="ID", help="Take only the finding ID, like the argument ID."),
        click.Option(
            ["--time-limit"],
            metavar="TIME",
            help=f"Time limit of --prove, e.g. 90s. [default: {PROVE_TIME}, with --all {LADDER_TIME}]",
        ),
        click.Option(
            ["--undo"], is_flag=True, help="Take patches back: restore the files as they were before --apply."
        ),
        quiet("Show only the patches: no notices, no progress."),
        verbose(),
        color(),
    ],
    short_help="Show suggested patches; --apply writes them.",
    help=f"""Show suggested source patches for a run's findings. Nothing is written without --apply.

    {RUN} ID is one finding of the run, such as INP003.

    Needs LibCST: pip install 'tfperfkit[fix]'.""",
    examples=("tfperf fix", "tfperf fix INP003 --apply", "tfperf fix --prove --apply", "tfperf fix --undo"),
    context_settings=HELP,
)
