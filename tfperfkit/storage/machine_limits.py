"""Limits of machines, kept from run to run in the user's state folder: ``machine.json``.

Other programs only ever slow a measurement down, so the best of several is what the machine reaches, and one more can
only raise it. When the best two agree it is steady, and nothing is measured any more.
"""

from __future__ import annotations

import json
import math
import os
import platform
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

#: The best two agree when they differ by less than this share of the best.
STEADY = 0.05
#: So many of the best measurements are kept; after so many in all nothing is measured again.
_KEPT, _ENOUGH = 5, 20
_MAX_MACHINES = 50
_MAX_BYTES = 1 << 20
#: Costs of TensorFlow's own work that are known of a machine, see ``doctor.trial.measure_costs``.
MACHINE_COSTS = ("dispatch_ms", "call_ms", "fetch_ms", "graph_op_ms", "trace_op_ms")
#: Beyond this no figure of a machine is believed, in GFLOP/s or GB/s.
_MAX = 1e7


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """A machine, best measurement first: float32 products in GFLOP/s, copies of memory in GB/s, on all processors that
    we may use and on one. ``measured``: how often. ``bfloat16_times``: so many times as fast is a product in
    bfloat16, over float32; None if that was not measured. ``costs``: of TensorFlow's own work, by ``tfperf doctor``
    (``doctor.trial.measure_costs``); empty if it was not run here."""

    float32_gflops: tuple[float, ...]
    copy_gb_per_s: tuple[float, ...]
    measured: int
    bfloat16_times: float | None = None
    costs: dict[str, float] = {}

    @property
    def steady(self) -> bool:
        """Return whether another measurement would tell nothing."""
        best = self.float32_gflops[:2]
        return self.measured >= _ENOUGH or (len(best) > 1 and best[1] >= (1 - STEADY) * best[0])

    def with_one_more(self, gflops: float, gb_per_s: float) -> Limits:
        """Return the limits after another measurement."""
        return msgspec.structs.replace(
            self,
            float32_gflops=_best(self.float32_gflops, gflops),
            copy_gb_per_s=_best(self.copy_gb_per_s, gb_per_s),
            measured=self.measured + 1,
        )

    def with_costs(self, costs: Mapping[str, float]) -> Limits:
        """Return the limits with the least of each cost that is known."""
        least = {name: min(value, self.costs.get(name, value)) for name, value in costs.items()}
        return msgspec.structs.replace(self, costs={**self.costs, **least})

    def with_bfloat16(self, times: float) -> Limits:
        """Return the limits with what 16 bits give."""
        return msgspec.structs.replace(self, bfloat16_times=times)


UNKNOWN = Limits(float32_gflops=(), copy_gb_per_s=(), measured=0)


def _best(known: tuple[float, ...], value: float) -> tuple[float, ...]:
    return tuple(sorted((*known, value), reverse=True)[:_KEPT])


def make_key(processors: int, versions: dict[str, str]) -> str:
    """Return the key of a machine's limits: the processor's model, the number of usable CPU cores, TensorFlow and
    NumPy.
    """
    libraries = [f"{name} {versions[name]}" for name in ("tensorflow", "numpy") if versions.get(name)]
    return ", ".join([_model(), f"{processors} processors", *libraries])


def _model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == "model name" and value.strip():
                    return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def load(path: Path) -> dict[str, Limits]:
    """Return the machines in the file, damaged ones left out; empty when there is no such file or it is none of
    ours."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
            return {}
        raw = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    machines = raw.get("machines") if isinstance(raw, dict) else None
    if not isinstance(machines, dict):
        return {}
    read = {str(name): _limits(row) for name, row in machines.items()}
    return {name: limits for name, limits in read.items() if limits is not None}


def _limits(row: Any) -> Limits | None:
    try:
        limits = msgspec.convert(row, Limits)
    except msgspec.ValidationError:
        return None
    times = () if limits.bfloat16_times is None else (limits.bfloat16_times,)
    values = (*limits.float32_gflops, *limits.copy_gb_per_s, *times, *limits.costs.values())
    sound = all(math.isfinite(value) and 0 < value < _MAX for value in values)
    known = limits.float32_gflops and limits.measured > 0
    return limits if sound and (known or limits.costs) else None


def store(path: Path, name: str, limits: Limits) -> None:
    """Keep the limits of one machine next to those of others. Raises OSError."""
    machines = {**load(path), name: limits}
    while len(machines) > _MAX_MACHINES:
        machines.pop(next(other for other in machines if other != name))
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        made.write_bytes(json.dumps({"machines": msgspec.to_builtins(machines)}, indent=1).encode())
        os.replace(made, path)
    finally:
        made.unlink(missing_ok=True)
