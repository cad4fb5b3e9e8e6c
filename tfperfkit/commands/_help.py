"""The help of the commands: groups of commands, the options most often used, examples, exit statuses."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import click

from tfperfkit.errors import TfperfError

_ALL = "tfperfkit.help_all"
#: Key of the context: whether the user asked for tracebacks.
VERBOSE = "tfperfkit.verbose"
#: Text that click appends to the help of an option that takes a number in a range.
_RANGE = re.compile(r"\s+\[[^\[\]]*\bx\b[^\[\]]*\]$")


class Command(click.Command):
    """A command whose ``--help`` shows the ``brief`` options and its examples, and ``--help-all`` every option.

    ``brief`` holds names of options; if it is empty, ``--help`` shows all of them. ``usages`` are further lines of
    usage. ``status`` says what the exit statuses mean.
    """

    def __init__(
        self,
        *args: Any,
        brief: Sequence[str] = (),
        usages: Sequence[str] = (),
        examples: Sequence[str] = (),
        status: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.brief, self.usages, self.examples, self.status = brief, usages, examples, status
        if brief:
            self.params.append(help_all("Show all options and exit."))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. With ``--verbose`` the traceback precedes the line of an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader has gone
            raise
        except (TfperfError, OSError):
            if ctx.meta.pop(VERBOSE, False):  # a group does not repeat it
                traceback.print_exc()
            raise

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_usage(ctx, formatter)
        for usage in self.usages:
            formatter.write_usage(ctx.command_path, usage, prefix=" " * len("Usage: "))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, records in self.option_groups(ctx).items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def option_groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return what the help says of each option, by the title of its group."""
        return {
            "Options": [record for param in self.get_params(ctx) if (record := self.record(ctx, param)) is not None]
        }

    def record(self, ctx: click.Context, param: click.Parameter) -> tuple[str, str] | None:
        """Return the option and its help; None for an argument, and for an option that this help does not show."""
        always = not self.brief or ctx.meta.get(_ALL) or not {"--help", "--help-all"}.isdisjoint(param.opts)
        if isinstance(param, click.Argument) or not (always or param.name in self.brief):
            return None
        record = param.get_help_record(ctx)
        return (record[0], _RANGE.sub("", record[1])) if record is not None else None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        if self.status:
            formatter.write_paragraph()
            formatter.write_text(f"Exit status: {self.status}")


class Group(Command, click.Group):
    """A command with commands of its own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def help_all(words: str) -> click.Option:
    """Return the option ``--help-all``."""
    return click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help=words)


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class Root(click.Group):
    """``tfperf`` itself: its help lists the commands by what they are for."""

    #: The commands by group. The last group is shown by ``--help-all``.
    groups: Mapping[str, Sequence[str]] = {
        "Profile": ("run", "report", "view"),
        "Understand": ("explain", "compare"),
        "Improve": ("fix", "try"),
        "Automate": ("check", "runs"),
        "Setup": ("doctor", "list"),
        "More": ("export", "launch", "mcp", "poke", "completion"),
    }

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.commands))
        for title, names in self.groups.items():
            if title == "More" and not ctx.meta.get(_ALL):
                continue
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", self.commands[name].get_short_help_str(80)) for name in names])
