"""The window's eager operations: by device, what was copied to them, and which ran elsewhere than asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from tfperfkit.records.placement import EagerCopy, missing_device
from tfperfkit_probes.devices.model import CopyRow, FallbackRow, Slice


def eager_per_step(slices: Sequence[Slice]) -> dict[str, float] | None:
    """Operations by device; None when the window saw no whole step."""
    whole = [piece for piece in slices if piece.complete]
    if not whole:
        return None
    counted: Counter[str] = Counter()
    for piece in whole:
        counted.update(piece.eager_ops)
    return {device: count / len(whole) for device, count in counted.items()}


def eager_copies(slices: Sequence[Slice]) -> tuple[CopyRow, ...]:
    """By devices and line, per step."""
    whole = [piece for piece in slices if piece.complete]
    groups: dict[tuple[str, str, str, int, str], list[EagerCopy]] = defaultdict(list)
    for piece in whole:
        for copy in piece.eager_copies:
            groups[copy.source, copy.target, copy.file, copy.line, copy.function].append(copy)
    rows = []
    for (source, target, file, line, function), group in groups.items():
        size = sum(copy.bytes for copy in group)
        rows.append(
            CopyRow(
                source=source,
                target=target,
                file=file,
                line=line,
                function=function,
                kind="eager",
                bytes_per_step=round(size / len(whole)),
                copies_per_step=sum(copy.count for copy in group) / len(whole),
                ops=(),
                users=tuple(dict.fromkeys(copy.op for copy in group)),
                bytes_per_call=round(size / sum(copy.count for copy in group)),
                unknown_sizes=0,
                estimated=False,
                repeated=False,
                made_file="",
                made_line=0,
            )
        )
    return tuple(sorted(rows, key=lambda row: -(row.bytes_per_step or 0)))


def eager_fallbacks(slices: Sequence[Slice], devices: frozenset[str]) -> tuple[FallbackRow, ...]:
    """By operation and line; ``count`` is per step where whole steps were seen, at least 1."""
    steps = max(sum(piece.complete for piece in slices), 1)
    counted: Counter[tuple[str, str, str, str, int, str]] = Counter()
    for piece in slices:
        for row in piece.eager_fallbacks:
            counted[row.op, row.requested, row.assigned, row.file, row.line, row.function] += row.count
    rows = []
    for (op, requested, assigned, file, line, function), count in counted.items():
        missing = missing_device(requested, devices)
        rows.append(
            FallbackRow(
                op=op,
                dtype="",
                requested=requested,
                assigned=assigned,
                kind="device" if missing else "rules",
                reason=missing or "the runtime chose so, by the operation's kernels or inputs",
                count=max(1, round(count / steps)),
                file=file,
                line=line,
                function=function,
            )
        )
    return tuple(rows)
