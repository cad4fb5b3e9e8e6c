"""A report in a notebook's cell: the head of the page without scripts, for any renderer; colours are the notebook's."""

from __future__ import annotations

from tfperfkit.model import Report
from tfperfkit.report.html.accounts import accounts
from tfperfkit.report.html.cards import cards
from tfperfkit.report.html.render import figures, template
from tfperfkit.report.html.source import Sources
from tfperfkit.report.html.widths import Rules
from tfperfkit.report.html.words import headline, remarks_on

#: Maximum number of findings in a cell; maximum bytes of a cell.
_FINDINGS, LIMIT = 5, 60_000


def fragment(report: Report, called: str = "run") -> str:
    """HTML of at most ``LIMIT`` bytes; with fewer findings where they are long. ``called``: the run's variable."""
    made = ""
    for limit in (_FINDINGS, 2, 1, 0):
        made = _fragment(report, limit, called)
        if len(made.encode("utf-8", "backslashreplace")) <= LIMIT:
            break
    return made


def _fragment(report: Report, limit: int, called: str) -> str:
    sources = Sources(report)
    found, remarks = cards(report, sources, Rules())
    return str(
        template("fragment.html").render(
            headline=headline(report) or "No cause was found.",
            warnings=remarks_on(report),
            figures=figures(report),
            accounts=[item for item in accounts(report, Rules(), sources) if item["key"] in ("step", "run")],
            findings=found[:limit],
            called=called,
            more=len(found[limit:]) + len(remarks),
        )
    )
