"""``tfperf completion``: our commands in a shell."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command(context_settings=HELP)
@click.argument("shell")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete our commands and options. SHELL: bash, zsh or fish.

    \b
    eval "$(tfperf completion bash)"              in ~/.bashrc, or zsh in ~/.zshrc
    tfperf completion fish > ~/.config/fish/completions/tfperf.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"completion is for bash, zsh and fish, not {shell!r:.40}")
    click.echo(made(context.find_root().command, {}, "tfperf", "_TFPERF_COMPLETE").source())


COMMAND = completion
