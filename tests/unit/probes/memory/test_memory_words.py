"""The statement of the probe memory in one line."""

from __future__ import annotations

from typing import Any

from tfperfkit_probes.memory.model import Grower, MemoryData
from tfperfkit_probes.memory.tables import summary


def data(*names: str) -> MemoryData:
    shared: dict[str, Any] = {"container": "list", "per_step": 1.0, "bytes_per_step": 8.0, "first": 3, "last": 90}
    place: dict[str, Any] = {"file": "a.py", "line": 3, "function": "train"}
    return MemoryData(
        rss_peak_bytes=1 << 30,
        growth_bytes_per_step=10.0,
        growth_range=(-5.0, 20.0),
        growth_is_significant=False,
        growers=tuple(Grower(name=name, kind="list", **shared, **place) for name in names),
    )


def test_what_grows_is_named_where_the_process_does_not_grow_measurably() -> None:
    """Another finding says that a list grows."""
    assert summary(data()).endswith("; no growth with the steps")
    said = summary(data("history"))
    assert said.endswith("; history gets longer with the steps, the process does not grow measurably")
    assert "history, seen get longer" in summary(data("history", "seen"))
