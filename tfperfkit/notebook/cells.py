"""Cells by their number: ``cell 3`` instead of the file that a kernel makes."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import PurePath
from types import FrameType
from typing import Any

import msgspec

from tfperfkit.model import Report


def kernel() -> Any:
    """IPython's shell where a notebook's kernel runs us; None elsewhere, also in IPython on a terminal."""
    module = sys.modules.get("IPython")
    get = getattr(module, "get_ipython", None)
    shell = get() if get is not None else None
    return shell if getattr(shell, "kernel", None) is not None or _is_colab() else None


def _is_colab() -> bool:
    return "google.colab" in sys.modules


def running_cell(shell: Any) -> int:
    """Return the number of the cell that runs, as its frame has it: ``execution_count`` is that of the next one since
    IPython 9 counts before it runs a cell."""
    known = getattr(getattr(shell, "compile", None), "_filename_map", None)
    frame: FrameType | None = sys._getframe()
    while frame is not None and isinstance(known, Mapping):
        number = known.get(frame.f_code.co_filename)
        if isinstance(number, int):
            return number
        frame = frame.f_back
    return int(shell.execution_count)


def cells(shell: Any) -> dict[str, str]:
    """Return the files that the shell made of cells, and what to call them; {} where it does not tell."""
    known = getattr(getattr(shell, "compile", None), "_filename_map", None)
    if not isinstance(known, Mapping):
        return {}
    return {str(file): f"cell {number}" for file, number in known.items() if isinstance(number, int)}


def with_cells(report: Report, names: Mapping[str, str]) -> Report:
    """Return the report with cells by their names: in places, and in every text."""
    if not names:
        return report
    short = {PurePath(file).name: file for file in names}
    pattern = re.compile("|".join(rf"(?:[^\s()]*/)?{re.escape(name)}(?::(\d+))?" for name in short))
    found = re.compile("|".join(map(re.escape, short)))

    def renamed(match: re.Match[str]) -> str:
        name = found.search(match.group())
        line = match.group().rpartition(":")[2]
        cell = names[short[name.group()]] if name else match.group()
        return f"{cell}, line {line}" if line.isdecimal() and match.group().endswith(f":{line}") else cell

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(renamed, value) if found.search(value) else value
        if isinstance(value, dict):
            return {walk(key): walk(item) for key, item in value.items()}
        return [walk(item) for item in value] if isinstance(value, list | tuple) else value

    return msgspec.convert(walk(msgspec.to_builtins(report, enc_hook=str, str_keys=True)), Report, strict=False)
