"""Whoever calls a command without what it needs sees its help, as it is meant to look, and what was missing."""

from __future__ import annotations

import click
import pytest
from tfperf_runner import Tfperf

from tfperfkit.cli import cli

NEEDY = [
    name
    for name, command in sorted(cli.commands.items())
    if name == "run" or any(isinstance(param, click.Argument) and param.required for param in command.params)
]


@pytest.mark.parametrize("command", ["", *NEEDY])
def test_called_alone_it_shows_its_help(tfperf: Tfperf, command: str) -> None:
    words = [command] if command else []
    done = tfperf(*words)
    assert (done.returncode, done.stdout) == (2, "")
    asked = tfperf(*words, "--help")
    assert asked.returncode == 0
    assert done.stderr.startswith(asked.stdout)
    assert "\\n" not in done.stderr
    assert "\n  RUN\n" not in asked.stdout, "an argument is no option"
    rest = done.stderr.removeprefix(asked.stdout).strip()
    if command in ("", "run"):
        assert rest == ""
    else:
        assert rest.startswith("tfperf: Missing argument '")
