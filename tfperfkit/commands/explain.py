"""``tfperf explain``: a code, a probe, a word."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP)
@click.argument("topic", nargs=-1)
@click.option("--list", "list_all", is_flag=True, help="List all that can be explained.")
@click.option("--full", is_flag=True, help="Add how a finding is detected and its gain estimated.")
@click.pass_context
def explain(context: click.Context, topic: tuple[str, ...], list_all: bool, full: bool) -> None:
    """Explain a finding's code, a probe, or a word of the report.

    \b
    tfperf explain BAT001
    tfperf explain "clean steps"
    """
    from tfperfkit.explain.command import explain as show_pages
    from tfperfkit.explain.command import list_topics

    if list_all:
        list_topics()
    elif topic:
        show_pages(topic, full=full)
    else:
        raise click.exceptions.NoArgsIsHelpError(context)


COMMAND = explain
