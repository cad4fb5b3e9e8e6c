"""What is known of reads and GPUs, for the rules."""

from __future__ import annotations

from typing import Any

from tfperfkit.offers import Gpus, HostRead, HostReads
from tfperfkit_probes.devices.model import DevicesData


def offers(data: DevicesData, watched: bool = True) -> tuple[Any, ...]:
    """The reads that were seen, unless no step was ``watched``, and the GPUs when TensorFlow was asked for them."""
    rows = tuple(
        HostRead(file=row.file, line=row.line, per_step=row.per_step, through=row.through) for row in data.host_syncs
    )
    made: list[Any] = [HostReads(rows=rows)] if watched or rows else []
    if data.facts is not None:
        capabilities = [device.compute_capability for device in data.facts.gpus("physical")]
        made.append(Gpus(capabilities=tuple((each[0], each[1]) for each in capabilities if each is not None)))
    return tuple(made)
