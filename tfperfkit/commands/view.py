"""``tfperf view``: opens a run in the browser."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP, RUN
from tfperfkit.commands._common_options import quiet, verbose
from tfperfkit.commands._help import Command


def _view(runs: tuple[str, ...], tensorboard: bool, port: int | None, no_browser: bool) -> int:
    runs = runs or ("last",)
    if tensorboard:
        from tfperfkit.doctor.tensorboard import why_not
        from tfperfkit.viewing.command import view as serve

        return serve(runs, port or 0, not no_browser, why_not)
    if port is not None:
        raise click.UsageError("--port is for --tensorboard: an HTML report needs no server")
    for run in runs:
        _open_page(run, not no_browser)
    return 0


def _open_page(run: str, browser: bool) -> None:
    """Write the HTML report of a run and open it. Raises RunDirectoryError or UsageError."""
    from tfperfkit.commands._ranks import show_ranks
    from tfperfkit.commands._reporting import Wanted, show_report
    from tfperfkit.config import find_run
    from tfperfkit.records.rank import holds_parts
    from tfperfkit.viewing.page import new_page, show_page

    folder = find_run(run)
    page = new_page(folder)
    wanted = Wanted((("html", str(page)),))
    if holds_parts(folder):
        show_ranks(folder, wanted)
    else:
        show_report(run, wanted, (), {})
    show_page(page, browser)


COMMAND = Command(
    "view",
    callback=_view,
    params=[
        click.Argument(["runs"], nargs=-1, metavar="[RUN...]"),
        click.Option(["--tensorboard"], is_flag=True, help="Show the traces in TensorBoard until Ctrl-C."),
        click.Option(
            ["--port"], type=click.IntRange(0, 65535), metavar="N", help="Port of TensorBoard. [default: free]"
        ),
        click.Option(["--no-browser"], is_flag=True, help="Print the address without opening a browser."),
        quiet("Print the addresses alone."),
        verbose(),
    ],
    short_help="Open a run's HTML report (or --tensorboard).",
    help=f"""Open a run's HTML report in the browser, or its trace in TensorBoard.

    {RUN} TensorBoard is served to this machine only.""",
    examples=("tfperf view", "tfperf view last --tensorboard"),
    context_settings=HELP,
)
