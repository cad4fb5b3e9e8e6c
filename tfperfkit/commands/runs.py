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
@click.option(
    "--sort",
    "key",
    type=click.Choice(("when", "name", "script", "steps", "step", "wall")),
    default="when",
    help="By what the list is sorted. Default: when.",
)
@click.option("--max", "rows", type=click.IntRange(0), default=40, help="So many rows; 0: all. Default: 40.")
@click.option("--most", "rows", type=click.IntRange(0), hidden=True)
@click.option("--json", "json_file", metavar="FILE", help="Write the list as JSON; - for stdout.")
@click.pass_context
def runs(context: click.Context, word: str, key: str, rows: int, json_file: str | None) -> None:
    """List the runs in the runs folder, remove old ones, ask them by SQL."""
    if context.invoked_subcommand is None:
        from tfperfkit.runs.command import show

        show(word, key, rows, json_file)


@runs.command()
@click.option("--older-than", "older", metavar="AGE", help="Runs that began longer ago: 30d, 12h, 8w.")
@click.option("--larger-than", "larger", metavar="SIZE", help="The oldest, until all together take no more: 10GB.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.pass_context
def prune(context: click.Context, older: str | None, larger: str | None, yes: bool) -> int:
    """Remove old runs. Says which, and asks first."""
    if older is None and larger is None:
        raise click.MissingParameter(
            ctx=context, param_type="option", param_hint="--older-than 30d or --larger-than 10GB"
        )
    from tfperfkit.runs.command import prune as remove

    return remove(older, larger, yes)


@runs.command(short_help="Ask the reports of all runs, in SQL.")
@click.argument("statement")
@click.option("--json", "json_file", metavar="FILE", help="Write the rows as JSON; - for stdout.")
def sql(statement: str, json_file: str | None) -> None:
    """Ask the reports of all runs, in SQL: the tables runs, findings, evidence, parts."""
    from tfperfkit.runs.command import sql as ask

    ask(statement, json_file)


@runs.command("export")
@click.argument("folder")
def export_runs(folder: str) -> None:
    """Write the tables of sql as Parquet files into FOLDER."""
    from tfperfkit.runs.command import export as write

    write(folder)


COMMAND = runs
