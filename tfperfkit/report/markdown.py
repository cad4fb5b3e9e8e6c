"""A report, or a part of one, as Markdown for a pull request or an issue. Text of scripts can't become markup."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfperfkit.model import Finding, Report
from tfperfkit.records.parts import name_run_part, words_of
from tfperfkit.report import numbers
from tfperfkit.report.annotation import below
from tfperfkit.report.findings import proof_words
from tfperfkit.report.summary import headline_parts
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import shorten, visible
from tfperfkit.report.trials import verdict_words

#: Characters that Markdown and HTML take for markup.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#$@!])")
_LIMIT = 1000
#: A share of an account that its line names.
_PART = 0.01


def report_markdown(report: Report, root: str = "", *, folded: bool = True) -> str:
    """Return the headline, where the time went, the findings in a table, and each with its evidence and remedy:
    ``folded`` by HTML, which GitHub and GitLab know and TensorBoard does not."""
    screen = Screen(folder=report.run.folder)
    lines = [f"**{escaped(report.headline or 'tfperf')}**", ""]
    lines += [escaped(" · ".join(headline_parts(report, screen))), ""]
    lines += [f"- {line}" for line in _accounts(report)] + [""]
    found = (*report.findings, *report.headroom)
    return "\n".join(lines) + "\n" + findings_markdown(found, root or report.run.folder, folded=folded)


def _accounts(report: Report) -> Iterator[str]:
    """``A step, 20.5 ms in the mean: compiled functions 80.0 %, input 20.0 %``; the same of the whole run."""
    parts = report.steps.breakdown_ms or {}
    labels = {part: found.label if (found := words_of(part)) is not None else part for part in parts}
    yield from _account("A step", "ms", "in the mean", parts, labels)
    run = report.run_account
    if run is not None:
        labels = {part: name_run_part(part, run.parts_s) for part in run.parts_s}
        yield from _account("The whole run", "s", "", run.parts_s, labels)


def _account(title: str, unit: str, how: str, parts: Mapping[Any, float], labels: Mapping[Any, str]) -> Iterator[str]:
    known = {part: value for part, value in parts.items() if math.isfinite(value) and value > 0}
    total = sum(known.values())
    if not total or not math.isfinite(total):
        return
    largest = sorted(known.items(), key=lambda item: -item[1])
    shown = [
        f"{labels[part]} {numbers.alone(value / total, 'share')}" for part, value in largest if value >= _PART * total
    ]
    yield escaped(f"{title}, {numbers.alone(total, unit)}{f' {how}' if how else ''}: {', '.join(shown)}")


def findings_markdown(findings: Sequence[Finding], root: str = "", *, folded: bool = True) -> str:
    """Return a table of findings, then each under its title; "" if there is none."""
    if not findings:
        return ""
    rows: list[tuple[str, ...]] = [
        (
            code(each.code),
            each.severity,
            escaped(each.title),
            _name_place(each, root),
            numbers.alone(each.share_of_step, "share"),
            _gain(each),
        )
        for each in findings
    ]
    headings: tuple[str, ...] = ("code", "severity", "finding", "at", "costs", "predicted gain")
    if any(each.measured is not None for each in findings):
        headings = (*headings, "measured")
        rows = [(*row, _measured(each)) for row, each in zip(rows, findings, strict=True)]
    lines = table(headings, rows)
    for each in findings:
        measured = ", ".join(f"{item.name} {numbers.alone(item.value, item.unit)}" for item in each.evidence)
        if folded:
            lines += ["", "<details>", f"<summary>{_html(f'{each.code}: {each.title}')}</summary>", ""]
        else:
            lines += ["", f"**{escaped(f'{each.code}: {each.title}')}**", ""]
        lines += [f"- at {', '.join(_span(span.file, span.line, root) for span in each.where) or 'no place'}"]
        lines += [f"- measured: {escaped(measured)}", f"- fix: {escaped(each.advice)}"]
        if each.measured is not None:
            lines += [f"- proof: {escaped(proof_words(each.measured, Screen()))}"]
        lines += _patch(each.patch)
        lines += ["", "</details>"] if folded else []
    return "\n".join(lines) + "\n"


def _gain(finding: Finding) -> str:
    if finding.gain.likely is not None:
        return numbers.speedup(finding.gain.likely)
    return f"at least {numbers.speedup(finding.gain.low)}" if finding.gain.low is not None else "–"


def _measured(finding: Finding) -> str:
    return escaped(verdict_words(finding.measured)) if finding.measured is not None else "–"


def _patch(patch: str) -> list[str]:
    """As a block of code that no line of it can end."""
    if not patch:
        return []
    plain = [visible(line) for line in patch.split("\n")]
    longest = max((len(run) for run in re.findall("`+", patch)), default=0)
    fence = "`" * max(longest + 1, 3)
    return ["", f"{fence}diff", *plain, fence]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; its cells are Markdown already."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    return [*lines, *(f"| {' | '.join(cell or ' ' for cell in row)} |" for row in rows)]


def escaped(text: str) -> str:
    """Any text on one line, none of it markup; a link or a mention neither."""
    plain = visible(shorten(" ".join(text.split()), _LIMIT))
    return _SPECIAL.sub(r"\\\1", plain).replace("://", ":&#8203;//")


def code(text: str) -> str:
    """Text in a code span, whatever it holds."""
    plain = visible(shorten(" ".join(text.split()), _LIMIT)).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    space = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{space}{plain}{space}{fence}" if plain else ""


def _html(text: str) -> str:
    import html

    return html.escape(visible(shorten(" ".join(text.split()), _LIMIT)))


def _name_place(finding: Finding, root: str) -> str:
    """Return the first place of a finding."""
    return _span(finding.where[0].file, finding.where[0].line, root) if finding.where else ""


def _span(file: str, line: int, root: str) -> str:
    path = below(file, root)
    return code(f"{path}:{line}" if line > 0 else path)
