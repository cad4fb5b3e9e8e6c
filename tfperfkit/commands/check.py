"""``tfperf check``: checks a script against its performance budget."""

from __future__ import annotations

from typing import Any

import click

from tfperfkit.checking import FORMATS
from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import documents, json_file, noise, paired, run_dir
from tfperfkit.commands._splitting import ScriptCommand


class _Check(ScriptCommand):
    spelled = "check"


def _check(**options: Any) -> int:
    from tfperfkit.checking.command import check
    from tfperfkit.fixing.shown import with_patches

    parts = click.get_current_context().obj
    words = (*(["-m"] if parts.is_module else []), parts.target, *parts.script_arguments)
    json = [("json", options["json_file"])] if options["json_file"] else []
    return check(words, options, [*json, *paired(options["formats"], options["outputs"])], with_patches)


COMMAND = _Check(
    "check",
    callback=_check,
    params=[
        click.Option(["--base"], metavar="REVISION", help="Also compare the step time with this git revision."),
        click.Option(
            ["--time-limit"],
            metavar="TIME",
            default="10m",
            help="Time limit for base comparisons, e.g. 90s, 5m (at least three pairs always run). [default: 10m]",
        ),
        click.Option(
            ["--interrupt-after"],
            metavar="TIME",
            help="End each run after this time, e.g. 90s, as Ctrl-C does.",
        ),
        run_dir("Record the checked run in DIR."),
        json_file("the result"),
        *documents(FORMATS),
        *noise(),
    ],
    options_metavar="[OPTIONS] SCRIPT [SCRIPT ARGUMENTS]",
    short_help="Check a script against its performance budget (CI).",
    help="""Check a script against the budget in pyproject.toml, [tool.tfperf.budget].""",
    examples=(
        "tfperf check train.py --steps 300",
        "tfperf check --base main train.py --steps 300",
        "tfperf check --format junit -o junit.xml --format github train.py",
    ),
    status="0: within budget; 1: over budget or failed script; 2: usage, configuration or input error; 3: undecided.",
    context_settings=HELP,
)
