"""``tfperf completion``: completes commands and options in a shell."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import verbose
from tfperfkit.commands._help import Command


def _completion(shell: str) -> None:
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"completion is for bash, zsh and fish, not {shell!r:.40}")
    root = click.get_current_context().find_root().command
    click.echo(made(root, {}, "tfperf", "_TFPERF_COMPLETE").source())


COMMAND = Command(
    "completion",
    callback=_completion,
    params=[click.Argument(["shell"], metavar="bash|zsh|fish"), verbose()],
    short_help="Print a shell completion script.",
    help="Print a shell completion script.",
    examples=(
        'eval "$(tfperf completion bash)"        # in ~/.bashrc; with zsh in ~/.zshrc',
        "tfperf completion fish > ~/.config/fish/completions/tfperf.fish",
    ),
    context_settings=HELP,
)
