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
    """Each with how it is written, what it keeps and what it does."""
    for experiment in Choice().all():
        usage = getattr(experiment, "usage", "") or experiment.name
        print(f"{usage}  [{_KEEPS[experiment.keeps]}]")
        for line in textwrap.wrap(_what(experiment), _WIDTH - _INDENT):
            print(" " * _INDENT + line)
    sys.stdout.flush()


def _what(experiment: object) -> str:
    """The first words of its module, without how it is called."""
    text = " ".join((import_module(type(experiment).__module__).__doc__ or "").split())
    text = (text.partition(": ")[2].replace("``", "") or text).removesuffix(" A ceiling, no fix.")
    return text[:1].upper() + text[1:]
