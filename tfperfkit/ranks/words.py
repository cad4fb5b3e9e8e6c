"""Text of the report of all ranks, for every form of the report."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.model import Column, Finding, Table, make_columns
from tfperfkit.ranks.arrival import own_ms
from tfperfkit.ranks.part import Part
from tfperfkit.ranks.parts import Whole
from tfperfkit.records.plural import plural
from tfperfkit.report.history import length
from tfperfkit.report.numbers import alone
from tfperfkit.report.terminal import Symbols

_MAX = 20
#: With more ranks than this a screen has rows for some of them only, ``_EACH`` of a kind.
MAX_ROWS, _EACH = 40, 5


def warnings(whole: Whole) -> list[str]:
    """Return warnings that a reader must know before any figure: missing ranks, and ranks that did not finish."""
    lines = []
    if len(whole.sizes) > 1:
        claimed = ", ".join(map(str, whole.sizes[:_MAX]))
        lines.append(f"The ranks disagree about how many there are: {claimed}. Were they started by one launcher?")
    if whole.missing:
        ranks = ", ".join(map(str, whole.missing[:_MAX]))
        more = f" and {len(whole.missing) - _MAX} more" if len(whole.missing) > _MAX else ""
        lines.append(f"No part of rank {ranks}{more}: it never began, or wrote elsewhere.")
    if whole.endings:
        more = f"; and {len(whole.endings) - _MAX} more" if len(whole.endings) > _MAX else ""
        lines.append(f"Did not finish: {'; '.join(whole.endings[:_MAX])}{more}.")
    silent = [part.label for part in whole.parts if not (part.steps or part.problem) and part.status == "finished"]
    silent = [label for label in silent if not label.startswith("evaluator")]
    if silent and any(part.steps for part in whole.parts) and len({part.role for part in whole.parts}) == 1:
        more = f" and {len(silent) - _MAX} more" if len(silent) > _MAX else ""
        lines.append(
            f"No step is known of {', '.join(silent[:_MAX])}{more}, which finished: its records are cut, or it trained "
            "none."
        )
    return lines


def first_line(whole: Whole, symbols: Symbols) -> list[str]:
    """Throughput, scaling, step time: as many of them as are known."""
    figures = [f"{whole.size} ranks" if len(whole.sizes) < 2 else f"{len(whole.parts)} parts"]
    if whole.examples_per_s is not None:
        figures.append(f"{alone(whole.examples_per_s, 'number', symbols)} examples/s together")
    one = whole.alone
    workers = sum(part.role not in ("evaluator", "ps") for part in whole.parts)
    if one is not None and one.efficiency is not None:
        figures.append(f"{100 * one.efficiency:.0f} % of {workers} times one worker ({one.run})")
    times = [part.step_ms for part in whole.parts if part.step_ms is not None]
    if times:
        low, high = (alone(value, "ms", symbols) for value in (min(times), max(times)))
        figures.append(f"{low} a step" if low == high else f"{low} to {high} a step")
    if one is not None and one.efficiency is None:
        figures.append(f"{alone(one.step_ms, 'ms', symbols)} with one worker ({one.run})")
    return figures


def late_words(whole: Whole, symbols: Symbols) -> str:
    """Who is late, by how much, how often and why; "" if nobody is."""
    late = whole.lateness
    if late is None:
        return ""
    wait = alone(late.wait_ms, "ms", symbols)
    turn = max((part.turn_ms or 0.0 for part in whole.parts), default=0.0)
    share = f" ({100 * late.wait_ms / turn:.0f} %)" if turn else ""
    often = ""
    if late.rare and late.times:
        often = f", {late.times} of {late.of} steps that are much longer"
    elif late.of:
        often = f", the last in {late.times} of {late.of} {late.unit}"
    return f"The others wait {wait} of a step{share} for {late.rank}{often}: {whole.why}."


def exchange_words(whole: Whole, symbols: Symbols) -> str:
    """Return the time of the exchange itself, apart from the waiting; "" if it is not known of all ranks."""
    if not whole.waits_ms:
        return ""
    low, high = (alone(value, "ms", symbols) for value in (min(whole.waits_ms.values()), max(whole.waits_ms.values())))
    seen = whole.traced
    if seen is None:
        return f"In the exchange ranks wait {low} to {high} of a step for the last, by stack samples."
    transfer = alone(whole.transfer_ms, "ms", symbols)
    many = f"{seen.exchanges:.0f} collective {'operation' if round(seen.exchanges) == 1 else 'operations'}"
    traced = f"{plural(seen.steps, 'step')} traced on all ranks"
    said = f"Exchange, {traced}: {transfer} of a step is transfer, in {many}; ranks wait {low} to {high} in it"
    return f"{said}{_hidden(whole)}."


def _hidden(whole: Whole) -> str:
    """Return how much of the time of the exchange a rank computes meanwhile; "" if that is not known of all."""
    shares = [
        part.exchange_hidden_ms / part.exchange_ms
        for part in whole.parts
        if part.exchange_ms and part.exchange_hidden_ms is not None
    ]
    if len(shares) < len(whole.parts):
        return ""
    low, high = (f"{100 * share:.0f}" for share in (min(shares), max(shares)))
    return f", and compute for {low if low == high else f'{low} % to {high}'} % of its time"


def shown(whole: Whole) -> tuple[Part, ...]:
    """Return the ranks that have a row where not all are shown: the first that did not finish, the late one, and those
    that need longest and shortest until they come to the exchange."""
    if len(whole.parts) <= MAX_ROWS:
        return whole.parts

    def find_own(part: Part) -> float:
        known = own_ms(part, computing=part.compute_ms is not None)
        return known if known is not None else -1.0

    ordered = sorted((part for part in whole.parts if find_own(part) >= 0), key=find_own)
    chosen = {*whole.died[:_EACH], *filter(None, [whole.late])}
    chosen |= {part.label for part in (*ordered[-_EACH:], *ordered[:_EACH])}
    return tuple(part for part in whole.parts if part.label in chosen)


def table(whole: Whole, parts: Sequence[Part]) -> Table:
    """Return a row for each of these ranks."""
    roles = len({part.role for part in whole.parts}) > 1
    batches = any(part.batch_size for part in whole.parts)
    columns = [Column("Rank"), *([Column("Role")] if roles else []), Column("Ended"), Column("Steps", "count")]
    columns += [Column("Batch", "count")] if batches else []
    computing = any(part.compute_ms is not None for part in whole.parts)
    columns += [Column(name, "ms") for name in ("Step ms", "Outside ms")]
    columns += [Column(name, "ms") for name in ("Compute ms", "Wait ms")] if computing else []
    columns.append(Column("First finding"))
    rows = []
    for part in parts:
        loud = part.loud
        first = f"{loud[0].code}  {loud[0].title}" if loud else part.problem or None
        outside = part.turn_ms - part.inside_ms if part.turn_ms and part.inside_ms is not None else None
        wait = whole.waits_ms.get(part.label)
        cells: list[str | int | float | None] = [part.label]
        cells += [part.role or None] if roles else []
        cells += [part.status or "no report", part.steps or None]
        cells += [part.batch_size] if batches else []
        cells += [part.step_ms, outside, *((part.compute_ms, wait) if computing else ())]
        rows.append((*cells, first))
    note = ""
    if any(part.turn_ms for part in whole.parts):
        note = "Outside: out of compiled functions, or waiting there for input, while the others may have to wait"
        if computing:
            note += ". Compute: in them, without the exchange. Wait: in the exchange, for the last to come"
    title = "Steps of each rank"
    if len(parts) < len(whole.parts):
        title = f"Steps of {len(parts)} of {len(whole.parts):,} ranks: the longest and the shortest until the exchange"
    return Table(title=title, columns=tuple(columns), rows=tuple(rows), note=note)


def by_time(whole: Whole) -> Table:
    """Who came last, stretch by stretch of a run in watch mode; without rows elsewhere."""
    return Table(
        title="Who came last, over the run",
        columns=make_columns("Until", "Step: count", "Step ms: ms", "Last", "Others wait ms: ms"),
        rows=tuple(
            (length(each.until_s), each.step, each.turn_ms, *((each.last, each.wait_ms) if each.late else (None, None)))
            for each in whole.over_time
        ),
        note="The minutes of each rank's run; the figures above are of the first steps and the last ones",
    )


def gather(whole: Whole) -> list[tuple[Finding, list[str]]]:
    """Return each finding of the ranks with the ranks that have it, what most have first."""
    found: dict[str, tuple[Finding, list[str]]] = {}
    for part in whole.parts:
        for finding in part.loud:
            ranks = found.setdefault(finding.code, (finding, []))[1]
            if part.label not in ranks:
                ranks.append(part.label)
    return sorted(found.values(), key=lambda item: -len(item[1]))


def name_ranks(whole: Whole, ranks: Sequence[str]) -> str:
    """Return ``rank 0, rank 2``, or that all ranks have it."""
    if len(ranks) < sum(part.looked for part in whole.parts):
        more = f" and {len(ranks) - _MAX} more" if len(ranks) > _MAX else ""
        return ", ".join(ranks[:_MAX]) + more
    return "all ranks" if all(part.looked for part in whole.parts) else f"all {len(ranks)} that were looked into"


def merged(whole: Whole) -> list[str]:
    """Say what all ranks together show, with its gain; then each finding with the ranks that have it, what most have
    first."""
    lines = [f"{each.code}  {each.title}{_gain(each)}: {each.advice}" for each in whole.findings]
    return lines + [f"{each.code}  {each.title}: {name_ranks(whole, ranks)}" for each, ranks in gather(whole)]


def _gain(found: Finding) -> str:
    if found.gain.bounds is None:
        return ""
    low, high = found.gain.bounds
    return f", step {low:.2g}x to {high:.2g}x faster"
