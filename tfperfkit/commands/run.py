"""``tfperf run``: runs a script and shows its report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import full, noise, paired, run_dir
from tfperfkit.commands._probe_options import ProbeOptionsCommand, probe_options
from tfperfkit.commands._splitting import ScriptCommand
from tfperfkit.errors import UsageError
from tfperfkit.report.forms import CHOICES

_OPTIONS: list[click.Parameter] = [
    click.Option(["--html"], metavar="FILE", help="Also write the report as an HTML file."),
    click.Option(["--json"], metavar="FILE", help="Also write the report as JSON."),
    click.Option(
        ["-o", "--output", "outputs"],
        metavar="FILE",
        multiple=True,
        help="Write the report to FILE. Text goes there instead of to stderr.",
    ),
    click.Option(
        ["--format", "formats"],
        type=click.Choice(CHOICES),
        metavar="FORMAT",
        multiple=True,
        help=f"Format of the file: {', '.join(CHOICES)}. May be repeated, each with an -o. [default: text]",
    ),
    run_dir("Record the run in DIR."),
    full(),
    click.Option(["--live"], is_flag=True, help="Show progress below the script's output."),
    click.Option(["--steps-from"], metavar="FUNCTION", help="Count each call of FUNCTION as one training step."),
    click.Option(["--require-gpu"], is_flag=True, help="Exit with status 2 before the first step if there is no GPU."),
    click.Option(
        ["--probes"],
        metavar="NAMES",
        help="Measure with these probes (comma-separated), all, or none; see tfperf list probes. "
        "[default: the built-in probes]",
    ),
    click.Option(["--show"], metavar="NAMES", help="Show the full tables of these probes (comma-separated), or all."),
    click.Option(
        ["--window"],
        metavar="PROBE=START:COUNT",
        multiple=True,
        help="Steps in which a probe measures. PROBE=all: the whole run; PROBE=none: never; PROBE=auto: tfperf "
        "chooses. [default: auto]",
    ),
    click.Option(["--children"], is_flag=True, help="Also record processes that the script starts."),
    click.Option(
        ["--long-run"], is_flag=True, help="For runs of days: measure only when something changes; files stay small."
    ),
    click.Option(
        ["--profiler-service"],
        metavar="[=localhost|any]",
        is_flag=False,
        flag_value="localhost",
        help="Start TensorFlow's profiler service, so that tfperf poke can record a trace. With =any it is reachable "
        "from other machines, without authentication.",
    ),
    click.Option(["--try", "try_after"], is_flag=True, help="After the run, measure its findings (tfperf try last)."),
    click.Option(
        ["--track"],
        metavar="NAMES",
        help="Send the report to trackers (comma-separated): mlflow, wandb, tensorboard=DIR, prometheus=DIR, "
        "opentelemetry.",
    ),
    *noise(),
]


class _Run(ScriptCommand, ProbeOptionsCommand):
    spelled = "run"
    look = ProbeOptionsCommand.look


def _run(**options: Any) -> None:
    from tfperfkit.commands._reporting import report_after_run
    from tfperfkit.launch.run import run

    context = click.get_current_context()
    declared, given = probe_options(context, options)
    written = paired(options["formats"], options["outputs"])
    for form, target in written:
        if target == "-":
            raise UsageError(f"--format {form}: standard output is the script's; name a file with -o")
    options["output"] = next((target for form, target in written if form == "text"), None)
    options["documents"] = [(form, target) for form, target in written if form != "text"]
    afterwards = None
    if options["try_after"]:
        from tfperfkit.trials.command import try_after_run

        afterwards = try_after_run
    live: Callable[[Path], Any] | None = None
    if options["live"]:
        from tfperfkit.live.view import view

        live = view
    report = partial(report_after_run, full=options["full"], verbose=options["verbose"])
    raise SystemExit(run(context.obj, options, declared, given, report, afterwards, live))


COMMAND = _Run(
    "run",
    callback=_run,
    params=_OPTIONS,
    options_metavar="[OPTIONS] SCRIPT [SCRIPT ARGUMENTS]",
    usages=("[OPTIONS] -m MODULE [MODULE ARGUMENTS]",),
    short_help="Run a script and report what makes it slow.",
    help="""Run a script and report what makes it slow.

    tfperf options go before SCRIPT or directly after it. Everything from the first unrecognised argument (or after --)
    is passed to the script. One-letter options, --quiet, --verbose and --color go before SCRIPT only.""",
    brief=("html", "json", "outputs", "run_dir", "full", "live", "steps_from", "require_gpu"),
    examples=(
        "tfperf run train.py",
        "tfperf run train.py --html report.html --epochs 2",
        "tfperf run --full -m package.train",
    ),
    status="the script's own (128 + N if signal N killed it); 2: usage, configuration or input error.",
    context_settings=HELP,
)
