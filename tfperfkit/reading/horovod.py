"""A Horovod timeline: for each tensor the negotiation, until the last rank was ready, and the exchange itself.

Rank 0 writes it (``HOROVOD_TIMELINE``). Within a negotiation stands a tick for each rank as it became ready, named by
its number: the last one is the rank that the others waited for (github.com/horovod/horovod, docs/timeline.rst).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tfperfkit.errors import UsageError
from tfperfkit.reading.chrome import events_of
from tfperfkit.reading.event import Event
from tfperfkit.reading.model import SCHEMA, CollectiveRow, StepFacts, TraceReport

_MAX_ROWS = 50
_NEGOTIATE = "NEGOTIATE_"
_TOP = ("ALLREDUCE", "ALLGATHER", "BROADCAST", "ALLTOALL", "REDUCESCATTER", "ADASUM")


class _Tensor:
    def __init__(self, name: str) -> None:
        self.name = name
        self.runs = 0
        self.wait = 0.0
        self.transfer = 0.0
        self.late = 0.0  # between the first rank that was ready and the last
        self.last: Counter[str] = Counter()
        self.ranks: set[str] = set()
        self.open: list[tuple[str, float]] = []
        self.ready: list[tuple[float, str]] = []


def read(file: Path, path: str, progress: Callable[[int], None]) -> TraceReport:
    """Read a timeline. Raises ``Unavailable`` or UsageError, one line."""
    tensors: dict[int | str, _Tensor] = {}
    count = 0
    for event in events_of(file, progress):
        if event.ph == "M":
            if event.name == "process_name" and event.args:
                tensors[event.pid] = _Tensor(str(event.args.get("name", "")))
            continue
        count += 1
        _add(tensors.setdefault(event.pid, _Tensor(str(event.pid))), event)
    rows = [_row(tensor) for tensor in tensors.values() if tensor.runs]
    if not rows:
        raise UsageError(f"the timeline {file.name} holds no exchange of a tensor")
    late = sum((tensor.last for tensor in tensors.values()), Counter())
    ranks = set().union(*(tensor.ranks for tensor in tensors.values()))
    notes = []
    if late and len(ranks) > 1:
        rank, times = late.most_common(1)[0]
        notes.append(f"rank {rank} was the last to be ready {times} of {sum(late.values())} times")
    return TraceReport(
        schema=SCHEMA,
        kind="horovod",
        path=path,
        run=file.name,
        files=(file.name,),
        events=count,
        steps=StepFacts(count=0, source="none", words="a Horovod timeline knows tensors, no steps"),
        collectives=tuple(sorted(rows, key=lambda row: -row.total_ms)[:_MAX_ROWS]),
        notes=tuple(notes),
    )


def _add(tensor: _Tensor, event: Event) -> None:
    at = event.ts or 0.0
    if event.ph == "B":
        tensor.open.append((event.name, at))
        if event.name.startswith(_NEGOTIATE):
            tensor.ready.clear()
    elif event.ph == "E" and tensor.open:
        name, begin = tensor.open.pop()
        if name.startswith(_NEGOTIATE):
            tensor.wait += at - begin
            if tensor.ready:
                tensor.ready.sort()
                tensor.last[tensor.ready[-1][1]] += 1
                tensor.late += tensor.ready[-1][0] - tensor.ready[0][0]
        elif name in _TOP and not tensor.open:
            tensor.runs += 1
            tensor.transfer += at - begin
    elif event.ph in ("X", "i", "I") and event.name.isdecimal():
        tensor.ready.append((at, event.name))
        tensor.ranks.add(event.name)


def _row(tensor: _Tensor) -> CollectiveRow:
    times = sum(tensor.last.values())
    rank, largest = tensor.last.most_common(1)[0] if tensor.last else ("", 0)
    return CollectiveRow(
        name=tensor.name,
        devices=len(tensor.ranks),
        runs=tensor.runs,
        total_ms=(tensor.wait + tensor.transfer) / 1e3,
        transfer_ms=tensor.transfer / 1e3,
        wait_ms=tensor.wait / 1e3,
        last=f"rank {rank}" if rank else "",
        last_share=largest / times if times else 0.0,
    )
