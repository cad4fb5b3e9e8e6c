"""``tfperf try`` and ``tfperf prove`` on the command line. Only click is imported here."""

from __future__ import annotations

from typing import Any

import click


class _Try(click.Command):
    """Splits our arguments from the script's before click sees them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from tfperfkit.launch.arguments import split

        if not args:
            raise click.exceptions.NoArgsIsHelpError(ctx)
        options = {name: not getattr(param, "is_flag", False) for param in self.get_params(ctx) for name in param.opts}
        if args == ["--list"]:
            from tfperfkit.trials.listing import list_experiments

            list_experiments()
            ctx.exit()
        parts = split(args, options, "try")
        if parts is None:
            return super().parse_args(ctx, ["--help"])
        ctx.obj = parts
        return super().parse_args(ctx, list(parts.ours))


_COMMON = [
    click.Option(
        ["--time", "budget"], metavar="TIME", default="3m", help="For all trials together: 90s, 3m. Default: 3m."
    ),
    click.Option(["--json"], metavar="FILE", help="Write what was measured as JSON; - for stdout."),
    click.Option(["--in-place"], is_flag=True, help="Run trials in the folder itself: what the script writes stays."),
    click.Option(["--seed"], type=int, help="Of the order of trials."),
]


def _try(**options: Any) -> int:
    from tfperfkit.trials.command import try_changes

    return try_changes(click.get_current_context().obj, options)


def _prove(**options: Any) -> int:
    from tfperfkit.trials.command import prove

    return prove(options)


TRY = _Try(
    "try",
    callback=_try,
    params=[
        click.Option(
            ["--with", "changes"],
            metavar="EXPERIMENT",
            multiple=True,
            help="A change to try: jit, threads=2,1, env:NAME=VALUE ... Several are tried together.",
        ),
        click.Option(["--each"], is_flag=True, help="Try each --with by itself."),
        click.Option(
            ["--all", "everything"], is_flag=True, help="Try what this script allows, then the best together."
        ),
        click.Option(
            ["--vary"],
            metavar="OPTION",
            multiple=True,
            help="An option of the script, with values to try: '--batch-size {32,128}'.",
        ),
        click.Option(["--whole"], is_flag=True, help="Time the script's whole run, not its training steps."),
        click.Option(["--steps"], type=click.IntRange(6, 1_000_000), help="Steps of a trial. Default: by time."),
        click.Option(["--steps-from"], metavar="FUNCTION", help="One call of this function is one training step."),
        click.Option(["--list", "listing"], is_flag=True, help="List the experiments."),
        *_COMMON,
    ],
    options_metavar="[OPTIONS]",
    help="""Measure what a change gains: the script as it is and changed, in turn.

    \b
    tfperf try [OPTIONS] SCRIPT [ARGUMENTS OF THE SCRIPT]
    tfperf try train.py --with jit --each --with batch=x4

    The script is not edited, and runs on a view of its folder, so that its files stay as they are.""",
    context_settings={"help_option_names": ["-h", "--help"]},
)

PROVE = click.Command(
    "prove",
    callback=_prove,
    params=[
        click.Argument(["run"]),
        click.Option(["--only"], metavar="WHAT", help="A finding's id (INP002, INP002-2), or an experiment (jit)."),
        *_COMMON,
    ],
    help="""Measure what the findings of a run gain. RUN: a folder, a run's name, or last.

    What was measured is kept beside the run: tfperf report shows it with each finding.""",
    context_settings={"help_option_names": ["-h", "--help"]},
)
