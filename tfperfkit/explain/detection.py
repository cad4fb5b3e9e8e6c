"""How tfperf detects a finding and estimates its gain, from the files of the rules that report it.

A rule's file names its codes in its docstring, or its class has ``code``. Its docstrings and its thresholds are the
part "Detection and gain estimate" of the finding's page. A line ``<!-- collected: detection CODE -->`` stands for it.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from tfperfkit import calibration
from tfperfkit.registry import installed

_MARK = re.compile(r"^<!-- collected: detection ([A-Z]{2,5}\d{3}) -->$", re.MULTILINE)
_CODE = re.compile(r"([A-Z]{2,5})(\d{3})(?: to \1(\d{3}))?")
_PER_CENT = 100
_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
#: Units in which a threshold has many digits: the factor to a larger unit, and its name.
_SCALED = {"ns": (1e-6, "ms"), "bytes/ms": (1e-6, "GB/s"), "us": (1.0, "µs")}


def fill_in_detection(page: str, *, folded: bool = False) -> str:
    """Replace the mark of a page. ``folded``: as a collapsed part for the site, else under a heading."""
    return _MARK.sub(lambda mark: _write_part(mark[1], folded=folded), page)


def describe_detection(code: str) -> str:
    """Return how a finding is detected, in Markdown; "" if no installed rule reports the code."""
    paragraphs: list[str] = []
    numbers: list[str] = []
    for module in find_rule_modules(code):
        paragraphs += [text for text in _describe(module, code) if text not in paragraphs]
        numbers += [line for line in _list_thresholds(module) if line not in numbers]
    return "\n\n".join([*paragraphs, "\n".join(numbers)]).strip()


def find_rule_modules(code: str) -> Iterator[ModuleType]:
    """Yield the modules of installed rules that report a code."""
    for module in rule_modules():
        if code in _list_codes(module.__doc__ or "") or any(cls.code == code for cls in _list_classes(module)):
            yield module


def rule_modules() -> Iterator[ModuleType]:
    """Import and yield the modules of all installed rules' packages. One that can't be imported is left out."""
    names = sorted({point.value.partition(":")[0].partition(".")[0] for point in installed("tfperfkit.rules")})
    for name in names:
        package = _import(name)
        for info in walk_packages(getattr(package, "__path__", []), f"{name}."):
            module = _import(info.name)
            if module is not None:
                yield module


def _import(name: str) -> ModuleType | None:
    try:
        return sys.modules.get(name) or importlib.import_module(name)
    except Exception:  # a foreign package
        return None


def _write_part(code: str, *, folded: bool) -> str:
    text = describe_detection(code)
    if not folded:
        return f"## Detection and gain estimate\n\n{text}"
    return f'<details markdown="1"><summary>Detection and gain estimate</summary>\n\n{text}\n\n</details>'


def _list_codes(text: str) -> set[str]:
    found = set()
    for family, first, last in _CODE.findall(text):
        found |= {f"{family}{number:03d}" for number in range(int(first), int(last or first) + 1)}
    return found


def _list_classes(module: ModuleType) -> Iterator[Any]:
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__ and isinstance(vars(value).get("code"), str):
            yield value


def _describe(module: ModuleType, code: str) -> Iterator[str]:
    yield _join(module.__doc__ or "")
    for cls in _list_classes(module):
        if cls.code == code and cls.__doc__:
            yield _join(cls.__doc__)


def _join(docstring: str) -> str:
    """Return a docstring with its paragraphs on one line each, and code marked as in Markdown."""
    paragraphs = re.split(r"\n\s*\n", docstring.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).replace("``", "`")


def _list_thresholds(module: ModuleType) -> Iterator[str]:
    for _, record in calibration.table(module):
        says = record.says[:1].upper() + record.says[1:]
        yield f"- {says}: {write_number(record.value, record.unit)}."


def write_number(value: float, unit: str) -> str:
    """Write a threshold with its unit: ``10 %``, ``64 MiB``, ``20 ms``, ``12 GB/s``, ``200 steps``, ``1.3``."""
    if unit == "share":
        return f"{_PER_CENT * value:.3g} %"
    if unit in ("count", "number", "ratio"):
        return f"{value:,.6g}"
    if unit == "bytes":
        size, name = next((each for each in _SIZES if value >= each[0]), (1, unit))
        return f"{value / size:.3g} {name}"
    factor, name = _SCALED.get(unit, (1.0, unit))
    return f"{factor * value:,.6g} {name}"
