"""Limits of an operation: its arithmetic, the bytes that it moves, its start, or a kernel that is slow for this
operation.

The roofline model (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009), operation by operation: a machine needs
at least the longer of the two times that it takes for the arithmetic and for the bytes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from tfperfkit.graph import optable

Bound = Literal["arithmetic", "memory", "starting", "numbers", "kernel", ""]
#: Work that runs about as fast as this machine can.
BY_THE_MACHINE: tuple[Bound, ...] = ("arithmetic", "memory")
#: A kernel this many times slower, against the best of its step, than arithmetic and memory allow is bound by neither:
#: twice the factor by which size alone makes operations differ (SMALL_OPERATION in the rules' calibration).
FAR = 6.0
#: An operation that takes less (ms) is not divided among threads: what takes less, and far more than its work, mostly
#: starts and ends (Eigen's TensorCostModel.h: a second thread from 2.1 times 100,000 cycles on).
SMALL_MS = 0.1
#: Runs of a similar length: down to this part of the length.
_ALIKE = 16
#: With fewer operations of a length, the one that is looked at among them, nothing else tells how the machine was.
_ENOUGH = 3
_WIDTHS = {"float64": 8, "int64": 8, "uint64": 8, "complex64": 8, "complex128": 16, "float16": 2, "bfloat16": 2}
_WIDTHS |= {"int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1, "resource": 0, "variant": 0, "string": 0}
#: Read of their tensors only what they make, or make no more of them than that.
_PICKS = optable.names(kind=("gather", "variable-gather", "slice", "fill", "one-hot"), differentiates=False)
#: Change a variable in place by a value of the same size: that is read, and the variable read and written.
_UPDATES = optable.names(kind="write") - {"AssignVariableOp", "Assign"}
#: Decompose matrices, or solve with them: their arithmetic grows faster than their bytes, and nobody counts it. Their
#: results have fewer digits than the matrix.
SOLVES = optable.names(kind=("decomposition", "solve", "triangular-solve"))


class Tensor(NamedTuple):
    """The type of a tensor; -1 is an open size, a shape of None one of unknown rank."""

    dtype: str
    shape: tuple[int, ...] | None

    def numbers(self, batch: int) -> int | None:
        """Return the number of elements, with ``batch`` (0: not known) instead of one open size."""
        if self.shape is None or self.shape.count(-1) > (1 if batch > 0 else 0):
            return None
        return math.prod(batch if size < 0 else size for size in self.shape)

    def bytes(self, batch: int) -> int | None:
        numbers = self.numbers(batch)
        return None if numbers is None else numbers * _WIDTHS.get(self.dtype, 4)

    def words(self, batch: int) -> str:
        """``32×28×28×64``; ``?`` where a size is not known."""
        if self.shape is None:
            return "?"
        open_size = str(batch) if batch > 0 and self.shape.count(-1) == 1 else "?"
        return "×".join(open_size if size < 0 else str(size) for size in self.shape) or "1"


def tensor(text: str) -> Tensor:
    """``float32[8,None]`` as a Tensor. Anything else is one of unknown rank."""
    dtype, opened, rest = text.partition("[")
    if not opened:
        return Tensor(dtype, None)
    inside = rest.rstrip("]")
    try:
        shape = tuple(-1 if size == "None" else int(size) for size in inside.split(",") if size)
    except ValueError:
        return Tensor(dtype, None)
    return Tensor(dtype, shape)


def moved(kind: str, takes: Sequence[Tensor], makes: Sequence[Tensor], batch: int) -> float | None:
    """Bytes that one run reads and writes; None if a size is open."""
    made = _sum(each.bytes(batch) for each in makes)
    taken = _sum(each.bytes(batch) for each in takes)
    if kind in _PICKS:
        return None if made is None else 2.0 * made
    if kind in _UPDATES:
        return None if taken is None else 3.0 * taken
    if kind == "AssignVariableOp":
        return None if taken is None else 2.0 * taken
    return None if made is None or taken is None else float(made + taken)


def _sum(values: Iterable[int | None]) -> int | None:
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


class Machine(NamedTuple):
    """Best measured rates of the machine, None if a rate was not measured."""

    gflops: float | None
    gb_per_s: float | None

    def arithmetic_ms(self, flops: float | None) -> float:
        """0 if either is not known."""
        return flops / (self.gflops * 1e6) if flops and self.gflops else 0.0

    def memory_ms(self, moved: float | None) -> float:
        """0 if either is not known."""
        return moved / (self.gb_per_s * 1e6) if moved and self.gb_per_s else 0.0


class AtHand:
    """The machine as a step had it: other programs, and the profiler, take a part of it from all operations, of long
    ones more than of those that end within one time slice of the scheduler.

    ``runs``: (ms, flops, bytes) of the operations' runs.
    """

    def __init__(self, machine: Machine, runs: Iterable[tuple[float, float | None, float | None]] = ()) -> None:
        self.machine = machine
        long = (run for run in runs if run[0] >= SMALL_MS)
        rows = sorted(((ms, self._lower(flops, moved) / ms) for ms, flops, moved in long), reverse=True)
        self._lengths: list[float] = []  # negative, so that they ascend
        self._second: list[float] = []
        best = second = 0.0
        for ms, ratio in rows:
            best, second = max(best, ratio), max(second, min(best, ratio))
            self._lengths.append(-ms)
            self._second.append(second)

    def _lower(self, flops: float | None, moved: float | None) -> float:
        return max(self.machine.arithmetic_ms(flops), self.machine.memory_ms(moved))

    def reach(self, ms: float) -> float:
        """Return the share of the machine's best rate that operations about as long, or longer, reach: the second best
        share among these operations (0 to 1).
        """
        there = self._alike(ms)
        found = self._second[there - 1] if there > 1 else 0.0
        return min(1.0, found) if found > 0 else 1.0

    def _alike(self, ms: float) -> int:
        return bisect_right(self._lengths, -ms / _ALIKE)

    def bound(self, kind: str, ms: float, flops: float | None, moved: float | None) -> Bound:
        """Return the limit of a run that took ``ms``; "" if no limit is known.

        ``kernel``: far from both limits; ``numbers``: the same of an operation that works number by number, whose
        functions (exponentials ...) no count tells.
        """
        arithmetic, memory = self.machine.arithmetic_ms(flops), self.machine.memory_ms(moved)
        lower = max(arithmetic, memory)
        if lower > 0 and lower * FAR >= ms * self.reach(ms):
            if lower * FAR < ms and self._alike(ms) < _ENOUGH:
                return ""  # far from both limits, and too few others tell whether the machine was slow or the kernel is
            return "arithmetic" if arithmetic >= memory else "memory"
        if ms < SMALL_MS:
            return "starting"
        if self.machine.gflops is None or self.machine.gb_per_s is None or (flops is None and moved is None):
            return ""
        if flops is None and kind in SOLVES:
            return ""
        return "numbers" if kind in optable.elementwise() else "kernel"


#: A machine of which nothing is known.
NOT_MEASURED = AtHand(Machine(None, None))
