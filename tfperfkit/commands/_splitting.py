"""A command whose line holds a script and what is the script's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import click
from click.shell_completion import CompletionItem

from tfperfkit.commands._completing import files
from tfperfkit.commands._help import Command


class ScriptCommand(Command):
    """A command that splits tfperf options from script arguments before click sees them. The parts are the context's
    ``obj``."""

    #: The name of the command in messages.
    spelled: ClassVar[str]
    #: Replacement for SCRIPT if nothing is given.
    target: ClassVar[str] = ""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from tfperfkit.launch.arguments import HELP, split

        if ctx.resilient_parsing:  # a shell asks what could come next
            self.look(ctx, None)
            return super().parse_args(ctx, [])
        if not args and not self.target:
            raise click.exceptions.NoArgsIsHelpError(ctx)
        self.look(ctx, args)
        options = {name: _takes_value(param) for param in self.get_params(ctx) for name in param.opts}
        parts = split(args, options, self.spelled, self.target)
        if parts is None:
            self.look(ctx, None)
            return super().parse_args(ctx, [next(word for word in args if word in HELP)])
        ctx.obj = parts
        return super().parse_args(ctx, list(parts.ours))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options, else the script, or a file that it takes."""
        return super().shell_complete(ctx, incomplete) if incomplete.startswith("-") else files(ctx, incomplete)

    def look(self, ctx: click.Context, words: Sequence[str] | None) -> None:
        """Look at the line before it is split; None: for the help of everything."""


def _takes_value(param: click.Parameter) -> bool:
    """Return whether the next word is the option's value. An optional value is written ``--option=value``."""
    return not (getattr(param, "is_flag", False) or isinstance(getattr(param, "flag_value", None), str))
