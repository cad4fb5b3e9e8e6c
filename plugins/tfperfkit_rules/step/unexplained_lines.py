"""STP003: a line takes at least 30 % of a compiled step, and no other rule names the cause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.bounds import SOLVES
from tfperfkit.graph.optable import plain
from tfperfkit.ledger.computed_lines import ComputedLine, computed_parts
from tfperfkit.model import Family, Finding, Measurement, Severity
from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.pricing import bound
from tfperfkit.records.samples import MIN
from tfperfkit.rule import Evidence, LastRule, Unit
from tfperfkit_rules.step.cheaper_operations import DRAWS, MOVES, advise_for
from tfperfkit_rules.step.owners import EXPLAINS, findings_of_work, has_owner
from tfperfkit_rules.step.unexplained_parts import CODE, LOUD

LARGE_KERNEL = Threshold(
    11,
    "numbers",
    "minimum side of a convolution's kernel, for two convolutions along one side each to take far less",
    Derived("2/11 of the multiplications"),
)
FEW_CHANNELS = Threshold(
    4,
    "channels",
    "maximum number of channels of an image for a large kernel to be a filter",
    Chosen("grey, colour, colour with opacity"),
)
#: A cause in compiled code explains the lines of compiled functions.
_COMPILED_FAMILIES: tuple[Family, ...] = ("graph", "compile", "precision", "device")
#: The name scope of operations that run all iterations at once.
_PFOR_SCOPE = "/pfor/"
#: Matmuls and convolutions, also under the names of oneDNN and of fused kernels (``_MklNativeFusedMatMul``).
_USUAL = (
    optable.elementwise() | optable.names(trait="fusable") | optable.names(kind=("product", "convolution", "quantize"))
)


@LastRule
def unexplained_lines(evidence: Evidence, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Report a line or layer whose operations take a third of a step or more without being what a step is made of.

    Examples are sorting, scattering and gathering, or kernels that are slow at what they are given. The finding is a
    remark if the line only moves bytes or solves with matrices, which other rules look at. Lines that draw random
    numbers are not reported.
    """
    account = evidence.account
    if account is None or not account.mean_ms or evidence.samples.count < MIN:
        return
    mine = findings_of_work(evidence, findings)
    loud = [item for item in mine if item.severity != "info" and not item.headroom]
    if any(item.family in _COMPILED_FAMILIES for item in loud):
        return
    reported = {(span.file, span.line) for item in mine if not item.work for span in item.where}
    for line in computed_parts(evidence.offer(ComputedStep), evidence.account):
        if line.share < LOUD:
            return
        slow = line.share * _slow_share(line) >= LOUD
        own = line.direct > EXPLAINS and _usual_share(line) < EXPLAINS
        if has_owner("graph", line.share, loud):
            continue
        if not line.layer and _is_mostly(line, lambda row: plain(row.type) in DRAWS):
            continue  # a simulation's own: fewer numbers would be another result
        # The line of a layer is where the model is called: other findings are there too.
        if (own or slow) and (line.layer or (line.where.file, line.where.line) not in reported):
            solves = _is_mostly(line, lambda row: plain(row.type) in SOLVES)
            is_remark = solves or (_only_moves(line) and not slow)
            yield _report_line(evidence, line, "info" if is_remark else "low")


def _share_of_time(line: ComputedLine, rows: Iterable[ComputedOperation]) -> float:
    total = sum(row.ms for row in line.operations)
    return sum(row.ms for row in rows) / total if total else 0.0


def _is_mostly(line: ComputedLine, wanted: Callable[[ComputedOperation], bool]) -> bool:
    return _share_of_time(line, filter(wanted, line.operations)) > EXPLAINS


def _usual_share(line: ComputedLine) -> float:
    """Return the share of the line's time in what every step is made of.

    That is matmuls, convolutions and elementwise arithmetic (the rules about fusing look at those), and the copies that
    running all iterations of a Jacobian at once needs.
    """
    rows = (row for row in line.operations if _is_usual(plain(row.type)) or _is_pfor_copy(row))
    return _share_of_time(line, rows)


def _slow_share(line: ComputedLine) -> float:
    """Return the share of the line's time in kernels far slower than the machine's arithmetic and memory allow."""
    return _share_of_time(line, (row for row in line.operations if row.bound == "kernel" and not _is_pfor_copy(row)))


def _only_moves(line: ComputedLine) -> bool:
    """Return whether the larger half of what is not usual only moves bytes, by a kernel that is not slow."""
    own = [row for row in line.operations if not _is_usual(plain(row.type))]
    moved = sum(row.ms for row in own if plain(row.type) in MOVES and row.bound != "kernel")
    return moved > EXPLAINS * sum(row.ms for row in own)


