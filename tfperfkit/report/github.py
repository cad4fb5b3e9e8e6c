"""Annotations as the commands that a GitHub workflow prints: ``::warning file=train.py,line=3,title=...::text``."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.report.annotation import Annotation, below
from tfperfkit.report.text import visible

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def github(annotations: Iterable[Annotation], root: str = "") -> str:
    """Return a line for each; ``root``: the folder of the repository. No text of a script can end a line or begin
    one."""
    return "".join(f"{_command(each, root)}\n" for each in annotations)


def _command(each: Annotation, root: str) -> str:
    properties = []
    if each.where:
        properties.append(f"file={_property(below(each.where[0].file, root))}")
        if each.where[0].line > 0:
            properties.append(f"line={each.where[0].line}")
    properties.append(f"title={_property(f'{each.code} {each.title}')}")
    return f"::{_COMMANDS[each.level]} {','.join(properties)}::{_data(each.text)}"


def _data(text: str) -> str:
    lines = [visible(line) for line in text.splitlines()]
    return "\n".join(lines).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
