"""``tfperf runs``: the runs folder."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.group(
    invoke_without_command=True,
    context_settings=HELP,
    short_help="List the runs in the runs folder, remove and query them.",
)
@click.option(
    "--filter", "word", metavar="WORD", default="", help="Of which name, script, status or finding hold this."
)
@click.option("--sort", "key", type=click.Choice(("when", "name", "script", "steps", "step", "wall")), default="when")
@click.option("--most", type=click.IntRange(0), default=40, help="So many rows; 0: all. Default: 40.")
@click.option("--json", "json_file", metavar="FILE", help="Write the list as JSON; - for stdout.")
@click.pass_context
def runs(context: click.Context, word: str, key: str, most: int, json_file: str | None) -> None:
    """List the runs in the runs folder, remove old ones, ask them by SQL."""
    if context.invoked_subcommand is None:
        from tfperfkit.runs.command import show

        show(word, key, most, json_file)


@runs.command()
@click.option("--older-than", "older", metavar="AGE", help="Runs that began longer ago: 30d, 12h, 8w.")
@click.option("--larger-than", "larger", metavar="SIZE", help="The oldest, until all together take no more: 10GB.")
@click.option("--yes", is_flag=True, help="Don't ask.")
def prune(older: str | None, larger: str | None, yes: bool) -> int:
    """Remove old runs. Tells which, and asks first."""
    from tfperfkit.runs.command import prune as remove

    return remove(older, larger, yes)


@runs.command()
@click.argument("statement")
@click.option("--json", "json_file", metavar="FILE", help="Write the rows as JSON; - for stdout.")
def sql(statement: str, json_file: str | None) -> None:
    """Ask the reports of all runs: the tables runs, findings, evidence, parts."""
    from tfperfkit.runs.command import sql as ask

    ask(statement, json_file)


@runs.command("export")
@click.argument("folder")
def export_runs(folder: str) -> None:
    """Write these tables as Parquet files into FOLDER."""
    from tfperfkit.runs.command import export as write

    write(folder)


COMMAND = runs
