"""Peak memory per function: the samples of the memory joined with the samples of the stack."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from typing import Any

from tfperfkit.clock import NS_PER_MS
from tfperfkit_probes.memory.model import FunctionMemory, Sample

#: A stack belongs to a memory sample if it was taken this close to it; stacks come each 10 ms, later each 50 ms.
_NEAR_NS = 60 * NS_PER_MS
#: Two samples of one function further apart than this are two stays on the stack.
_STAY_NS = 300 * NS_PER_MS
_MAX = 20

_Key = tuple[str, int, str]


def peaks_per_function(samples: Sequence[Sample], stacks: Iterable[Any]) -> tuple[FunctionMemory, ...]:
    """The highest RSS seen while each of the user's functions was on the sampled stack, the highest first.

    ``stacks`` are the session's records ``["stack", id, [[file, first line, name, line] …], library]`` and
    ``["s", ns, id, thread]``; damaged ones are left out.
    """
    times, held = _read(stacks)
    seen: dict[_Key, list[Sample]] = {}
    for sample in samples:
        for key in _nearest(sample.ns, times, held):
            seen.setdefault(key, []).append(sample)
    rows = [_row(key, found) for key, found in seen.items()]
    rows.sort(key=lambda row: (-row.peak_bytes, -(row.mean_increase_bytes or 0.0), row.file, row.line))
    return tuple(rows[:_MAX])


def _read(stacks: Iterable[Any]) -> tuple[list[int], list[frozenset[_Key]]]:
    functions: dict[int, frozenset[_Key]] = {}
    taken: list[tuple[int, frozenset[_Key]]] = []
    for record in stacks:
        try:
            if record[0] == "stack":
                functions[int(record[1])] = frozenset((str(f[0]), int(f[1]), str(f[2])) for f in record[2])
            elif record[0] == "s":
                taken.append((int(record[1]), functions.get(int(record[2]), frozenset())))
        except (TypeError, ValueError, IndexError, KeyError):
            continue
    taken.sort(key=lambda item: item[0])
    return [ns for ns, _ in taken], [keys for _, keys in taken]


def _nearest(ns: int, times: Sequence[int], held: Sequence[frozenset[_Key]]) -> frozenset[_Key]:
    index = bisect.bisect_left(times, ns)
    near = [i for i in (index - 1, index) if 0 <= i < len(times) and abs(times[i] - ns) <= _NEAR_NS]
    return held[min(near, key=lambda i: abs(times[i] - ns))] if near else frozenset()


def _row(key: _Key, samples: Sequence[Sample]) -> FunctionMemory:
    stays: list[list[Sample]] = [[samples[0]]]
    for sample in samples[1:]:
        if sample.ns - stays[-1][-1].ns <= _STAY_NS:
            stays[-1].append(sample)
        else:
            stays.append([sample])
    increases = [stay[-1].own_bytes - stay[0].own_bytes for stay in stays if len(stay) > 1]
    file, line, function = key
    return FunctionMemory(
        function=function,
        file=file,
        line=line,
        peak_bytes=max(sample.rss_bytes for sample in samples),
        mean_increase_bytes=sum(increases) / len(increases) if increases else None,
        samples=len(samples),
        stays=len(stays),
    )
