"""An option of a probe: declared by the probe, typed on the command line or kept in pyproject.toml, checked here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from tfperfkit.errors import UsageError

#: Types of values. "names" is a list with commas, "paths" a list of files and folders that exist.
Kind = Literal["flag", "int", "float", "text", "names", "paths"]
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """A probe states its options in the class attribute ``options``, a tuple of these.

    Each appears in ``tfperf run --help`` under the probe's name, as ``--PROBE-NAME`` or as ``flag`` says, and may be
    set in ``[tool.tfperf.PROBE]`` of pyproject.toml and in the environment. ``recording.options`` and
    ``capture.options`` hold every declared option by ``name``: the value that was given, else ``default``.

    ``metavar`` stands for the value in the help; ``minimum`` is the smallest number allowed. ``in_report``: only
    ``analyze`` reads it, so that ``tfperf report`` takes it, too. ``flag`` must begin with ``--PROBE``.
    """

    name: str
    help: str
    type: Kind = "text"
    default: Any = None
    metavar: str = ""
    minimum: float | None = None
    in_report: bool = False
    flag: str = ""


class Declared(msgspec.Struct, frozen=True):
    """An option with the probe that states it and the spelling on the command line that is its own."""

    probe: str
    option: Option
    flag: str

    @property
    def setting(self) -> str:
        """Its name as a setting: the spelling without the dashes before it."""
        return self.flag.removeprefix("--")


def spelling(probe: str, option: Option) -> str:
    """Return how an option is typed."""
    return option.flag or f"--{probe}-{option.name}".replace("_", "-")


def option_problem(probe: str, option: object, *, ours: bool = False) -> str | None:
    """Return why something in ``options`` can't be one. A flag begins with ``--PROBE``, so that the command line tells
    whose it is before any probe is loaded (``ours``: those are loaded anyway)."""
    if not isinstance(option, Option):
        return f"states {option!r:.60} in options, which is no Option"
    if not _NAME.fullmatch(option.name):
        return f"calls an option {option.name!r:.60}: letters, digits and '_', in lower case"
    flag = spelling(probe, option)
    if not flag.startswith("--" if ours else f"--{probe}"):
        return f"spells its option {option.name} {flag}: it must begin with --{probe}"
    return None


def effective(probe: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``options`` of a probe: its own defaults, and over them the values that were given."""
    stated = getattr(probe, "options", ())
    options = stated if isinstance(stated, (tuple, list)) else ()
    return {**{option.name: option.default for option in options if isinstance(option, Option)}, **given}


def convert(declared: Declared, value: object, origin: str, folder: Path) -> Any:
    """Return the value of an option, from a text or from what TOML holds. Raises UsageError that names ``origin``.

    Relative paths are meant from ``folder``. A text holds several names with commas between them.
    """
    option = declared.option

    def refuse(what: str) -> UsageError:
        return UsageError(f"{origin}: {what}")

    if isinstance(value, str) and "\0" in value:
        raise refuse("holds a character that no value can have (NUL)")
    if option.type == "flag":
        found = _WORDS.get(value.lower()) if isinstance(value, str) else value
        if not isinstance(found, bool):
            raise refuse(f"takes true or false, not {shown(value)}")
        return found
    if option.type in ("int", "float"):
        return _number(option, value, refuse)
    if option.type == "text":
        if not isinstance(value, str):
            raise refuse(f"takes a text, not {shown(value)}")
        return value
    items = value.split(",") if isinstance(value, str) and option.type == "names" else value
    items = [items] if isinstance(items, str) else items
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        raise refuse(f"takes a text or a list of texts, not {shown(value)}")
    if option.type == "names":
        return [item.strip() for item in items if item.strip()]
    for item in items:
        if "\0" in item or not (folder / item).exists():
            raise UsageError(f"{origin} {item}: no such file or folder")
    return [str((folder / item).resolve()) for item in items]


def _number(option: Option, value: object, refuse: Any) -> float:
    whole = option.type == "int"
    what = "a whole number" if whole else "a number"
    if option.minimum is not None:
        what += f" from {option.minimum:g} up"
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError
        number = int(value) if whole else float(value)
        if number != number or (whole and isinstance(value, float)):
            raise ValueError
    except (ValueError, OverflowError):
        raise refuse(f"takes {what}, not {shown(value)}") from None
    if option.minimum is not None and number < option.minimum:
        raise refuse(f"takes {what}, not {shown(value)}")
    return number


def shown(value: object) -> str:
    """Return a value from a file in an error, short."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # numbers of 5000 digits, lists in lists
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
