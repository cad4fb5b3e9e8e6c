"""The lines of the user's files that a page shows, with what they cost."""

from __future__ import annotations

from typing import Any

from tfperfkit.model import Report, SourceSpan
from tfperfkit.records.pictures import LineHeat
from tfperfkit.report.html.words import figure, place
from tfperfkit.report.source import clean_source
from tfperfkit.report.text import visible

_AROUND = 3
_MAX_LINE = 400


class Sources:
    """The album's sources; without an album, nothing."""

    def __init__(self, report: Report) -> None:
        album = report.album
        self.folder = report.run.folder
        self.files = album.sources if album is not None else {}
        self._heat: dict[tuple[str, int], LineHeat] = {
            (row.file, row.line): row for row in (album.heat if album is not None else ())
        }

    def line(self, span: SourceSpan) -> str:
        """Return the line itself, harmless; "" if it is not known."""
        lines = self.files.get(span.file, ())
        return visible(lines[span.line - 1].strip()[:_MAX_LINE]) if 0 < span.line <= len(lines) else ""

    def excerpt(self, span: SourceSpan) -> dict[str, Any] | None:
        """Return the lines around a place; None if its file is not known."""
        lines = self.files.get(span.file, ())
        if not 0 < span.line <= len(lines):
            return None
        first, last = max(1, span.line - _AROUND), min(len(lines), span.line + _AROUND)
        code = clean_source(lines[first - 1 : last])
        rows = [
            {"number": number, "code": code[number - first], "cost": self._cost(span.file, number), "here": here}
            for number in range(first, last + 1)
            for here in (number == span.line,)
        ]
        return {"place": place(span, self.folder), "function": visible(span.function), "rows": rows}

    def _cost(self, file: str, number: int) -> str:
        row = self._heat.get((file, number))
        if row is None:
            return ""
        taken = row.python_ms or row.forward_ms + row.backward_ms + row.update_ms
        return figure(taken, "ms") if taken > 0 else ""
