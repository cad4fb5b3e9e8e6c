"""Which of many ranks to look into: those that a report of all has something to say of, and some of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tfperfkit.ranks.arrival import own_ms
from tfperfkit.ranks.part import Part

#: Of a kind.
_EACH = 5
#: Of the others, at even distances: what all ranks have is seen in these.
_REST = 8


def telling(parts: Sequence[Part]) -> list[str]:
    """Names, in order: ranks that need longest and shortest until the exchange, of those that died the first to end,
    those that trace or batch differently, and some others."""
    timed = sorted(
        (own_ms(part, computing=part.compute_ms is not None) or 0.0, part.name) for part in parts if part.turn_ms
    )
    ordered = [name for _, name in timed]
    ended = [part for part in parts if not part.problem and part.status not in ("finished", "running")]
    ended.sort(key=lambda part: part.after_s or 0.0)
    kinds = {part.name: _kind(part) for part in parts}
    usual = Counter(kinds.values()).most_common(1)
    odd = [name for name, kind in kinds.items() if usual and kind != usual[0][0]]
    rest = ordered[:: max(len(ordered) // _REST, 1)]
    chosen = {*ordered[-_EACH:], *ordered[:_EACH], *(part.name for part in ended[:_EACH]), *odd[:_EACH], *rest}
    return sorted(chosen)


def _kind(part: Part) -> tuple[object, ...]:
    return part.batch_size, part.role, tuple((each.function, each.line, each.traces) for each in part.functions)
