"""``tfperf view``: traces in TensorBoard."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP, short_help="Show runs' traces in TensorBoard.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
def view(runs: tuple[str, ...], port: int, no_browser: bool) -> int:
    """Show runs' traces in TensorBoard, on this machine only, until Ctrl-C."""
    from tfperfkit.doctor.tensorboard import why_not
    from tfperfkit.viewing.command import view as show

    return show(runs, port, not no_browser, why_not)


COMMAND = view
