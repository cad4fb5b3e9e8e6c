"""Results of trials, for a user."""

from __future__ import annotations

from typing import TextIO

from rich.text import Text

from tfperfkit.model import Keeps, Measured, TrialReport
from tfperfkit.records.plural import plural
from tfperfkit.report import numbers
from tfperfkit.report.layout import heading, joined, prose
from tfperfkit.report.paths import name
from tfperfkit.report.terminal import Screen, terminal_of

_STYLE = {"faster": "bold green", "slower": "bold red", "failed": "bold red"}
_INDENT = 4
_KEEPS: dict[Keeps, str] = {
    "results": "",
    "mathematics": "the same mathematics, rounded otherwise",
    "nothing": "trains another way",
    "ceiling": "upper bound, not a fix",
}


def render(result: TrialReport, file: TextIO) -> None:
    """Raises OSError."""
    screen = terminal_of(file)
    for line in lines(result, screen):
        file.write(line.plain + "\n" if not screen.color else _colored(line))
    file.flush()


def _colored(line: Text) -> str:
    from rich.console import Console

    console = Console(color_system="standard", force_terminal=True, width=400, highlight=False)
    with console.capture() as capture:
        console.print(line, no_wrap=True)
    return capture.get()


def lines(result: TrialReport, screen: Screen) -> list[Text]:
    """No wider than the screen."""
    script = name(" ".join(result.argv[:1]), screen)
    found = heading(f"trials of {script}", f"{result.seconds:.0f} s", screen)
    found += prose(name(f"Ran {result.way}.", screen), screen, style="dim")
    base = result.baseline
    if base is not None:
        unit = "a step" if base.unit == "step" else "the whole run"
        items = [f"{numbers.alone(base.ms, 'ms', screen.symbols)} {unit}"]
        if base.batch_size:
            items[0] += f" of {base.batch_size} examples"
        items.append(f"{plural(base.runs, 'run')}")
        if base.runs > 1:
            items.append(f"{(base.spread - 1) * 100:.0f} % apart")
        if base.unit == "step":
            items.append(f"steady after {base.warm_s:.1f} s")
        if base.memory_bytes:
            items.append(f"peak {numbers.alone(base.memory_bytes, 'bytes', screen.symbols)}")
        found += [Text(), *prose("as it is", screen, style="bold"), *joined(items, screen, indent=_INDENT)]
    for item in result.measured:
        found += [Text(), *_measured(item, screen)]
    open_ = [item for item in result.measured if item.verdict == "undecided"]
    if result.notes or open_ or result.ended == "interrupted":
        found.append(Text())
    if result.ended == "interrupted":
        found += prose("Interrupted: this is what had been measured.", screen, style="bold yellow")
    if open_ and result.ended != "interrupted":
        found += prose("Undecided results may need more runs: try --time-limit 10m.", screen, style="dim")
    for note in result.notes:
        found += prose(name(note, screen), screen, style="dim")
    return found


def _measured(item: Measured, screen: Screen) -> list[Text]:
    verdict = verdict_words(item)
    first = prose(name(item.experiment, screen), screen, style="bold")
    if item.finding and not item.experiment.startswith("patch:"):  # which names it
        first[-1].append(f"  {name(item.finding, screen)}", "dim")
    style = _STYLE.get(item.verdict, "yellow")
    if first[-1].cell_len + 2 + len(verdict) <= screen.width:
        first[-1].append("  ").append(verdict, style)
    else:
        first += prose(verdict, screen, indent=_INDENT, style=style)
    details = detail_items(item, screen)
    rest = joined(details, screen, indent=_INDENT) if details else []
    if item.reason:
        rest += prose(name(item.reason, screen), screen, indent=_INDENT)
    return [*first, *rest]


def verdict_words(item: Measured) -> str:
    """``1.4x faster``"""
    if item.verdict in ("faster", "slower") and item.speedup:
        return f"{numbers.speedup(item.speedup if item.speedup >= 1 else 1 / item.speedup)} {item.verdict}"
    if item.verdict == "no difference":
        return "no significant difference" + _by_processor(item)
    return item.verdict


def _by_processor(item: Measured) -> str:
    """Return the difference in processor time if wall-clock time shows none."""
    low, high = item.processor_interval or (1.0, 1.0)
    if not item.processor or low <= 1 <= high:
        return ""
    return f", but {'less' if low > 1 else 'more'} processor time"


def detail_items(item: Measured, screen: Screen) -> list[str]:
    """Return the interval, the first minute, memory, results."""
    items: list[str] = []
    if item.speedup is None:
        return items
    if item.interval is None:
        items.append(f"{item.speedup:.2f}x as fast in one pair")
    else:
        low, high = item.interval
        if item.verdict == "slower":
            low, high = 1 / high, 1 / low
        items.append(f"95 %: {low:.2f}x to {high:.2f}x, {plural(item.pairs, 'pair')}")
    if item.processor is not None:
        items.append(f"by processor time {item.processor:.2f}x{_span(item.processor_interval)}")
    if item.first_minute is not None:
        items.append(f"first minute {item.first_minute:.2f}x the examples")
    if item.memory_bytes is not None and abs(item.memory_bytes) > 20e6:
        sign = "+" if item.memory_bytes > 0 else "-"
        items.append(f"memory {sign}{numbers.alone(abs(item.memory_bytes), 'bytes', screen.symbols)}")
    if item.needed_pairs:
        items.append(f"{item.needed_pairs} pairs would show 5 %")
    if _KEEPS.get(item.keeps) and item.results != "same bits":
        items.append(_KEEPS[item.keeps])
    if item.keeps != "ceiling":
        items.append(results_words(item))
        if item.outputs != "unknown":
            items.append(outputs_words(item))
    return items


def _span(interval: tuple[float, float] | None) -> str:
    return f" ({interval[0]:.2f}x to {interval[1]:.2f}x)" if interval is not None else ""


def outputs_words(item: Measured) -> str:
    """How what was printed and written compares."""
    if item.outputs == "differ":
        return f"outputs differ: {item.outputs_differ}"
    return "prints and writes the same" if item.outputs == "same" else "outputs could not be compared"


def results_words(item: Measured) -> str:
    """Return how the results compare."""
    distance = f"weights {item.distance:.1g} of their norm apart" if item.distance is not None else ""
    own = f", two plain runs {item.own_distance:.1g}" if item.own_distance else ""
    return {
        "same bits": "the same results, bit for bit",
        "within noise": f"results as close as those of two plain runs ({distance}{own})",
        "rounding": f"results differ by rounding ({distance}{own})",
        "differ": f"results differ ({distance}{own})" if distance else "results differ",
        "unknown": "results could not be compared",
    }[item.results]
