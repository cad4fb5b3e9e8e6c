"""The process offers traces by TensorFlow's profiler service, where the user asked for that."""

from __future__ import annotations

import os
import platform

from tfperfkit.clock import start_ticks, this_machine
from tfperfkit.instruments.profiler_service import serve
from tfperfkit.records.service import SERVICE, OnDemand, Service
from tfperfkit.storage.run_directory import RunDirectory


def offer_traces(run: RunDirectory, to: OnDemand | None) -> None:
    """Start the service and say where it is; None: nothing. Raises Unavailable or OSError."""
    if to is None:
        return
    port = serve(network=to == "network")
    service = Service(
        port=port,
        open_to=to,
        machine=this_machine(),
        host=platform.node(),
        pid=os.getpid(),
        started_ticks=start_ticks(),
    )
    run.write_json(SERVICE, service)
