"""A cell's view of a report: a few lines of HTML, harmless and bounded; as text if there is no HTML."""

from __future__ import annotations

from typing import Any

from tfperfkit.model import Report
from tfperfkit.report.html.fragment import fragment
from tfperfkit.report.summary import headline_parts
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import one_line


def words(report: Report | None, directory: object = "") -> str:
    """One line: ``<tfperf run: 88 steps · 20.5 ms a step; RET001, RET002>``"""
    if report is None:
        return one_line(f"<tfperf run in {directory}, no report yet>")
    codes = ", ".join(finding.code for finding in report.findings[:8])
    figures = " · ".join(headline_parts(report, Screen()))
    return one_line(f"<tfperf run: {figures}; {codes or 'no findings'}>")


def bundle(report: Report | None, directory: object = "", called: str = "run") -> dict[str, str]:
    """By MIME type. ``called``: the run's name in the cell."""
    made = {"text/plain": words(report, directory)}
    return made | {"text/html": fragment(report, called)} if report is not None else made


def display(run: Any) -> None:
    """Put a run's report below the cell that is running."""
    from IPython.display import display as show

    show(run)


def frame(report: Report | None) -> Any:
    """Return the findings as a pandas DataFrame, one row each. Raises ImportError, in a line, where there is no
    pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("run.to_frame() needs pandas: pip install pandas; run.findings needs nothing") from error
    rows = []
    for finding in report.findings if report is not None else ():
        where = finding.where[0] if finding.where else None
        rows.append(
            {
                "code": finding.code,
                "severity": finding.severity,
                "title": finding.title,
                "share_of_step": finding.share_of_step,
                "predicted_speedup": finding.gain.likely,
                "predicted_low": finding.gain.low,
                "predicted_high": finding.gain.bounds[1] if finding.gain.bounds else None,
                "file": where.file if where is not None else "",
                "line": where.line if where is not None else 0,
                "function": where.function if where is not None else "",
                "advice": finding.advice,
            }
        )
    columns = ["code", "severity", "title", "share_of_step", "predicted_speedup", "predicted_low", "predicted_high"]
    return pandas.DataFrame(rows, columns=[*columns, "file", "line", "function", "advice"])
