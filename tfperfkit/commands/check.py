"""``tfperf check``: a script against its budget."""

from __future__ import annotations

from typing import Any

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._splitting import ScriptCommand


class _Check(ScriptCommand):
    spelled = "check"


def _check(**options: Any) -> int:
    from tfperfkit.checking.command import check

    parts = click.get_current_context().obj
    words = (*(["-m"] if parts.is_module else []), parts.target, *parts.script_arguments)
    return check(words, options)


COMMAND = _Check(
    "check",
    callback=_check,
    params=[
        click.Option(["--base"], metavar="REVISION", help="Measure step time against this revision, in turn."),
        click.Option(["--time"], metavar="TIME", default="10m", help="No new pair after 90s, 5m ...; three at least."),
        click.Option(
            ["--interrupt-after"],
            metavar="TIME",
            help="Interrupt each run, as Ctrl-C does, after 90s, 5m ...: for a script that no argument shortens.",
        ),
        click.Option(["--out"], metavar="DIR", help="Folder of the checked run."),
        *(
            click.Option([f"--{name}"], metavar="FILE", help=f"Write {words}; - for stdout.")
            for name, words in (
                ("json", "the outcome as JSON"),
                ("markdown", "Markdown for a pull request"),
                ("junit", "JUnit XML"),
                ("sarif", "SARIF 2.1.0"),
                ("github", "annotations for a GitHub workflow"),
            )
        ),
    ],
    options_metavar="[OPTIONS] SCRIPT [ARGUMENTS OF THE SCRIPT]",
    short_help="Check a script against its budget, and against a base.",
    help="""Check a script against the budget in pyproject.toml, and its step time against a base.

    Exit status: 0 the budget is kept, 1 it is not, 3 undecided, 2 a mistake in our part or pyproject.toml.""",
    context_settings=HELP,
)
