"""``tfperf run``: a script is run and its report shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tfperfkit.commands import EPILOG, HELP
from tfperfkit.commands._probe_options import ProbeOptionsCommand, probe_options
from tfperfkit.commands._splitting import ScriptCommand

_OPTIONS: list[click.Parameter] = [
    click.Option(
        ["--probes"],
        metavar="NAMES",
        help="Probes with commas, or all, default, none. Default: all that tfperf brings.",
    ),
    click.Option(
        ["--out"], metavar="DIR", help="Folder of this run. Default: a new one below the user's state folder."
    ),
    click.Option(["--json"], metavar="FILE", help="Write the report as JSON too."),
    click.Option(["--html"], metavar="FILE", help="Write the report as one HTML file, with pictures, too."),
    click.Option(
        ["--track"],
        metavar="NAMES",
        help="Send the report to trackers, with commas: mlflow, wandb, tensorboard=DIR, prometheus=DIR, opentelemetry.",
    ),
    click.Option(["--output"], metavar="FILE", help="Write our header and report to a file, not to stderr."),
    click.Option(["--show"], metavar="NAMES", help="Probes whose tables the report shows in full, or all."),
    click.Option(["--steps-from"], metavar="FUNCTION", help="One call of this function is one training step."),
    click.Option(
        ["--window"],
        metavar="PROBE=START:COUNT",
        multiple=True,
        help="Give a probe these steps; PROBE=all: the whole run; none: no window; auto: where tfperf would put it.",
    ),
    click.Option(["--children"], is_flag=True, help="Record processes that the script starts, too: workers, pools."),
    click.Option(["--live"], is_flag=True, help="Draw steps, time, retraces and windows below the script's output."),
    click.Option(["--require-gpu"], is_flag=True, help="Exit with status 2 before the first step if there is no GPU."),
    click.Option(
        ["--watch-only"], is_flag=True, help="For runs of days: no windows until something changes, bounded files."
    ),
    click.Option(
        ["--on-demand"], is_flag=True, help="Start TensorFlow's profiler service, for tfperf poke on this machine."
    ),
    click.Option(["--on-demand-network"], is_flag=True, help="The same, for other machines too: whoever reaches it."),
    click.Option(["--prove"], is_flag=True, help="Then measure what the findings gain, as tfperf prove does."),
]


class _Run(ScriptCommand, ProbeOptionsCommand):
    spelled = "run"
    look = ProbeOptionsCommand.look


def _run(**options: Any) -> None:
    from tfperfkit.commands._reporting import report_after_run
    from tfperfkit.launch.run import run

    context = click.get_current_context()
    declared, given = probe_options(context, options)
    afterwards = None
    if options["prove"]:
        from tfperfkit.trials.command import prove_after_run

        afterwards = prove_after_run
    live: Callable[[Path], Any] | None = None
    if options["live"]:
        from tfperfkit.live.view import view

        live = view
    raise SystemExit(run(context.obj, options, declared, given, report_after_run, afterwards, live))


COMMAND = _Run(
    "run",
    callback=_run,
    params=_OPTIONS,
    options_metavar="[OPTIONS]",
    help="""Run a training script and report what makes it slow.

    \b
    tfperf run [OPTIONS] SCRIPT [ARGUMENTS OF THE SCRIPT]
    tfperf run [OPTIONS] -m MODULE [ARGUMENTS OF THE MODULE]

    Our options may also stand directly after SCRIPT; from the first argument that is not ours, or from -- on,
    everything is the script's.""",
    context_settings=HELP,
    epilog=EPILOG,
)
