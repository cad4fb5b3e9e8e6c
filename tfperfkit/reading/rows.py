"""Rows of the report: kernels, scopes, lines, copies and collectives, added up over all devices."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from tfperfkit.offers.recorded_trace import CopyRow, KernelRow, Machine, TimeRow
from tfperfkit.reading.activity import Activity, Label
from tfperfkit.reading.machine import bound_by, occupancy, uses_tensor_cores

PS_PER_MS = 1_000_000_000
#: Rows that are kept of each kind; scopes are unfolded until there are so many.
MAX_ROWS = 50
_SCOPES = 15
#: Prefix that tf.distribute and Keras put in front of the same operation on each device.
REPLICA = re.compile(r"(?:^|/)(?:replica_\d+|while/body/_\d+|cond(?:_\d+)?/(?:then|else)/_\d+)(?=/)")
_KINDS = {"H2D": "host to device", "D2H": "device to host", "D2D": "within a device", "P2P": "device to device"}

#: In the layout of a value of XLA's: it lies in the host's memory (Layout::kHostMemorySpace, xla/layout.h).
_ON_HOST = "S(5)"


class _Sum:
    __slots__ = ("labels", "ps", "runs")

    def __init__(self) -> None:
        self.runs = 0
        self.ps = 0
        self.labels: dict[Label, int] = {}


Group = Callable[[Label], str]
_Scope = tuple[str, ...]


def add_up(devices: Sequence[Activity], wanted: Callable[[Label], bool], group: Group) -> dict[str, _Sum]:
    """Return the own time of all work that is wanted, by ``group``; what has the group "" is left out."""
    sums: defaultdict[str, _Sum] = defaultdict(_Sum)
    for device in devices:
        runs = np.bincount(device.label, minlength=len(device.labels))
        own = np.bincount(device.label, weights=device.own_ps.astype(np.float64), minlength=len(device.labels))
        for label, count, time in zip(device.labels, runs.tolist(), own.tolist(), strict=True):
            if count and wanted(label) and (name := group(label)):
                entry = sums[name]
                entry.runs += count
                entry.ps += round(time)
                entry.labels[label] = entry.labels.get(label, 0) + round(time)
    return dict(sums)


def is_kernel(label: Label) -> bool:
    return not label.is_copy


def kernel_rows(devices: Sequence[Activity], machine: Machine) -> tuple[KernelRow, ...]:
    """Return the kernels, the costliest first."""
    sums = add_up(devices, is_kernel, lambda label: label.kernel)
    whole = sum(each.ps for each in sums.values()) or 1
    rows = []
    for _, each in _costliest(sums):
        label = max(each.labels, key=lambda label: each.labels[label])
        operations = {REPLICA.sub("", found.path).strip("/") for found in each.labels if found.path}
        rows.append(
            KernelRow(
                kernel=label.name,
                runs=each.runs,
                total_ms=each.ps / PS_PER_MS,
                share=each.ps / whole,
                mean_us=each.ps / each.runs / 1e6,
                operation=_operation(operations, {found.type for found in each.labels if found.path}),
                bound=bound_by(label, each.ps / each.runs, machine),
                occupancy=occupancy(label),
                tensor_cores=uses_tensor_cores(label),
                source=label.source,
            )
        )
    return tuple(rows)


def _operation(operations: set[str], types: set[str]) -> str:
    """``encoder/dense/MatMul``, or ``Cast in 51 places`` where a kernel serves several."""
    if len(operations) < 2:
        return next(iter(operations), "")
    known = sorted(kind for kind in types if kind and kind != "XLA")
    return f"{' and '.join(known)} in {len(operations)} places" if 0 < len(known) < 3 else f"{len(operations)} places"


def operation_rows(devices: Sequence[Activity]) -> tuple[TimeRow, ...]:
    """By type of operation: MatMul, Cast, FusedBatchNorm; under XLA by the operation's own name."""
    return _times(
        add_up(
            devices,
            is_kernel,
            lambda label: label.type if label.type and label.type != "XLA" else label.path.rpartition("/")[2],
        )
    )


def line_rows(devices: Sequence[Activity]) -> tuple[TimeRow, ...]:
    """Sum up the time by the line of Python that an operation was traced from, if the trace has the line."""
    return _times(add_up(devices, is_kernel, lambda label: label.source))


