"""The steps in which XLA compiled a function for another shape of its inputs.

Nothing is traced then, so only the length of the step shows it. The trace knows how many programs XLA has made of the
function until its end.
"""

from __future__ import annotations

import statistics
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.clock import ms
from tfperfkit.offers import FunctionCost, FunctionCosts, XlaCompilations
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.ran_functions import list_ran_functions
from tfperfkit_rules.measures.trace_window import window_in_work

LONGER = Threshold(
    5.0,
    "number",
    "minimum ratio of a step in which XLA compiles to an ordinary one",
    Measured("1.5 s and 0.03 s, the same model that a batch of another length is compiled for", TWO_BUSY_CORES, 1),
)
ALIKE = Threshold(
    0.5,
    "share",
    "minimum ratio of a compilation to the median one: a shorter excess has other causes",
    Chosen("the programs of a function differ in a few sizes alone"),
)


class ShapesCompiled(NamedTuple):
    """``programs`` of a function, the ``excess_ms`` of the steps in which later programs were compiled, by the number
    of the step, and the ms of an ordinary step. The first program is not in ``excess_ms``: its step traces too."""

    programs: int
    excess_ms: dict[int, float]
    ordinary_ms: float


def compiled_by_xla(evidence: Evidence) -> list[FunctionCost]:
    """Return the functions with ``jit_compile=True``, the one with the most operations first; of a work, those first
    that are known to run in it."""
    data = evidence.offer(FunctionCosts)
    found = [brief for brief in data.functions if brief.jit_compile] if data is not None else []
    ran = {each.function.graph for each in list_ran_functions(evidence)} if found and evidence.work else set[str]()
    return sorted(found, key=lambda brief: (brief.graph not in ran, -brief.operations))


def is_traced(evidence: Evidence) -> bool:
    """Return whether the trace that tells of compilations is of the steps, or lay in the work."""
    if evidence.work is None:
        return True
    return window_in_work(evidence, evidence.offered_by(XlaCompilations)) is not None


def find_shapes_compiled(evidence: Evidence, function: FunctionCost) -> ShapesCompiled | None:
    """None where XLA made one program, or no step shows a compilation."""
    data, account = evidence.offer(XlaCompilations), evidence.account
    programs = _count_programs(data, function) if data is not None else 0
    if programs < 2 or account is None or not account.ordinary_ms:
        return None
    ordinary = account.ordinary_ms
    lengths = {
        step.number: ms(step.end_ns - step.begin_ns) - ordinary * step.count
        for step in evidence.steps.steps
        if not evidence.tracing.overlap(step.begin_ns, step.end_ns)
    }
    longer = {number: excess for number, excess in lengths.items() if excess >= (LONGER.value - 1) * ordinary}
    known = sorted(longer.values())[-(programs - 1) :]
    if not known:
        return None
    least = ALIKE.value * statistics.median(known)
    return ShapesCompiled(programs, {n: excess for n, excess in longer.items() if excess >= least}, ordinary)


def compiling_share(evidence: Evidence) -> float:
    """Return the share (0 to 1) of the mean clean step in which XLA compiles for other shapes: it comes once for each
    shape, so it tells nothing of the work of a step."""
    clean = evidence.steps.clean
    whole = sum(ms(step.end_ns - step.begin_ns) for step in clean)
    found = (find_shapes_compiled(evidence, function) for function in compiled_by_xla(evidence))
    excess = (sum(each.excess_ms.get(step.number, 0.0) for step in clean) for each in found if each is not None)
    return min(max(excess, default=0.0) / whole, shared.MAX_STEP_SHARE.value) if whole else 0.0


def _count_programs(data: XlaCompilations, function: FunctionCost) -> int:
    """XLA names a function as the runtime does, but for the underscores around the name."""
    own = function.graph.strip("_")
    return max((count for name, count in data.programs.items() if name.strip("_").endswith(own)), default=0)
