"""The parts of a finding that an experiment acts on: functions, advised figures, and the script."""

from __future__ import annotations

from tfperfkit.model import Finding, Report


def functions(finding: Finding) -> list[str]:
    """The functions that a finding names, each once, in its order."""
    names = (span.function.rpartition(".<locals>.")[2] for span in finding.where)
    return list(dict.fromkeys(name for name in names if name and not name.startswith("<")))


def is_fit(report: Report) -> bool:
    """Whether ``fit`` of Keras makes the steps."""
    return report.steps.source == "keras"
