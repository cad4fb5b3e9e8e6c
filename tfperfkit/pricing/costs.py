"""Costs of TensorFlow's own work on the machine of the run, if ``tfperf doctor`` measured them, else the usual ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit.model import Measurement
from tfperfkit.pricing.bounds import Bounds
from tfperfkit.pricing.machines import MEASURED_ON, MEASURED_QUIET, TWO_BUSY_CORES
from tfperfkit.rule import Evidence

GRAPH_OP_MIN_MS = Threshold(
    0.0007,
    "ms",
    "minimum time of an operation of a compiled function on little data, after pruning and folding",
    Measured(
        "0.4 to 1.9 us (10th to 90th percentile), median 0.55, in chains and small training steps; 0.17 in "
        "chains in the machine's best hour; by hand 1.1 us in steps of 729 and 942 former eager operations",
        MEASURED_QUIET,
        15,
        "graph_op",
    ),
)
GRAPH_OP_MAX_MS = Threshold(
    0.004,
    "ms",
    "maximum time of an operation of a compiled function on little data",
    Measured("up to 4 us each with other work on the CPU", TWO_BUSY_CORES, None, "graph_op"),
)
FUNCTION_CALL_MIN_MS = Threshold(
    0.2,
    "ms",
    "minimum time of a call of a compiled function from Python",
    Measured("0.13 to 0.35 ms (10th to 90th percentile), median 0.17", MEASURED_ON, 20, "function_call"),
)
FUNCTION_CALL_MAX_MS = Threshold(
    1.0,
    "ms",
    "maximum time of a call of a compiled function from Python, with its arguments to bind",
    Measured(
        "0.35 ms at the 90th percentile; 0.3 to 1 ms by hand on a busier machine, 4.0 at a load of 14",
        MEASURED_ON,
        20,
        "function_call",
    ),
)
FETCH_MS = Threshold(
    0.1,
    "ms",
    "time to take a batch that is ready: a shorter wait can't be saved",
    Measured("0.025 to 0.032 ms; 0.05 to 0.08 by hand, up to 0.23 at a load of 14", MEASURED_ON, 15, "fetch"),
)
SMALL_OPERATION = Threshold(
    3.0,
    "number",
    "maximum ratio of a matmul on small tensors, with its threads and caches, to a minimal operation",
    Measured(
        "up to 3 times, of the operations in traces of steps on small tensors", TWO_BUSY_CORES, None, "small_operation"
    ),
)
TINY_OPERATIONS = Threshold(
    0.25,
    "share",
    "share of the operations, shortest first, of which the longest takes as long as a minimal operation",
    Chosen("reads of variables, shapes and constants are more than a quarter of every step's operations"),
)
DIVIDED_MS = Threshold(
    0.1,
    "ms",
    "maximum time of an operation that is not divided among threads",
    Cited(
        "Eigen, unsupported/Eigen/CXX11/src/Tensor/TensorCostModel.h: a second thread from 2.1 times 100,000 cycles "
        "(kStartupCycles, kPerThreadCycles), which take 0.1 ms at 2.1 GHz"
    ),
)
RATE_MIN = Threshold(
    0.7,
    "number",
    "minimum ratio of the FLOP rate of a compiled step without XLA to that of NumPy's float32 matmul",
    Measured(
        "0.59 to 3.2, median 0.77; nine runs by hand gave 0.85 to 3.5, but 9 and 11 where the matmul was measured "
        "under more load",
        MEASURED_ON,
        10,
        "arithmetic_rate",
    ),
)
RATE_MAX = Threshold(
    3.0,
    "number",
    "maximum ratio of the FLOP rate of a compiled step without XLA to that of NumPy's float32 matmul",
    Measured("see RATE_MIN", MEASURED_ON, 10, "arithmetic_rate"),
)
MEMORY_MIN_BYTES = Threshold(
    12e6,
    "bytes/ms",
    "minimum rate at which operations read and write memory",
    Measured(
        "22 to 31 GB/s of one operation on 4 and 64 MB, 2 to 6 under the heaviest load; 12 to 20 by hand, in steps",
        MEASURED_ON,
        10,
        "memory",
    ),
)
MEMORY_MAX_BYTES = Threshold(
    32e6,
    "bytes/ms",
    "maximum rate at which operations read and write memory",
    Measured("22 to 32 GB/s (10th to 90th percentile) of one operation on 4 and 64 MB", MEASURED_ON, 10, "memory"),
)
BEYOND_LEAST = Threshold(
    2.0,
    "number",
    "maximum ratio of a cost in a script to the least that was measured on the machine",
    Derived("calls have arguments to bind, and the usual costs are 1.7 to 5.7 times apart, see FUNCTION_CALL_MAX_MS"),
)
_USUAL = {
    "call_ms": (FUNCTION_CALL_MIN_MS, FUNCTION_CALL_MAX_MS),
    "graph_op_ms": (GRAPH_OP_MIN_MS, GRAPH_OP_MAX_MS),
}
_NAMES = {"call_ms": "call of a compiled function", "graph_op_ms": "operation in a graph"}


def find_cost(evidence: Evidence, name: str) -> Bounds:
    """Return the ms, from and to, of a call of a compiled function (``call_ms``) or of an operation in a graph
    (``graph_op_ms``). Raises ``KeyError`` for another name."""
    least, most = (threshold.value for threshold in _USUAL[name])
    measured = evidence.run.machine.get(name)
    return Bounds(measured, BEYOND_LEAST.value * measured) if isinstance(measured, float) else Bounds(least, most)


def list_costs(evidence: Evidence, *names: str) -> Iterator[Measurement]:
    """Yield the costs that a prediction used, as far as they were measured on this machine."""
    for name in names:
        measured = evidence.run.machine.get(name)
        if isinstance(measured, float):
            yield Measurement(f"{_NAMES[name]} on this machine", measured, "ms", "tfperf doctor")


def find_work_ms(gflops: float, flops: float, moved: float, operations: float = 0.0) -> Bounds:
    """Return the ms, from and to, that compiled operations take for their arithmetic, their memory and their start.

    ``gflops``: the rate of a float32 matmul on this machine, in GFLOP/s. ``moved``: bytes read and written.
    """
    rate = gflops * 1e6
    return Bounds(
        flops / (rate * RATE_MAX.value) + moved / MEMORY_MAX_BYTES.value + operations * GRAPH_OP_MIN_MS.value,
        flops / (rate * RATE_MIN.value) + moved / MEMORY_MIN_BYTES.value + operations * GRAPH_OP_MAX_MS.value,
    )


def find_tiny_ms(each: Iterable[float]) -> float:
    """Return the ms of a minimal operation among those that took so many ms each; 0.0 if there are none."""
    ordered = sorted(each)
    return ordered[int(len(ordered) * TINY_OPERATIONS.value)] if ordered else 0.0
