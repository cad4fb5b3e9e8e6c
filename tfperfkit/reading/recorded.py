"""Activity of each host and each accelerator, from all files of a run; of a large file from its first part only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.reading import activity, chrome, host
from tfperfkit.reading.activity import Activity
from tfperfkit.reading.host import HostActivity
from tfperfkit.reading.planes import Progress, open_planes, share_of
from tfperfkit.reading.sources import Source
from tfperfkit.reading.tracks import HostTrace

#: Hosts that a note names.
_NAMED = 5


class Recorded(NamedTuple):
    """``hosts`` have the name "" if there is one; ``file_of`` is the file that contains each host."""

    hosts: tuple[HostActivity, ...]
    devices: tuple[Activity, ...]
    notes: tuple[str, ...]
    file_of: dict[str, Path]
    left_out: tuple[str, ...]


def read(source: Source, progress: Callable[[Path], Progress]) -> Recorded:
    """Read what can be read: a host whose file is damaged hides nothing of the others. Raises ``Unavailable`` or
    UsageError, one line, where that is nothing."""
    hosts: list[HostActivity] = []
    devices: list[Activity] = []
    notes: list[str] = []
    file_of: dict[str, Path] = {}
    left_out: list[TfperfError] = []
    for file in source.files:
        try:
            with open_file(source, file, progress(file)) as traces:
                for trace in traces:
                    name = _distinct(trace.host, file_of) if len(source.files) > 1 or len(traces) > 1 else ""
                    found, mine, said = _host(trace, name, file)
                    hosts.append(found)
                    devices += mine
                    notes += [note for note in said if note not in notes]
                    file_of[name] = file
        except TfperfError as error:
            left_out.append(error)
    if not hosts:
        raise left_out[0]
    if not devices and not any(each.events for each in hosts):
        raise UsageError(f"the trace {source.files[0].name} holds no events: nothing was recorded while it was made")
    silent = [each.host for each in hosts if not each.events and not any(one.host == each.host for one in devices)]
    if silent:
        more = f" and {len(silent) - _NAMED} more" * (len(silent) > _NAMED)
        notes.insert(0, f"nothing was recorded on {', '.join(silent[:_NAMED])}{more}")
    return Recorded(tuple(hosts), tuple(devices), tuple(notes), file_of, tuple(str(error) for error in left_out))


def open_file(source: Source, file: Path, progress: Progress) -> AbstractContextManager[Sequence[HostTrace]]:
    """Return the hosts of a file."""
    if source.kind == "xplane":
        return open_planes(file, progress, share_of(source.files))
    return chrome.open_chrome(file, progress)


def _host(trace: HostTrace, name: str, file: Path) -> tuple[HostActivity, list[Activity], list[str]]:
    modules = trace.modules()
    devices = [one for each in trace.devices() if (one := activity.read(each, name, modules)) is not None]
    found = host.read(trace, operations=not devices)
    found.host = name
    notes = [*trace.remarks, *(f"the profiler says: {words}" for words in trace.words)]
    if trace.until_ps is not None:
        _cut_off(trace.until_ps, found, devices)
        notes.append(_first_part_note(file, trace.until_ps, found, devices))
    return found, devices, notes


def _distinct(name: str, taken: dict[str, Path]) -> str:
    number = 2
    while name in taken:
        name = f"{name.partition(' (')[0]} ({number})"
        number += 1
    return name


PS_PER_S = 1e12


def _cut_off(until_ps: int, host: HostActivity, devices: Sequence[Activity]) -> None:
    """Drop steps and calls that end after that moment, and cut what devices did there."""
    host.markers = [marker for marker in host.markers if marker[3] <= until_ps]
    host.calls = {name: [call for call in calls if call[1] <= until_ps] for name, calls in host.calls.items()}
    host.last = min(host.last, until_ps)
    for device in devices:
        device.steps = [step for step in device.steps if step[2] <= until_ps]
        np.minimum(device.end, until_ps, out=device.end)


def _first_part_note(file: Path, until_ps: int, host: HostActivity, devices: Sequence[Activity]) -> str:
    """Say how much of the file was read."""
    begins = [host.first, *(int(each.begin[0]) for each in devices)]
    first = min((begin for begin in begins if begin is not None), default=until_ps)
    size, seconds = file.stat().st_size / 1e9, (until_ps - first) / PS_PER_S
    return f"{file.name} has {size:.1f} GB: its first {seconds:.3g} s were read, all threads and devices alike"
