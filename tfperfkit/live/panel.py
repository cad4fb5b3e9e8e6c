"""The lines of the live view: what a run has come to so far, for one screen. Pure."""

from __future__ import annotations

import os
import statistics

from rich.text import Text

from tfperfkit.live.progress import Progress
from tfperfkit.records.parts import words_of
from tfperfkit.report import numbers
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import shorten, visible

#: So many lines, always: the room is set aside before there is anything to say.
HEIGHT = 4
_BAR = 30  # at most, and a quarter of the screen
_PHASES = {"starting": "starting", "warm-up": "warm-up", "clean": "clean steps"}


def panel(progress: Progress, passed_s: float, screen: Screen) -> list[Text]:
    """A rule, the steps, the parts of the time, and the window with the retraces; no line is wider than the screen."""
    signs = screen.symbols
    title = " tfperf "
    rule = Text(signs.rule * 2 + title + signs.rule * max(screen.width - 2 - len(title), 0), "dim")
    rows = [rule, Text(signs.dot.join(_steps(progress, passed_s, screen)), "bold"), _parts(progress, screen)]
    rows.append(Text(signs.dot.join([_phase(progress, screen), *_retraces(progress, screen)])))
    for row in rows:
        row.truncate(screen.width, overflow="ellipsis" if screen.unicode else "crop")
    return rows


def _steps(progress: Progress, passed_s: float, screen: Screen) -> list[str]:
    steps = progress.steps
    clock = f"{int(passed_s) // 60}:{int(passed_s) % 60:02d}"
    if not steps.count:
        return ["no training step yet", clock]
    said = [f"step {steps.count:,}"]
    if steps.recent_ns:
        median = statistics.median(steps.recent_ns) / 1e6
        of = f"median of the last {len(steps.recent_ns)}" if len(steps.recent_ns) > 1 else "the first"
        said.append(f"{numbers.alone(median, 'ms', screen.symbols)} ({of})")
        if steps.batch_size and median > 0:
            said.append(f"{steps.batch_size / median * 1000:,.0f} examples/s")
    return [*said, clock]


def _parts(progress: Progress, screen: Screen) -> Text:
    total = sum(progress.parts_ms.values())
    if total <= 0:
        return Text("no samples yet", "dim")
    line, legend = Text(), ""
    width = min(_BAR, screen.width // 4)
    parts = sorted(progress.parts_ms.items(), key=lambda item: -item[1])
    for (part, ms), sign in zip(parts, screen.symbols.bar, strict=False):
        share, words = ms / total, words_of(part)
        line.append(sign * round(share * width), "cyan")
        said = f"  {sign} {words.label if words is not None else part} {share * 100:.0f} %"
        if share >= 0.01 and width + len(legend + said) < screen.width:  # a part that is cut in two says nothing
            legend += said
    return line.append(legend)


def _phase(progress: Progress, screen: Screen) -> str:
    known = _PHASES.get(progress.phase)
    if known is not None:
        return known
    first, last = progress.window
    steps = f", steps {first:,} to {last:,}" if first else ""
    return f"window of {_name(progress.phase, screen)} is open{steps}"


def _retraces(progress: Progress, screen: Screen) -> list[str]:
    found = progress.retraces
    if not found:
        return []
    (((file, line, called), count),) = found.most_common(1)
    worst = f"{_name(called, screen)}, {_name(os.path.basename(file), screen)}:{line}"
    of = f" ({worst})" if count == found.total() else f" ({count} of {worst})"
    return [f"{found.total():,} retrace{'s' * (found.total() != 1)}{of}"]


def _name(text: str, screen: Screen) -> str:
    """A name of somebody's, short and harmless."""
    return visible(shorten(text, 40, screen.symbols.ellipsis), unicode=screen.unicode)
