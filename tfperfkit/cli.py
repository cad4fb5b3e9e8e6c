"""The entry point of the command line: every command of ``tfperfkit.commands``, and errors as exit statuses."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

import click

from tfperfkit.commands import HELP, commands
from tfperfkit.commands._help import Root, help_all
from tfperfkit.errors import EXIT_USAGE, TfperfError
from tfperfkit.version import __version__

#: So many objects more before garbage is looked for. This process is ours and short; of a report, which makes hardly
#: any cycles, Python's own number (700, 2,000 in newer ones) spends a fifth of the time on looking.
_COLLECT_AFTER = 50_000


cli = click.version_option(__version__, prog_name="tfperf", message="%(prog)s %(version)s")(
    Root(
        "tfperf",
        params=[help_all("Show all commands and exit.")],
        help="Find out what makes a TensorFlow 2 script slow, where, and what to change.",
        context_settings=HELP,
    )
)
for _command in commands():
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the command. A user's mistake is one line on stderr; never a traceback."""
    gc.set_threshold(_COLLECT_AFTER, 20, 50)
    try:
        _main(arguments)
    except SystemExit as ended:
        if sys.flags.inspect:
            _leave(ended.code)
        raise


def _leave(status: object) -> None:
    """``python -i`` and PYTHONINSPECT are the script's: its prompt has come and gone, ours would be a second one."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                pass
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)


def _main(arguments: Sequence[str] | None) -> None:
    try:
        status = cli.main(list(arguments) if arguments is not None else None, prog_name="tfperf", standalone_mode=False)
    except TfperfError as error:
        _tell(str(error))
        raise SystemExit(error.exit_status) from None
    except (click.exceptions.NoArgsIsHelpError, click.MissingParameter) as error:
        _help(error)
        raise SystemExit(EXIT_USAGE) from None
    except click.ClickException as error:
        asked = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else "tfperf"
        _tell(f"{error.format_message()} ({asked} --help)")
        raise SystemExit(EXIT_USAGE) from None
    except (click.Abort, KeyboardInterrupt):
        raise SystemExit(130) from None
    except BrokenPipeError:
        _close_stdout()
        raise SystemExit(0) from None
    except OSError as error:
        _close_stdout()
        _tell(f"{error.strerror or error}{f': {error.filename!s}' if error.filename else ''}")
        raise SystemExit(EXIT_USAGE) from None
    raise SystemExit(status if isinstance(status, int) else 0)


def _help(error: click.UsageError) -> None:
    """Called without what it needs: its help, and what was missing if that was named."""
    if error.ctx is not None:
        print(error.ctx.get_help(), file=sys.stderr)
    if isinstance(error, click.MissingParameter):
        print(file=sys.stderr)
        _tell(" ".join(error.format_message().split()).rstrip("."))


def _tell(text: str) -> None:
    """Print a line that quoted names and words of others can neither break nor use to command the terminal."""
    from tfperfkit.report.text import one_line

    print(one_line(f"tfperf: {text}"), file=sys.stderr)


def _close_stdout() -> None:
    """Whoever read it has gone (``| head``), or its disk is full: Python must not complain once more at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        pass


if __name__ == "__main__":
    main()
