"""The options that several commands have."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tfperfkit.commands._help import VERBOSE
from tfperfkit.errors import UsageError

_QUIET = "tfperfkit.quiet"


def run_dir(words: str) -> click.Option:
    """Return ``--run-dir DIR``."""
    return click.Option(["--run-dir"], metavar="DIR", help=f"{words} [default: a new folder]")


def json_file(words: str) -> click.Option:
    """Return ``--json FILE``, whose value is ``json_file``."""
    return click.Option(["--json", "json_file"], metavar="FILE", help=f"Write {words} as JSON; - for stdout.")


def full() -> click.Option:
    """Return ``--full``."""
    return click.Option(["--full"], is_flag=True, help="Show all tables, evidence and details.")


def noise() -> list[click.Parameter]:
    """Return ``-q``, ``-v`` and ``--color``. The command gets the values of the first two."""
    return [quiet(exposed=True), verbose(exposed=True), color()]


def quiet(words: str = "Show only the result: no header, no progress.", *, exposed: bool = False) -> click.Option:
    """Return ``-q``, which ``report.terminal.is_quiet`` answers."""
    return click.Option(["-q", "--quiet"], is_flag=True, callback=_choose_quiet, expose_value=exposed, help=words)


def verbose(*, exposed: bool = False) -> click.Option:
    """Return ``-v``, which lets ``Command.invoke`` print tracebacks."""
    words = "Show the traceback of an error."
    return click.Option(["-v", "--verbose"], is_flag=True, callback=_choose_verbose, expose_value=exposed, help=words)


def _choose_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    """Remember the choice; a command of a group takes over that of the group."""
    from tfperfkit.report.terminal import choose_quiet

    chosen = value or bool(ctx.meta.get(_QUIET))
    ctx.meta[_QUIET] = chosen
    choose_quiet(chosen)
    return chosen


def _choose_verbose(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    ctx.meta[VERBOSE] = value or bool(ctx.meta.get(VERBOSE))
    return value


def color() -> click.Option:
    """Return ``--color WHEN``, which takes effect by itself."""
    return click.Option(
        ["--color"],
        type=click.Choice(("auto", "always", "never")),
        metavar="WHEN",
        callback=_choose_color,
        expose_value=False,
        help="Use colour: auto, always or never. [default: auto]",
    )


def _choose_color(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        from tfperfkit.report.terminal import choose_color

        choose_color(value)


def documents(choices: Sequence[str]) -> list[click.Parameter]:
    """Return ``--format X`` and ``-o FILE``; both may be given several times. ``paired`` reads them."""
    names = ", ".join(choices)
    return [
        click.Option(["-o", "--output", "outputs"], metavar="FILE", multiple=True, help="Write the output to FILE."),
        click.Option(
            ["--format", "formats"],
            type=click.Choice(choices),
            metavar="FORMAT",
            multiple=True,
            help=f"Format of the output: {names}. May be repeated, each with an -o. [default: text]",
        ),
    ]


def paired(formats: Sequence[str], outputs: Sequence[str]) -> list[tuple[str, str]]:
    """Return each format with its file, the first ``--format`` with the first ``-o``.

    A format without a file goes to stdout (``-``). Raises UsageError if there are more files than formats, or if two
    formats have no file.
    """
    names = list(formats) or ["text"] * bool(outputs)
    if len(outputs) > len(names):
        raise UsageError(f"-o {outputs[len(names)]}: give a --format for each -o")
    if len(names) > len(outputs) + 1:
        raise UsageError(f"--format {names[-1]}: only one format can go to stdout; give an -o for each --format")
    return list(zip(names, [*outputs, "-"], strict=False))
