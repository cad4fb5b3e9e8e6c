"""Rules about tracing, compiling and XLA."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops_model import OpsData
from tfperfkit_probes.retrace_model import RetraceData

from tfperfkit import gain
from tfperfkit.clock import ms
from tfperfkit.evidence import Evidence, Rule
from tfperfkit.model import Finding, Measurement
from tfperfkit_rules import compile_place, graph_time
from tfperfkit_rules.compile_xla import compiles_again, slower_by_xla, without_effect

#: Elementwise operations are told from this share of the step on. Of their time XLA saves up to FUSED on a CPU: chains
#: of products, sums, exponentials and softplus ran 0.9 to 5.2 times as fast with jit_compile, called in turn with the
#: same function without (2.21, two busy cores, 10 to 1,000,000 numbers); a whole step gained 1.25, 2.9 and 3.9 times.
ELEMENTWISE, FUSED = 0.5, 0.8
#: Of the step, in elementwise operations themselves; slices and sums around them are fused too.
PROPER = 0.25
#: Shorter operations are about handing them over, not about memory: healthy steps with small layers are full of them.
LONG_MS = 0.05
#: On a CPU XLA's sines took up to 5 times as long, its tanh 0.13 to 2.1 times. A step with cosines took 2.2 to 4.4
#: times as long by XLA on a machine with a load of 13 and more, 0.5 to 1.3 times with a load of 6: with this share of
#: the step in such functions nothing is said.
SLOW_TYPES, SLOW_SHARE = ("Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "TanhGrad", "Erf", "Atan"), 0.02
#: On a CPU XLA's products took 0.8 to 2.1 times as long, its convolutions 1.1 to 4.4 times.
PRODUCT_LOST, CONVOLUTIONS = 0.5, 0.05
#: XLA compiles larger graphs for minutes (a judgment).
MANY_OPERATIONS = 5000
#: Tracing and compiling are told from this share of the run on, and from so many seconds.
RUN_SHARE, RUN_S = 0.4, 10.0


def many_small_operations(evidence: Evidence) -> Iterator[Finding]:
    """CMP002: elementwise operations that XLA would fuse, where that was measured to help."""
    functions = [(brief, n) for brief, n in graph_time.called(evidence) if not brief.jit_compile]
    if not functions or compile_place.compiled_by_xla(evidence) or compile_place.auto_jit(evidence):
        return
    share = graph_time.share(
        evidence, lambda row: graph_time.is_fusable(row) and row.self_ms >= LONG_MS * row.count
    )
    proper = graph_time.share(evidence, graph_time.is_elementwise)
    if share < ELEMENTWISE or proper < PROPER:
        return
    lost = 0.0
    if not evidence.accelerated:
        slow = graph_time.share(evidence, lambda row: row.type in SLOW_TYPES)
        heavy = graph_time.share(evidence, graph_time.is_arithmetic)
        if slow > SLOW_SHARE or graph_time.share(evidence, lambda row: "Conv" in row.type) > CONVOLUTIONS:
            return
        lost = PRODUCT_LOST * heavy
    most = FUSED * share - lost
    if most < gain.MEDIUM:
        return
    bounds = (1.0, gain.speedup(most))
    function = max(functions, key=lambda found: found[0].elementwise)[0]
    if function.operations > MANY_OPERATIONS:
        return
    name = function.function if function.owner == "user" else "the model"
    code = f"@tf.function(jit_compile=True) at {name}" if function.owner == "user" else "compile(..., jit_compile=True)"
    yield Finding(
        code="CMP002", family="compile", severity="low", share_of_step=share,
        title=f"{100 * share:.0f} % of a step is elementwise operations, slices and sums, one by one",
        predicted_speedup=gain.middle(bounds), predicted_range=bounds,
        where=compile_place.function_lines(evidence, function),
        evidence=(
            Measurement("elementwise operations, slices and sums, of the step", share, "share", "breakdown"),
            Measurement("elementwise operations in a call", function.elementwise, "count", "run"),
        ),
        advice=f"Try {code}: XLA makes one pass over the data of many operations. Keep it only if a step gets shorter.",
        detail="Each operation reads its input from memory and writes its result back.",
    )


def run_spent_on_compiling(evidence: Evidence) -> Iterator[Finding]:
    """CMP004: tracing, optimising and compiling are a good part of the whole run."""
    warm, wall = evidence.warm_up, evidence.run.wall_s
    if warm is None or wall <= 0:
        return
    first_runs = warm.parts_s.get("compile and first runs", 0.0)
    traced = evidence.data("retrace", RetraceData)  # what could be avoided is told with its cause
    tracing = ms(sum(end - begin for begin, end in evidence.tracing)) / 1e3
    tracing = max(0.0, tracing - (traced.avoidable_ms / 1e3 if traced else 0.0))
    share = min((tracing + first_runs) / wall, 0.95)
    if share < RUN_SHARE or tracing + first_runs < RUN_S:
        return
    data = evidence.data("ops", OpsData)
    known = sorted(data.all, key=lambda brief: -(brief.trace_ms + (brief.first_execution_ms or 0.0))) if data else []
    where = compile_place.function_lines(evidence, known[0]) if known else ()
    largest = f" The largest is {known[0].function}, with {known[0].operations:,} operations." if known else ""
    numbers = [
        Measurement("tracing that had to be", tracing, "s", "run"),
        Measurement("compile and first runs", first_runs, "s", "run"),
        Measurement("share of the run", share, "share", "run"),
    ]
    if known:
        numbers.append(Measurement("operations of the largest function", known[0].operations, "count", "run"))
    yield Finding(
        code="CMP004", family="compile", severity="medium" if share >= 0.6 else "low", basis="run",
        share_of_step=share, predicted_speedup=None, where=where, evidence=tuple(numbers),
        title=f"{100 * share:.0f} % of the run is tracing and compiling functions",
        advice=(
            "Build models, optimizers and tf.functions once and use them again; make long graphs shorter (tf.range "
            "loops in place of Python's). A longer run pays it only once."
        ),
        detail=f"TensorFlow traces and optimises each function before its first run.{largest}",
    )


RULES: tuple[Rule, ...] = (
    compiles_again, many_small_operations, slower_by_xla, run_spent_on_compiling, without_effect,
)
