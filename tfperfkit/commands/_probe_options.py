"""The options of probes on the command line: whose they are, how click shows and takes them.

Modules that ask the probes are imported when a command is called, not for ``tfperf --help``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tfperfkit.commands._help import Command

if TYPE_CHECKING:
    from tfperfkit.option import Declared

_DECLARED = "tfperfkit.probe_options"
#: Key of the options that ``tfperf run`` alone takes.
_OF_RECORDING = "tfperfkit.probe_options.of_recording"


class ProbeOptionsCommand(Command):
    """A command that takes the probes' options next to its own, and shows them under each probe's name."""

    #: Those alone that analysing reads.
    only_in_report = False

    def look(self, ctx: click.Context, words: Sequence[str] | None) -> None:
        """Ask the probes for their options; of somebody else's those that the words, the environment or pyproject.toml
        speak of. None: all of them, for the help."""
        from tfperfkit import registry
        from tfperfkit.config import variable

        configured = _configured() if words is not None else frozenset[str]()

        def wanted(name: str) -> bool:
            typed = any(word.startswith(f"--{name}") for word in words or ())
            set_there = any(key.startswith(variable(name) + "_") for key in os.environ)
            return words is None or typed or set_there or name in configured

        found = registry.declared(wanted)
        ctx.meta[_DECLARED] = [each for each in found if each.option.in_report or not self.only_in_report]
        ctx.meta[_OF_RECORDING] = [each for each in found if each not in ctx.meta[_DECLARED]]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Our own, then the probes'. Of two that are spelled alike ours counts."""
        own = super().get_params(ctx)
        taken = {name for param in own for name in param.opts}
        if _DECLARED not in ctx.meta:
            self.look(ctx, None)
        declared = enumerate(_declared(ctx))
        return [*own, *(_option(index, each) for index, each in declared if each.flag not in taken)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if _DECLARED not in ctx.meta:
            self.look(ctx, None if {"-h", "--help", "--help-all"} & set(args) else args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            other = next((each for each in ctx.meta.get(_OF_RECORDING, ()) if each.flag == error.option_name), None)
            if other is None:
                raise
            text = f"{other.flag} is for tfperf run: it changes what the probe {other.probe} records"
            raise click.UsageError(text, ctx) from None

    def option_groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        groups: dict[str, list[tuple[str, str]]] = {"Options": []}
        probes = {_make_key(index): each.probe for index, each in enumerate(_declared(ctx))}
        for param in self.get_params(ctx):
            record = self.record(ctx, param)
            if record is not None:
                probe = probes.get(param.name or "")
                groups.setdefault(f"Options of the probe {probe}" if probe else "Options", []).append(record)
        return groups


class ReportOptionsCommand(ProbeOptionsCommand):
    """A command on a run that was recorded."""

    only_in_report = True


def probe_options(ctx: click.Context, options: dict[str, Any]) -> tuple[Sequence[Declared], dict[str, Any]]:
    """Return the options that may be given, and those that were typed, by spelling; they leave what click parsed."""
    given = {}
    for index, each in enumerate(_declared(ctx)):
        value = options.pop(_make_key(index), None)
        if value is not None and value is not False and value != ():
            given[each.flag] = value
    return _declared(ctx), given


def _declared(ctx: click.Context) -> Sequence[Declared]:
    found: Sequence[Declared] = ctx.meta.get(_DECLARED, ())
    return found


def _configured() -> frozenset[str]:
    from tfperfkit.config import probe_tables

    try:
        return probe_tables(Path.cwd())
    except OSError:  # the folder is gone: reported later
        return frozenset()


def _make_key(index: int) -> str:
    return f"option_of_a_probe_{index}"


def _option(index: int, declared: Declared) -> click.Option:
    option = declared.option
    fields: Mapping[str, Any] = {"is_flag": True} if option.type == "flag" else {"metavar": option.metavar or "VALUE"}
    many: Mapping[str, Any] = {"multiple": True} if option.type == "paths" else {}
    return click.Option([_make_key(index), declared.flag], help=option.help, **fields, **many)
