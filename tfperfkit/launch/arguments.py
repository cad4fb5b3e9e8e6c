"""Splits a command line into tfperf options and script arguments.

tfperf options go before SCRIPT or directly after it. Everything from the first unrecognised argument, or from ``--``
on, is passed to the script.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

import msgspec

from tfperfkit.errors import UsageError

HELP = ("-h", "--help", "--help-all")
#: Scripts have these too, so they are options of tfperf only before the script; so is every one-letter option.
_BEFORE_ONLY = ("--quiet", "--verbose", "--color")


class Split(msgspec.Struct, frozen=True):
    """A command line taken apart. ``taken`` are the tfperf options after SCRIPT, as they were written."""

    ours: tuple[str, ...]
    target: str
    is_module: bool
    script_arguments: tuple[str, ...]
    taken: tuple[str, ...]


def split(
    arguments: Sequence[str], options: Mapping[str, bool], command: str = "run", default: str = ""
) -> Split | None:
    """Take apart the arguments of ``tfperf run``, or of another ``command`` that runs a script.

    ``options`` maps each tfperf option to whether it takes a value. ``default`` stands for a missing script.

    None if the help of tfperf is asked for, before SCRIPT (after it, the script's own is).
    Raises UsageError for an unknown option before the script and for a missing script.
    """
    ours: list[str] = []
    rest = list(arguments)
    target: str | None = None
    is_module = False
    while rest and target is None:
        word = rest.pop(0)
        if word == "-m":
            if not rest:
                raise UsageError("-m needs the name of a module")
            target, is_module = rest.pop(0), True
        elif word.startswith("-m") and "=" not in word:
            target, is_module = word[2:], True  # -mpackage, as Python takes it too
        elif word in HELP:
            return None
        elif word == "--":
            if not rest:
                break
            target = rest.pop(0)
        elif word.startswith("-") and word != "-":
            ours += _take(word, rest, options, command)
        else:
            target = word
    target = target or default
    if not target:
        raise UsageError(f"no script given: tfperf {command} [OPTIONS] SCRIPT [SCRIPT ARGUMENTS]")
    taken: list[str] = []
    while rest:
        if rest[0] == "--":
            rest.pop(0)
            break
        word = rest[0]
        name = word.partition("=")[0]
        if name not in options or word in HELP or name in _BEFORE_ONLY or not name.startswith("--"):
            break
        if word == name and options[name] and len(rest) == 1:
            shown = f"-m {target}" if is_module else target
            raise UsageError(f"{word} needs a value; if it is the script's: {shown} -- {' '.join([*taken, word])}")
        taken += _take(rest.pop(0), rest, options, command)
    return Split(tuple(ours + taken), target, is_module, tuple(rest), tuple(taken))


def _take(word: str, rest: list[str], options: Mapping[str, bool], command: str) -> list[str]:
    name, equals, _ = word.partition("=")
    if name not in options:
        near = difflib.get_close_matches(name, options, 1)
        hint = f"did you mean {near[0]}?" if near else f"tfperf {command} --help lists them"
        raise UsageError(f"no option {name}; {hint} (options of the script stand after it)")
    if not options[name] or equals:
        return [word]
    if not rest:
        raise UsageError(f"{name} needs a value")
    return [word, rest.pop(0)]
