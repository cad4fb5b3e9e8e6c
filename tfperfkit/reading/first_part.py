"""A trace of which only the first part was read: nothing is said of what reaches beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tfperfkit.reading.activity import Activity
from tfperfkit.reading.host import HostActivity

PS_PER_S = 1e12


def ended(until_ps: int, host: HostActivity, devices: Sequence[Activity]) -> None:
    """Take away the steps and the calls that go on beyond that moment, and let what devices did end there."""
    host.markers = [marker for marker in host.markers if marker[3] <= until_ps]
    host.calls = {name: [call for call in calls if call[1] <= until_ps] for name, calls in host.calls.items()}
    host.last = min(host.last, until_ps)
    for device in devices:
        device.steps = [step for step in device.steps if step[2] <= until_ps]
        np.minimum(device.end, until_ps, out=device.end)


def note(file: Path, until_ps: int, host: HostActivity, devices: Sequence[Activity]) -> str:
    """That not all was read, and how much."""
    begins = [host.first, *(int(each.begin[0]) for each in devices)]
    first = min((begin for begin in begins if begin is not None), default=until_ps)
    size, seconds = file.stat().st_size / 1e9, (until_ps - first) / PS_PER_S
    return f"{file.name} has {size:.1f} GB: its first {seconds:.3g} s were read, all threads and devices alike"
