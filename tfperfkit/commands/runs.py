"""``tfperf runs``: lists, removes and queries recorded runs."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import quiet, verbose
from tfperfkit.commands._help import Command, Group


@click.group(
    cls=Group,
    invoke_without_command=True,
    context_settings=HELP,
    short_help="List and remove recorded runs.",
    examples=("tfperf runs --filter gan", "tfperf runs prune --older-than 30d"),
)
@click.option(
    "--filter",
    "word",
    metavar="WORD",
    default="",
    help="Show only runs whose name, script, status or finding contains WORD.",
)
@click.option(
    "--sort",
    "key",
    type=click.Choice(("when", "name", "script", "steps", "step", "wall")),
    default="when",
    metavar="KEY",
    help="Sort by when, name, script, steps, step or wall. [default: when]",
)
@click.option(
    "--limit", "rows", type=click.IntRange(0), default=40, metavar="N", help="Show N runs; 0: all. [default: 40]"
)
@click.option("--json", "json_file", metavar="FILE", help="Write the list as JSON; - for stdout.")
@click.pass_context
def runs(context: click.Context, word: str, key: str, rows: int, json_file: str | None) -> None:
    """List, remove and query recorded runs."""
    if context.invoked_subcommand is None:
        from tfperfkit.runs.command import show

        show(word, key, rows, json_file)


@runs.command(cls=Command)
@click.option("--older-than", "older", metavar="AGE", help="Remove runs older than AGE, e.g. 30d, 12h, 8w.")
@click.option(
    "--larger-than", "larger", metavar="SIZE", help="Remove the oldest runs until the rest takes SIZE, e.g. 10GB."
)
@click.option("--yes", is_flag=True, help="Remove without asking.")
@click.pass_context
def prune(context: click.Context, older: str | None, larger: str | None, yes: bool) -> int:
    """Remove the oldest runs, after asking."""
    if older is None and larger is None:
        raise click.MissingParameter(
            ctx=context, param_type="option", param_hint="--older-than 30d or --larger-than 10GB"
        )
    from tfperfkit.runs.command import prune as remove

    return remove(older, larger, yes)


@runs.command(cls=Command, short_help="Query the reports of all runs with SQL.")
@click.argument("statement")
@click.option("--json", "json_file", metavar="FILE", help="Write the rows as JSON; - for stdout.")
def sql(statement: str, json_file: str | None) -> None:
    """Query the reports of all runs with SQL: tables runs, findings, evidence, parts and more."""
    from tfperfkit.runs.command import sql as ask

    ask(statement, json_file)


@runs.command("export", cls=Command)
@click.argument("folder")
def export_runs(folder: str) -> None:
    """Write the tables that tfperf runs sql queries to FOLDER, as Parquet files."""
    from tfperfkit.runs.command import export as write

    write(folder)


runs.params.append(quiet("Show only the names of the runs."))
prune.params.append(quiet("Print nothing but the question."))
for _command in (runs, *runs.commands.values()):
    _command.params.append(verbose())

COMMAND = runs
