"""The verdict where no finding comes first: no known fault, no cause, mostly startup."""

from __future__ import annotations

from rich.text import Text

from tfperfkit.model import CallTime, Finding, Report, SourceSpan
from tfperfkit.records.conclusion import NO_CAUSE, NO_FAULT, ROOM, Conclusion
from tfperfkit.records.gains import finite
from tfperfkit.report import numbers
from tfperfkit.report.paths import name, place, with_short_paths
from tfperfkit.report.terminal import Screen
from tfperfkit.report.verdict.findings import first_sentence
from tfperfkit.report.verdict.layout import MARGIN, heading_lines, inside, one_line

_CALLS = 3
#: Words before the listed calls.
CALLS = "costliest without a known cause:"
_OPTIONAL = "optional"
_ROOM = 2
#: A call without a known cause is named from this share of the run on.
_MIN_CALL = 0.05


def conclusion_lines(conclusion: Conclusion, report: Report, screen: Screen) -> list[Text]:
    """Return the verdict, what bounds the computing, how to look further, and the calls that no finding explains."""
    style = "bold green" if is_good(conclusion) else "bold yellow"
    verdict = conclusion.verdict.partition(",")[0].upper()
    lines = heading_lines(verdict, why_words(conclusion, report), screen, style=style)
    for label, text in list_reasons(conclusion, report, screen):
        lines += inside(label, text, screen, at_most=2 if label == _OPTIONAL else 3)
    calls = list_calls(conclusion, report, screen)
    if calls:
        lines += inside("calls", CALLS, screen)
    return lines + [one_line(call, screen, indent=MARGIN + 2) for call in calls]


def is_good(conclusion: Conclusion) -> bool:
    """Return whether the verdict is that no rule knows a fault."""
    return conclusion.verdict.startswith(NO_FAULT)


def why_words(conclusion: Conclusion, report: Report) -> str:
    """Return where the time goes, or that only choices are left."""
    return "these choices are faster:" if _is_of_choices(conclusion, report) else conclusion.why


def _is_of_choices(conclusion: Conclusion, report: Report) -> bool:
    """Return whether the conclusion only repeats the first of the faster choices, which are listed anyway."""
    return bool(report.headroom) and conclusion.verdict.endswith(ROOM)


def list_reasons(conclusion: Conclusion, report: Report, screen: Screen) -> list[tuple[str, str]]:
    """Return (label, sentence) pairs: the speed, how to look further, and what is optional.

    Computing that no rule objects to needs no comparison with a large matmul, whose speed few layers reach. The full
    report has it.
    """
    rows = [
        ("speed", "" if is_good(conclusion) else conclusion.limit),
        ("look", conclusion.look),
        ("between", conclusion.between),
        ("also", "" if _is_of_choices(conclusion, report) else conclusion.also),
        *((_OPTIONAL, _choice(finding, screen)) for finding in report.headroom[:_ROOM]),
    ]
    return [(label, text) for label, text in rows if text]


def _choice(finding: Finding, screen: Screen) -> str:
    """``Try batch_size=512. 2.8x the examples/s (predicted, BAT002)``: the change, or the title without advice."""
    gain = finite(finding.gain)
    words = first_sentence(finding.advice) or f"{finding.title}."
    change = name(with_short_paths(words, screen.folder), screen)
    code = name(finding.code, screen)
    factor = gain.low if gain.likely is None else gain.likely
    if factor is None:
        return f"{change} No gain predicted ({code})"
    least = "at least " * (gain.likely is None)
    faster = "faster" if finding.work else "the examples/s"
    return f"{change} {least}{numbers.speedup(factor)} {faster} (predicted, {code})"


def list_calls(conclusion: Conclusion, report: Report, screen: Screen) -> list[str]:
    """Return the costliest calls whose time has no known cause: seconds, place, API, count; none if the verdict is not
    that a cause is unknown."""
    if not conclusion.verdict.startswith(NO_CAUSE):
        return []
    unowned = [call for call in report.calls if not call.findings and call.share_of_run >= _MIN_CALL]
    return [_call(call, screen) for call in unowned[:_CALLS]]


def _call(call: CallTime, screen: Screen) -> str:
    """``7.0 s  train.py:24  model.export, 25+ calls, 6,000 rows each``"""
    what = name(call.call or "your own Python", screen)
    where = place(SourceSpan(call.where.file, call.where.line), screen)
    about = "about " * numbers.is_wide(call.seconds, call.seconds_range)
    seconds = about + numbers.short(call.seconds, "s", screen.symbols)
    often = f", {numbers.plain(call.times)}+ calls" if call.times > 1 and call.call else ""
    rows = f", {numbers.plain(call.rows)} rows{' each' * bool(often)}" if call.rows and call.call else ""
    return f"{seconds}  {where}  {what}{often}{rows}"
