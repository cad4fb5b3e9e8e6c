"""A review of a pull request with suggested changes. ``gh api`` posts the file to ``repos/OWNER/NAME/pulls/N/reviews``.
Form: https://docs.github.com/rest/pulls/reviews."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from tfperfkit.model import Finding
from tfperfkit.records.plural import plural
from tfperfkit.report.annotation import below, of_finding
from tfperfkit.report.replacements import suggestions
from tfperfkit.report.text import visible

_FENCE = "```"


def review(findings: Iterable[Finding], folder: str, root: str) -> bytes:
    """Return the JSON of a review: a comment at each place that a finding's patch changes. ``folder``: the one that the
    names in patches start from; ``root``: the folder of the repository."""
    comments = [comment for finding in findings for comment in _comments(finding, folder, root)]
    count = plural(len(comments), "suggested change") if comments else "no suggested change"
    document = {"event": "COMMENT", "body": f"tfperf check: {count}", "comments": comments}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _comments(finding: Finding, folder: str, root: str) -> Iterator[dict[str, Any]]:
    text = f"**{finding.code}** {visible(of_finding(finding).text)}"
    for number, change in enumerate(suggestions(finding.patch, folder)):
        last = change.line + change.count - 1
        said = text if number == 0 else f"Part of the change for {finding.code}."
        fence = _FENCE
        while fence in change.text:
            fence += "`"
        yield {
            "path": below(change.file, root),
            **({"start_line": change.line, "start_side": "RIGHT"} if change.count > 1 else {}),
            "line": last,
            "side": "RIGHT",
            "body": f"{said}\n\n{fence}suggestion\n{change.text}{fence}",
        }