def scope_rows(devices: Sequence[Activity]) -> tuple[TimeRow, ...]:
    """By name scope, unfolded where the time is; each row is without those below it."""
    sums = add_up(devices, is_kernel, lambda label: REPLICA.sub("", label.path).strip("/"))
    whole = sum(each.ps for each in add_up(devices, is_kernel, lambda label: "all").values()) or 1
    scopes: dict[_Scope, list[tuple[_Scope, _Sum]]] = {(): [(tuple(n.split("/")), s) for n, s in sums.items()]}
    done: set[_Scope] = set()
    while len(scopes) < _SCOPES:
        open_ = [scope for scope in scopes if scope not in done]
        if not open_:
            break
        scope = max(open_, key=lambda scope: sum(each.ps for _, each in scopes[scope]))
        below: dict[_Scope, list[tuple[_Scope, _Sum]]] = {}
        for parts, each in scopes[scope]:
            # The last part is the operation's own name: no scope.
            inner = parts[: len(scope) + 1] if len(parts) > len(scope) + 1 else (*scope, "")
            below.setdefault(inner, []).append((parts, each))
        if len(scopes) - 1 + len(below) > _SCOPES and len(scopes) > 1:
            done.add(scope)
            continue
        del scopes[scope]
        scopes |= below
        done |= {inner for inner in below if inner[-1] == ""}
    rows = []
    for scope, members in scopes.items():
        ps, runs = sum(each.ps for _, each in members), sum(each.runs for _, each in members)
        name = "/".join(part for part in scope if part) or "(no scope)"
        rows.append(TimeRow(name=name, runs=runs, total_ms=ps / PS_PER_MS, share=ps / whole))
    return tuple(sorted(rows, key=lambda row: -row.total_ms))


def copy_rows(devices: Sequence[Activity]) -> tuple[CopyRow, ...]:
    """Return the copies by their direction."""
    sums = add_up(devices, lambda label: label.is_copy, _direction)
    rows = []
    for kind, each in sorted(sums.items(), key=lambda item: -item[1].ps):
        size = synchronous = pageable = awaited = 0
        tells_memory = False
        for label, runs in _runs(devices, each.labels).items():
            found = dict(re.findall(r"(\w+):(\S+)", label.copy))
            size += runs * (_int(found.get("size")) if found.get("size") else round(label.bytes))
            synchronous += runs * (found.get("async") == "0")
            awaited += runs * label.waits_for_copy
            memory = f"{found.get('kind_src', '')} {found.get('kind_dst', '')} {found.get('kind', '')}".lower()
            tells_memory |= "page" in memory or "pinned" in memory
            pageable += runs * ("pageable" in memory)
        rows.append(
            CopyRow(
                kind=kind,
                runs=each.runs,
                total_ms=each.ps / PS_PER_MS,
                bytes=size,
                synchronous=synchronous,
                pageable=pageable if tells_memory else None,
                awaited=awaited,
            )
        )
    return tuple(rows)


def _runs(devices: Sequence[Activity], labels: dict[Label, int]) -> dict[Label, int]:
    found: dict[Label, int] = {}
    for device in devices:
        counts = np.bincount(device.label, minlength=len(device.labels)).tolist()
        for label, count in zip(device.labels, counts, strict=True):
            if label in labels:
                found[label] = found.get(label, 0) + count
    return found


def _direction(label: Label) -> str:
    words = f"{label.kernel} {label.copy}"
    if label.waits_for_copy:
        to, _, of = label.kernel.partition(" copy-done(")
        return _KINDS["D2H"] if _ON_HOST in to else _KINDS["H2D"] if _ON_HOST in of else _KINDS["D2D"]
    for sign, name in _KINDS.items():
        if sign in words or sign.replace("2", "to") in words:
            return name
    return "set to a value" if "emset" in words or "fillBuffer" in words else "copy"


def _int(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 19 else 0


def _times(sums: dict[str, _Sum]) -> tuple[TimeRow, ...]:
    whole = sum(each.ps for each in sums.values()) or 1
    return tuple(
        TimeRow(name=name, runs=each.runs, total_ms=each.ps / PS_PER_MS, share=each.ps / whole)
        for name, each in _costliest(sums)
    )


def _costliest(sums: dict[str, _Sum]) -> list[tuple[str, _Sum]]:
    """Return the sums, the costliest first."""
    return sorted(sums.items(), key=lambda item: (-item[1].ps, item[0]))[:MAX_ROWS]