def _is_pfor_copy(row: ComputedOperation) -> bool:
    """Return whether TensorFlow added a copy to run all iterations of a Jacobian or ``tf.vectorized_map`` at once.

    The user did not write the order of its axes.
    """
    return _PFOR_SCOPE in row.name and plain(row.type) in MOVES | {"Transpose"}


def _is_usual(kind: str) -> bool:
    return kind in _USUAL


def _costliest_operation(line: ComputedLine) -> ComputedOperation:
    """Return the slow operation that takes most, or else the one that takes most."""
    slow = [row for row in line.operations if row.bound == "kernel"]
    return max(slow or line.operations, key=lambda row: row.ms)


def _report_line(evidence: Evidence, line: ComputedLine, loudness: Severity) -> Finding:
    one = _costliest_operation(line)
    scale = line.share / sum(row.ms for row in line.operations)
    runs, kind = max(one.runs, 1.0), plain(one.type)
    window = evidence.offered_by(ComputedStep)
    backward = any(row.stage == "backward" for row in line.operations)
    what = f"Layer {line.layer.rpartition('/')[2]}" if line.layer else "One compiled line"
    figures = [
        Measurement(f"share of {evidence.unit.the} in this line", line.share, "share", "breakdown"),
        Measurement(
            f"time in this line {evidence.unit.per}", line.share * (evidence.step_ms or 0.0), "ms", "breakdown"
        ),
        Measurement(
            f"share of {kind} in this line, its costliest operation", scale * one.ms / line.share, "share", window
        ),
        Measurement(f"time of one {kind}", one.ms / runs, "ms", window),
    ]
    if one.lower_ms:
        figures.append(Measurement(f"time of one {kind} at this machine's best", one.lower_ms / runs, "ms", window))
    return Finding(
        code=CODE,
        family="graph",
        title=f"{what} ({line.join_types()}) takes {100 * line.share:.0f} % of {evidence.unit.a}, unexplained",
        severity=loudness,
        share_of_step=line.share,
        gain=bound(line.share),
        where=(line.where,),
        evidence=tuple(figures),
        advice=advise_for(kind),
        detail=" ".join((*_explain_bound(one, evidence.machine_gflops, evidence.unit), _BOTH if backward else _PARTS)),
        parts=("graph",),
    )


#: "2×64×64×1, 53×53×1×1 → …": the second operand of a convolution.
_KERNEL = re.compile(r", (\d+)×(\d+)×(\d+)×\d+")
_PARTS = "The operations are the line's costliest, by TensorFlow's names."
_BOTH = f"Forward and backward; {_PARTS[0].lower()}{_PARTS[1:]}"


def _explain_bound(one: ComputedOperation, peak: float | None, unit: Unit) -> Iterator[str]:
    """Yield sentences on what bounds the costliest operation. ``peak``: of the machine, in GFLOP/s."""
    per = unit.a if unit.a.startswith("a") else f"in {unit.a}"
    kind, runs = plain(one.type), max(one.runs, 1.0)
    if one.shapes:
        often = "once" if round(runs) < 2 else f"{runs:,.0f} times"
        yield f"{kind} ({one.shapes}) runs {often} {per}."
    yield from _explain_large_kernel(one)
    rate = f"{one.flops / (one.ms * 1e6):,.3g}" if one.flops and one.ms else ""
    of = f" of {peak:,.0f}" if peak else ""
    if one.bound == "kernel":
        reached = f" at {rate}{of} GFLOP/s" if rate else ""
        yield f"It computes{reached}, far below what the other operations get out of the machine: its"
        yield "kernel is slow at these shapes."
    elif one.bound == "memory":
        yield "It is bound by memory: it moves more than it computes."
    elif one.bound == "arithmetic":
        yield f"It is bound by its arithmetic: {rate}{of} GFLOP/s."
    elif one.bound == "starting":
        yield "A run is so short that most of it is starting and ending."


def _explain_large_kernel(one: ComputedOperation) -> Iterator[str]:
    """Yield what could replace a convolution with a large kernel on few channels."""
    sides = _KERNEL.search(one.shapes) if plain(one.type).startswith(("Conv2D", "DepthwiseConv2d")) else None
    if sides is None:
        return
    height, width, channels = (int(side) for side in sides.groups())
    if min(height, width) >= LARGE_KERNEL.value and channels <= FEW_CHANNELS.value:
        yield f"Its kernel has {height} × {width} numbers on {channels} channel{'s' * (channels != 1)}: if that is a"
        yield "column times a row (a Gaussian, a mean), two convolutions, one with each, take far less; so may the"
        yield "Fourier transform (tf.signal.rfft2d)."
