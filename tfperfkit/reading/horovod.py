"""A Horovod timeline: for each tensor the negotiation, until the last rank was ready, and the exchange itself.

Rank 0 writes it (``HOROVOD_TIMELINE``). Within a negotiation stands a tick for each rank as it became ready, named by
its number: the last one is the rank that the others waited for (github.com/horovod/horovod, docs/timeline.rst).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tfperfkit.diagnosis.rules import ask_about
from tfperfkit.errors import UsageError
from tfperfkit.model import Finding
from tfperfkit.offers.recorded_trace import SCHEMA, CollectiveRow, LastToBeReady, StepFacts, TraceReport
from tfperfkit.reading.chrome import events_of
from tfperfkit.reading.tracks import Event
from tfperfkit.xplane.intervals import Spans, union

_MAX_ROWS = 50
_NEGOTIATE = "NEGOTIATE_"
_TOP = ("ALLREDUCE", "ALLGATHER", "BROADCAST", "ALLTOALL", "REDUCESCATTER", "ADASUM")


class _Tensor:
    def __init__(self, name: str) -> None:
        self.name = name
        self.runs = 0
        self.wait = 0.0
        self.transfer = 0.0
        self.waiting: list[tuple[float, float]] = []
        self.exchanging: list[tuple[float, float]] = []
        self.last: Counter[str] = Counter()
        self.ranks: set[str] = set()
        self.open: list[tuple[str, float]] = []
        self.ready: list[tuple[float, str]] = []


def read(file: Path, path: str, progress: Callable[[int], None]) -> TraceReport:
    """Read a timeline. Raises ``Unavailable`` or UsageError, one line."""
    tensors: dict[int | str, _Tensor] = {}
    count = 0
    times: list[float] = []
    for event in events_of(file, progress):
        if event.ph == "M":
            if event.name == "process_name" and event.args:
                tensors[event.pid] = _Tensor(str(event.args.get("name", "")))
            continue
        count += 1
        times += [event.ts or 0.0, (event.ts or 0.0) + (event.dur or 0.0)]
        _add(tensors.setdefault(event.pid, _Tensor(str(event.pid))), event)
    rows = [_tensor_row(tensor) for tensor in tensors.values() if tensor.runs]
    if not rows:
        raise UsageError(f"the timeline {file.name} holds no exchange of a tensor")
    whole = max(times) - min(times)
    waiting = _share_of_time([span for tensor in tensors.values() for span in tensor.waiting], whole)
    exchanging = _share_of_time([span for tensor in tensors.values() for span in tensor.exchanging], whole)
    last = sum((tensor.last for tensor in tensors.values()), Counter())
    ranks = set().union(*(tensor.ranks for tensor in tensors.values()))
    headline = f"Some tensor waits for the last rank in {100 * waiting:.1f} % of the recorded time"
    headline += f", and is exchanged in {100 * exchanging:.1f} %"
    notes = ["rank 0 writes a timeline: what the ranks do between the exchanges is not in it"]
    found: list[Finding] = []
    if last and len(ranks) > 1:
        rank, times_last = last.most_common(1)[0]
        words = f"rank {rank} was the last to be ready {times_last} of {sum(last.values())} times"
        headline = f"{headline}: {words}"
        times_share = times_last / sum(last.values())
        late = LastToBeReady(rank=f"rank {rank}", times=times_share, waiting=waiting, exchanging=exchanging)
        found, troubles = ask_about(late)
        notes += troubles
    return TraceReport(
        schema=SCHEMA,
        kind="horovod",
        path=path,
        run=file.name,
        files=(file.name,),
        events=count,
        steps=StepFacts(count=0, source="none", words="a Horovod timeline knows tensors, no steps"),
        headline=headline,
        collectives=tuple(sorted(rows, key=lambda row: -row.total_ms)[:_MAX_ROWS]),
        findings=tuple(found),
        notes=tuple(notes),
    )


def _share_of_time(spans: list[tuple[float, float]], whole: float) -> float:
    """Return the share of the recorded time. Moments in which several tensors wait count once."""
    if not spans or whole <= 0:
        return 0.0
    ps = np.rint(np.array(spans) * 1e6).astype(np.int64)
    return min(union([Spans(ps[:, 0], ps[:, 1])]).total / (whole * 1e6), 1.0)


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
            tensor.waiting.append((begin, at))
            if tensor.ready:
                tensor.ready.sort()
                tensor.last[tensor.ready[-1][1]] += 1
        elif name in _TOP and not tensor.open:
            tensor.runs += 1
            tensor.transfer += at - begin
            tensor.exchanging.append((begin, at))
    elif event.ph in ("X", "i", "I") and event.name.isdecimal():
        tensor.ready.append((at, event.name))
        tensor.ranks.add(event.name)


def _tensor_row(tensor: _Tensor) -> CollectiveRow:
    """Return the row of a tensor."""
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
