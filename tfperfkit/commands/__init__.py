"""The command line: a module for each command, found by itself, with its ``COMMAND``.

Only click is imported here; what a command needs, it imports when it runs (``tfperf --help`` takes 0.1 s).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import click

HELP = {"help_option_names": ["-h", "--help"]}
#: Meaning of RUN, in the help of each command that takes one.
RUN = "RUN is a folder, a run's name, or last. [default: last]"


def commands() -> Iterator[click.Command]:
    """Each command of ``tfperf``."""
    from tfperfkit.commands._completing import complete

    for found in pkgutil.iter_modules(__path__):
        if not found.name.startswith("_"):
            yield complete(importlib.import_module(f"{__name__}.{found.name}").COMMAND)
