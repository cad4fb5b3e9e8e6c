"""``tfperf compare``: what changed between runs."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP, short_help="Tell what changed between runs, by how much, and why.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN_A RUN_B...")
@click.option("--json", "json_file", metavar="FILE", help="Write the comparison as JSON; - for stdout.")
def compare(runs: tuple[str, ...], json_file: str | None) -> None:
    """Tell what changed between runs: set-up, step time and whether that is more than chance, and why.

    The others are compared with the first. RUN: a folder, a run's name, last, or a JSON report."""
    from tfperfkit.comparing.command import compare_runs

    compare_runs(runs, json_file)


COMMAND = compare
