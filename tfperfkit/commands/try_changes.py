"""``tfperf try``: measures what a change gains."""

from __future__ import annotations

from typing import Any

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import json_file, noise
from tfperfkit.commands._splitting import ScriptCommand
from tfperfkit.trials import FINDINGS_TIME, SCRIPT_TIME


class _Try(ScriptCommand):
    spelled = "try"
    target = "last"


def _try(**options: Any) -> int:
    from tfperfkit.trials.command import try_changes

    return try_changes(click.get_current_context().obj, options)


COMMAND = _Try(
    "try",
    callback=_try,
    params=[
        click.Option(
            ["--with", "changes"],
            metavar="EXPERIMENT",
            multiple=True,
            help="Measure this change of SCRIPT: jit, threads=2,1, env:NAME=VALUE ... May be repeated; tfperf list "
            "experiments lists them.",
        ),
        click.Option(["--together"], is_flag=True, help="Make all --with changes at once. [default: one by one]"),
        click.Option(
            ["--all", "everything"],
            is_flag=True,
            help="Measure every change that suits SCRIPT, then the best together.",
        ),
        click.Option(
            ["--vary"],
            metavar="OPTION",
            multiple=True,
            help="Measure values of a script option: --vary '--batch-size {32,128}'.",
        ),
        click.Option(
            ["--only"], metavar="WHAT", help="Measure one finding of RUN (INP002, INP002-2) or experiment (jit)."
        ),
        click.Option(
            ["--time-limit"],
            metavar="TIME",
            help=f"Time limit for all trials, e.g. 90s. [default: {FINDINGS_TIME} for RUN, {SCRIPT_TIME} for SCRIPT]",
        ),
        json_file("the measurements"),
        click.Option(["--no-sandbox"], is_flag=True, help="Run in the script's own folder; the files it writes stay."),
        click.Option(["--whole-run"], is_flag=True, help="Time the whole run of SCRIPT instead of its steps."),
        click.Option(
            ["--steps"],
            type=click.IntRange(6, 1_000_000),
            metavar="N",
            help="Steps per trial, at least 6. [default: as many as take 4 s]",
        ),
        click.Option(["--steps-from"], metavar="FUNCTION", help="Count each call of FUNCTION as one training step."),
        click.Option(["--seed"], type=int, metavar="N", help="Random seed for the trial order. [default: random]"),
        *noise(),
    ],
    options_metavar="[OPTIONS] [RUN]",
    usages=("[OPTIONS] SCRIPT [SCRIPT ARGUMENTS]",),
    short_help="Measure what a change gains, without editing the script.",
    help="""Measure what a change gains, without editing the script.

    With RUN (a folder, a run's name, or last [default]) tfperf measures the run's findings. With SCRIPT it measures the
    changes that you name. The script runs several times, unchanged and changed in turn, in an overlay of its folder:
    your files stay as they are.""",
    brief=("changes", "together", "everything", "vary", "only", "time_limit", "json_file", "no_sandbox"),
    examples=(
        "tfperf try",
        "tfperf try last --only INP002",
        "tfperf try train.py --with jit --with batch=x4 -- --epochs 2",
        "tfperf list experiments",
    ),
    status="0, whatever the result; 2: the script cannot run, or fails unchanged; 130: Ctrl-C.",
    context_settings=HELP,
)
