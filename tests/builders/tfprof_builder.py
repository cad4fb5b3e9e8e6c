"""Made-up records of the probes ``tfprof`` and ``ops`` for the tests of rules."""

from __future__ import annotations

from typing import Any

from tfperfkit_probes.ops.model import Brief, OpsData
from tfperfkit_probes.tfprof.model import CallRow, OpRow, TfprofData

GRAPH = "__inference_train_step_1"


def op(kind: str, self_ms: float, *, count: int = 10, where: str = "graph", name: str = "") -> OpRow:
    """Return an operation over all traced steps."""
    return OpRow(name=name or kind, type=kind, count=count, self_ms=self_ms, share=0.0, where=where)


def traced(*rows: OpRow, steps: int = 10, calls: tuple[CallRow, ...] | None = None, **fields: Any) -> TfprofData:
    """Return a trace of ``steps`` steps with these operations, in which GRAPH was called once a step."""
    given: dict[str, Any] = {
        "steps": steps,
        "trace_dir": "trace",
        "trace_file": "",
        "top_ops": rows,
        "input_share": 0.0,
        "breakdown_ms": {"graph": 9.0, "python": 1.0},
        "step_ms": 10.0,
        "first_step": 10,
        "last_step": 9 + steps,
        "window_ms": {},
        "wall_ms": 10.0 * steps,
        "input_ops": (),
        "rest_ms": 0.0,
        "devices": (),
        "python_tracer": False,
        "ended": "",
        "start_ms": 0.0,
        "stop_ms": 0.0,
        "calls": (CallRow(name=GRAPH, per_step=1.0, ms=9.0),) if calls is None else calls,
    }
    return TfprofData(**{**given, **fields})


def brief(**fields: Any) -> Brief:
    """Return a concrete function of 1 GFLOP called train_step, in train.py at line 5."""
    given: dict[str, Any] = {
        "function": "train_step",
        "file": "train.py",
        "line": 5,
        "owner": "user",
        "graph": GRAPH,
        "operations": 100,
        "flops": 1e9,
        "flops_note": "",
        "moved_bytes": 1e6,
        "first_execution_ms": 100.0,
        "trace_ms": 100.0,
        "jit_compile": False,
        "elementwise": 10,
        "heavy": 10,
        "float64_flops_share": 0.0,
        "half_flops_share": 0.0,
        "python_calls": 0,
        "control": 0,
    }
    return Brief(**{**given, **fields})


def graphs(*functions: Brief, **fields: Any) -> OpsData:
    """Return a record of the probe ``ops``."""
    return OpsData(functions=[], all=functions, **fields)
