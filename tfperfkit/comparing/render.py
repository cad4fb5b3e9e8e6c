"""A comparison on the screen: the verdict, what differs in set-up, the times, why, and which findings came and went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from tfperfkit.comparing.result import Cause, Compared, Figure, Setup
from tfperfkit.model import Column, SourceSpan, Table, Unit, make_columns
from tfperfkit.report import numbers
from tfperfkit.report.difference import change, limits, sentence
from tfperfkit.report.layout import heading, prose
from tfperfkit.report.paths import name, place
from tfperfkit.report.table import table_lines
from tfperfkit.report.terminal import Screen
from tfperfkit.statistics.comparison import Comparison

_INDENT = 2
_STYLES = {"faster": "bold green", "slower": "bold red", "no difference shown": "bold"}
_TITLES = {
    "part": "Parts of the mean step",
    "line": "Lines, ms a step in the windows that measured them",
    "operation": "Operations by type, own time a step in the traced steps",
}
_WAYS = {"new": "new", "gone": "gone", "grown": "costs more", "shrunk": "costs less"}
_FINDING: tuple[tuple[str, Unit], ...] = (
    ("", "text"),
    ("code", "text"),
    ("A", "share"),
    ("B", "share"),
    ("finding", "text"),
    ("at", "location"),
)
#: A diff that is longer than this is only counted.
_MAX_DIFF = 16


def lines_of(compared: Compared, screen: Screen) -> list[Text]:
    """Return the whole comparison of two runs, as lines no wider than the screen."""
    lines = heading("compare", f"A {name(compared.a, screen)}, B {name(compared.b, screen)}", screen)
    lines += _unequal(compared, screen)
    lines += _verdict(compared, screen)
    for note in compared.notes:
        lines += prose(note, screen, style="yellow")
    for part in (_setup, _times, _cause_lines, _findings):
        section = part(compared, screen)
        if section:
            lines += [Text(), *section]
    return lines


def _unequal(compared: Compared, screen: Screen) -> list[Text]:
    """Said before any number: times of unequal configurations measure the difference of these, too."""
    kinds = {"configuration": "configuration", "machine": "machine"}
    parts = []
    for kind, words in kinds.items():
        what = list(dict.fromkeys(each.what for each in compared.setup if each.kind == kind))
        if what:
            parts.append(f"{words} ({', '.join(what[:6])}{', ...' if len(what) > 6 else ''})")
    if not parts:
        return []
    text = f"Not alike in {' and '.join(parts)}: what differs in time need not come from the code."
    return prose(name(text, screen), screen, style="bold yellow")


def _verdict(compared: Compared, screen: Screen) -> list[Text]:
    if compared.step is None:
        return prose("No step times to compare.", screen, style="bold yellow")
    what = "a step's time for each example" if compared.per_example else "a step"
    words = sentence(compared.step, what)
    if compared.per_example:
        words = words.replace(f"{what} takes", "the time for each example is").replace("longer", "more")
    text = f"B is {words}." if compared.step.verdict != "no difference shown" else f"{words[0].upper()}{words[1:]}."
    lines = prose(text, screen, style=_STYLES[compared.step.verdict])
    if compared.culprit is not None:
        lines += prose(_culprit(compared.culprit, screen), screen, style="bold")
    lines += prose(limits(compared.step), screen, style="dim")
    for note in compared.step.notes:
        lines += prose(note, screen, style="dim")
    lines += _by_processor(
        compared.step, compared.processor, " for each example" if compared.per_example else "", screen
    )
    whole = compared.with_outliers
    if whole is not None and whole.verdict != compared.step.verdict and whole.low is not None:
        lines += prose(f"With every long step counted: {sentence(whole, 'the mean step')}.", screen)
    return lines


def _by_processor(step: Comparison, used: Comparison | None, per: str, screen: Screen) -> list[Text]:
    """Return lines if the processor time decides more than wall-clock time, or contradicts it: then both intervals lie
    apart.
    """
    if used is None or used.verdict == step.verdict:
        return []
    text = f"The clock can't tell; the processor time of a step{per} can: {change(used)}. Waiting is excluded."
    if step.verdict != "no difference shown":
        if None in (step.low, step.high, used.low, used.high) or not _apart(step, used):
            return []
        text = (
            f"But the processor time of a step{per} does not say so: {change(used)}. The difference is waiting: for "
            "input, or for a CPU core that other programs had."
        )
    return prose(text, screen, style="bold")


def _apart(one: Comparison, other: Comparison) -> bool:
    low, high = max(one.low or 0.0, other.low or 0.0), min(one.high or 0.0, other.high or 0.0)
    return low > high


def _culprit(cause: Cause, screen: Screen) -> str:
    change = f"{_ms(cause.a)} to {_ms(cause.b)} ms a step"
    way = {"new": "a new line", "gone": "the line is gone"}.get(cause.change, "")
    at = place(cause.where, screen) if cause.where is not None else cause.name
    code = f": {name(cause.source, screen)}" if cause.source else ""
    return f"Most of it at {at}, {change}{f' ({way})' if way else ''}{code}"


def _ms(value: float) -> str:
    return numbers.plain(float(value))


def _setup(compared: Compared, screen: Screen) -> list[Text]:
    if not compared.setup and not compared.sources:
        return heading("set-up", "", screen) + prose("Nothing that is known of both differs.", screen, indent=_INDENT)
    lines = heading("set-up", "", screen)
    if compared.setup:
        lines += table_lines(_setup_table(compared.setup), screen)
    for changed in compared.sources:
        text = f"{name(changed.file, screen)}: {changed.added} line{'s' * (changed.added != 1)} added"
        lines += prose(f"{text}, {changed.removed} removed", screen, indent=_INDENT)
        if len(changed.diff) <= _MAX_DIFF:
            lines += [_diff_line(line, screen) for line in changed.diff]
    return lines


def _setup_table(rows: Iterable[Setup]) -> Table:
    return Table(
        title="",
        columns=make_columns("differs", "A", "B"),
        rows=tuple((row.what, row.a, row.b) for row in rows),
    )


def _diff_line(line: str, screen: Screen) -> Text:
    style = {"+": "green", "-": "red"}.get(line[:1], "dim")
    text = name(line, screen)
    room = screen.width - 2 * _INDENT
    if len(text) > room:
        text = text[: room - 3] + "..."
    return Text(" " * 2 * _INDENT).append(text, style)


def _times(compared: Compared, screen: Screen) -> list[Text]:
    rows = [row for row in compared.figures if row.a is not None or row.b is not None]
    if not rows:
        return []
    table = Table(
        title="",
        columns=make_columns("figure", "A", "B", "change"),
        rows=tuple((row.name, _value(row.a, row), _value(row.b, row), _change(row.a, row.b)) for row in rows),
    )
    return heading("figures", "", screen) + table_lines(table, screen)


def _name_place(where: SourceSpan | None) -> str:
    """Return the file and line of a place."""
    return f"{where.file}:{where.line}" if where is not None else ""


def _value(value: float | None, row: Figure | Cause) -> str:
    return numbers.alone(value, row.unit)


def _change(a: float | None, b: float | None) -> str:
    if a is None or b is None or a <= 0:
        return ""
    return "" if a == b else f"{(b / a - 1) * 100:+,.1f} %" if b < 2 * a else f"{b / a:,.1f}x"


def _cause_lines(compared: Compared, screen: Screen) -> list[Text]:
    """Return the lines on why the step times differ."""
    if not compared.causes:
        return []
    sure = compared.step is None or compared.step.verdict != "no difference shown"
    timed = any(cause.kind in _TITLES for cause in compared.causes)
    lines = heading("why", "perhaps: times may differ by chance" if timed and not sure else "", screen)
    for kind, title in _TITLES.items():
        rows = [cause for cause in compared.causes if cause.kind == kind]
        if rows:
            lines += table_lines(_cause_table(title, rows, source=kind == "line"), screen)
    counted = [cause for cause in compared.causes if cause.kind not in _TITLES]
    if counted:
        lines += table_lines(_counted_table(counted), screen)
    return lines


def _cause_table(title: str, rows: Sequence[Cause], *, source: bool) -> Table:
    columns = [Column("line" if source else "what", "location" if source else "text")]
    columns += [Column("A", "ms"), Column("B", "ms"), Column("B - A", "ms"), Column("")]
    if source:
        columns.append(Column("source", "source"))
    return Table(
        title=title,
        columns=tuple(columns),
        rows=tuple(
            (
                _name_place(row.where) if source and row.where is not None else row.name,
                row.a,
                row.b,
                row.difference,
                row.change,
                *([row.source] if source else []),
            )
            for row in rows
        ),
    )


def _counted_table(rows: Sequence[Cause]) -> Table:
    return Table(
        title="Counts, and memory",
        columns=make_columns("what", "A", "B", "at: location"),
        rows=tuple((row.name, _value(row.a, row), _value(row.b, row), _name_place(row.where)) for row in rows),
    )


def _findings(compared: Compared, screen: Screen) -> list[Text]:
    if not compared.findings:
        return []
    table = Table(
        title="",
        columns=tuple(Column(heading, unit) for heading, unit in _FINDING),
        rows=tuple(
            (
                _WAYS[each.change],
                each.code,
                each.a,
                each.b,
                each.title,
                _name_place(each.where),
            )
            for each in compared.findings
        ),
        note="shares are of a step",
    )
    return heading("findings", "", screen) + table_lines(table, screen)
