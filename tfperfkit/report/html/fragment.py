"""A report in a notebook's cell: the verdict and the further findings, without scripts, for any renderer.

Colours are the notebook's.
"""

from __future__ import annotations

from tfperfkit.model import Report
from tfperfkit.report.html.accounts import accounts
from tfperfkit.report.html.cards import cards
from tfperfkit.report.html.fold import make_fold
from tfperfkit.report.html.render import template
from tfperfkit.report.html.source import Sources
from tfperfkit.report.html.widths import Rules
from tfperfkit.report.html.words import remarks_on

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
    rules = Rules()
    found, remarks = cards(report, sources, rules)
    fold = make_fold(report, {}, rules)
    first, further = (found[0], found[1:]) if found and fold["tone"] == "bad" else (None, found)
    return str(
        template("fragment.html").render(
            fold=fold,
            first=first,
            warnings=remarks_on(report),
            accounts=[item for item in accounts(report, rules, sources) if item["key"] in ("step", "run")],
            findings=further[:limit],
            called=called,
            more=len(further[limit:]) + len(remarks),
        )
    )
