"""A command whose line holds a script and what is the script's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import click
from click.shell_completion import CompletionItem

from tfperfkit.commands._completing import files


class ScriptCommand(click.Command):
    """Splits our arguments from the script's before click sees them; they are the context's ``obj``."""

    #: As messages call it.
    spelled: ClassVar[str]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from tfperfkit.launch.arguments import split

        if ctx.resilient_parsing:  # a shell asks what could come next
            self.look(ctx, None)
            return super().parse_args(ctx, [])
        if not args:
            raise click.exceptions.NoArgsIsHelpError(ctx)
        self.look(ctx, args)
        options = {name: not getattr(param, "is_flag", False) for param in self.get_params(ctx) for name in param.opts}
        parts = split(args, options, self.spelled)
        if parts is None:
            self.look(ctx, None)
            return super().parse_args(ctx, ["--help"])
        ctx.obj = parts
        return super().parse_args(ctx, list(parts.ours))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options, else the script, or a file that it takes."""
        return super().shell_complete(ctx, incomplete) if incomplete.startswith("-") else files(ctx, incomplete)

    def look(self, ctx: click.Context, words: Sequence[str] | None) -> None:
        """What the line says before it is split; None: for the help of everything."""
