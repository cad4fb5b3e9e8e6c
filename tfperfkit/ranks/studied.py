"""Parts of which nothing was kept: worked out from their records, on all processors where they are many."""

from __future__ import annotations

import functools
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tfperfkit.ranks import kept
from tfperfkit.ranks.arrival import own_ms
from tfperfkit.ranks.part import Part, read_part
from tfperfkit.storage.run_directory import RunDirectory

#: Starting one more process takes as long as some ten parts.
_FEW = 20
#: More than this are not all looked into: of the others only times are read, in a fifth of the time.
_MANY = 100
#: Given to a process at a time.
_CHUNK = 5
_Map = Callable[[Callable[[str], Part], Sequence[str]], Iterator[Part]]


def studied(folder: Path, names: Sequence[str], known: Sequence[Part] = ()) -> dict[str, Part]:
    """Return the parts by name; each is kept, so that it needs be done once, where its folder can be written.
    ``known``: the parts of the same training of which something was kept."""
    with _mapped(len(names)) as each:
        made = dict(zip(names, each(functools.partial(_make, folder, looked=len(names) <= _MANY), names), strict=True))
        if len(names) <= _MANY:
            return made
        chosen = [name for name in telling([*known, *made.values()]) if name in made]
        made.update(zip(chosen, each(functools.partial(_make, folder, looked=True), chosen), strict=True))
    return made


@contextmanager
def _mapped(count: int) -> Iterator[_Map]:
    """``map`` for so many parts, by several processes where that pays."""
    processes = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 8)
    if count <= _FEW or processes < 2:
        yield map
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        yield functools.partial(pool.map, chunksize=_CHUNK)


def _make(folder: Path, name: str, *, looked: bool) -> Part:
    part = read_part(folder, name, looked=looked)
    kept.write(RunDirectory(folder / name), part)
    return part


#: Maximum number of ranks of a kind.
_EACH = 5
#: How many others are read, evenly spaced: they show what all ranks have in common.
_REST = 8


def telling(parts: Sequence[Part]) -> list[str]:
    """Name the ranks to look into, in order: the slowest and the fastest to the exchange, the first that died,
    those that trace or batch differently, and some others."""
    timed = sorted(
        (own_ms(part, computing=part.compute_ms is not None) or 0.0, part.name) for part in parts if part.turn_ms
    )
    ordered = [name for _, name in timed]
    ended = [part for part in parts if not part.problem and part.status not in ("finished", "running")]
    ended.sort(key=lambda part: part.after_s or 0.0)
    kinds = {part.name: _key_of_kind(part) for part in parts}
    usual = Counter(kinds.values()).most_common(1)
    odd = [name for name, kind in kinds.items() if usual and kind != usual[0][0]]
    rest = ordered[:: max(len(ordered) // _REST, 1)]
    chosen = {*ordered[-_EACH:], *ordered[:_EACH], *(part.name for part in ended[:_EACH]), *odd[:_EACH], *rest}
    return sorted(chosen)


def _key_of_kind(part: Part) -> tuple[object, ...]:
    """Return a key that is the same for ranks of one kind."""
    return part.batch_size, part.role, tuple((each.function, each.line, each.traces) for each in part.functions)
