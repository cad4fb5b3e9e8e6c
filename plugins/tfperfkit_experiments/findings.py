"""What a finding says that an experiment acts on: functions, advised figures, and the script that it is about."""

from __future__ import annotations

import ast
import os

from tfperfkit.model import Finding, Report


def functions(finding: Finding) -> list[str]:
    """The functions that a finding names, each once, in its order."""
    names = (span.function.rpartition(".<locals>.")[2] for span in finding.where)
    return list(dict.fromkeys(name for name in names if name and not name.startswith("<")))


def is_fit(report: Report) -> bool:
    """Whether ``fit`` of Keras makes the steps."""
    return report.steps.source == "keras"


def parsed(file: str) -> ast.Module | None:
    """The syntax tree of a script as it is now; None if it can't be read or parsed."""
    try:
        if not os.path.isfile(file):
            return None
        with open(file, "rb") as stream:
            return ast.parse(stream.read())
    except (OSError, ValueError, SyntaxError, RecursionError):
        return None
