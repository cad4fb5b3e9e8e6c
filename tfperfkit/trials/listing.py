"""``tfperf try --list``."""

from __future__ import annotations

import sys
import textwrap
from importlib import import_module

from tfperfkit.trials.choice import Choice

_KEEPS = {
    "results": "results are kept",
    "mathematics": "rounding may differ",
    "nothing": "results change",
    "ceiling": "no fix, a ceiling",
}
_WIDTH, _INDENT = 100, 4


def list_experiments() -> None:
    """Print for each experiment how it is typed, what it keeps and what it does."""
    for experiment in Choice().all():
        usage = getattr(experiment, "usage", "") or experiment.name
        print(f"{usage}  [{_KEEPS[experiment.keeps]}]")
        for line in textwrap.wrap(_what(experiment), _WIDTH - _INDENT):
            print(" " * _INDENT + line)
    sys.stdout.flush()


def _what(experiment: object) -> str:
    """The docstring of its module, without how it is typed."""
    text = " ".join((import_module(type(experiment).__module__).__doc__ or "").split())
    text = text.partition(": ")[2].replace("``", "") or text
    return text[:1].upper() + text[1:]
