"""Collectives of several devices, each next to the same exchange on the others: the transfer, and who waits for whom.

Durations are compared, never clocks of hosts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfperfkit.offers.recorded_trace import CollectiveRow
from tfperfkit.reading.activity import Activity, Label
from tfperfkit.reading.rows import PS_PER_MS, REPLICA
from tfperfkit.reading.steps import Steps
from tfperfkit.xplane.intervals import covered

#: Of one collective on one device: its runs in the order of time, as (step's number, which of it in that step).
_Runs = dict[tuple[int, int], int]


def collective_rows(devices: Sequence[Activity], steps: Steps) -> tuple[CollectiveRow, ...]:
    """Return all collectives, the costliest first.

    A run on each device is one exchange: the n-th in the step of the same number where the program numbers its steps,
    else the n-th of the trace. Sessions of several hosts begin at different steps, so without numbers their exchanges
    are matched only if all devices ran equally many.
    """
    runs: dict[str, dict[str, _Runs]] = {}
    totals: dict[str, Counter[str]] = {kind: Counter() for kind in ("runs", "ps", "hidden", "bytes")}
    hosts = {device.host for device in devices}
    for device in devices:
        if not any(label.is_collective for label in device.labels):
            continue
        computing = device.busy(device.mask([not (label.is_copy or label.is_collective) for label in device.labels]))
        begins = np.array([step.begin for step in steps.find_steps(device)], np.int64) if steps.numbered else None
        numbers = [step.number for step in steps.find_steps(device)]
        for name, members in _by_name(device).items():
            which = np.flatnonzero(np.isin(device.label, members))  # by begin, as all events of a device
            lengths = device.end[which] - device.begin[which]
            totals["runs"][name] += len(which)
            totals["ps"][name] += int(lengths.sum())
            totals["hidden"][name] += int(covered(computing, device.begin[which], device.end[which]).sum())
            totals["bytes"][name] += round(sum(device.labels[label].bytes for label in device.label[which].tolist()))
            if begins is None or not len(begins):
                keys = [0] * len(which)
            else:
                places = np.searchsorted(begins, device.begin[which], side="right") - 1
                keys = [numbers[place] if place >= 0 else -1 for place in places.tolist()]
            runs.setdefault(name, {})[device.full_name] = _counted(keys, lengths.tolist())
    rows = []
    for name, of in runs.items():
        together = len(of) > 1 and (steps.numbered or len(hosts) == 1 or len({len(each) for each in of.values()}) == 1)
        rows.append(
            CollectiveRow(
                name=name,
                devices=len(of),
                runs=totals["runs"][name],
                total_ms=totals["ps"][name] / PS_PER_MS,
                hidden_ms=totals["hidden"][name] / PS_PER_MS,
                bytes=totals["bytes"][name],
                **(_exchanges(of) if together else {}),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.total_ms))


def _by_name(device: Activity) -> dict[str, list[int]]:
    named: defaultdict[str, list[int]] = defaultdict(list)
    for number, label in enumerate(device.labels):
        if label.is_collective:
            named[_name_collective(label)].append(number)
    return named


def _name_collective(label: Label) -> str:
    """Return the name of a collective."""
    return REPLICA.sub("", label.path).strip("/") or label.instruction or label.name


def _counted(keys: list[int], lengths: list[int]) -> _Runs:
    seen: Counter[int] = Counter()
    found: _Runs = {}
    for key, length in zip(keys, lengths, strict=True):
        found[key, seen[key]] = length
        seen[key] += 1
    return found


def _exchanges(of: dict[str, _Runs]) -> dict[str, Any]:
    """Return the exchange on all devices: the shortest is the transfer, the others' further time is waiting."""
    shared = set.intersection(*(set(each) for each in of.values()))
    if not shared:
        return {}
    transfer = wait = 0
    last: Counter[str] = Counter()
    for key in sorted(shared):
        each = {device: lengths[key] for device, lengths in of.items()}
        shortest = min(each.values())
        transfer += shortest * len(each)
        wait += sum(each.values()) - shortest * len(each)
        last[min(each, key=lambda device: each[device])] += 1
    latest, times = last.most_common(1)[0]
    return {
        "transfer_ms": transfer / PS_PER_MS,
        "wait_ms": wait / PS_PER_MS,
        "last": latest,
        "last_share": times / len(shared),
        "compared": len(shared) * len(of),
    }
