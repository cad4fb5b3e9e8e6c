"""Rules about XLA: it compiles again and again (CMP001), to slower code (CMP003), or not at all (CMP005)."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import FunctionCalls, RanOperations, XlaCompilations
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import KeepTrace, Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.compile import xla_place
from tfperfkit_rules.compile.xla_each import every_step
from tfperfkit_rules.compile.xla_shapes import advise, name_function
from tfperfkit_rules.measures import graph_time, shared
from tfperfkit_rules.measures.xla_shapes import compiled_by_xla, is_traced

#: The titles of the findings' pages.
TITLES = {
    "CMP001": "jit_compile=True recompiles for each new input shape",
    "CMP003": "jit_compile=True slows the step on this CPU",
    "CMP005": "XLA auto-clustering requested but inactive on CPU",
}

TRACING = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "maximum share of the step in tracing: with more, the compilations belong to retraces, which are reported "
    "with their cause",
    Derived("the least share that is reported"),
)
INTENSITY = Threshold(
    2.0,
    "FLOPs/byte",
    "arithmetic per byte above which arithmetic decides; below, the load decided whether XLA or TensorFlow was faster",
    Measured("a convolutional step has 10, elementwise steps 0.1", TWO_BUSY_CORES, 2),
)
OUTLIERS = Threshold(
    3, "count", "minimum number of outliers in compiled functions that make a pattern", Chosen("two may be chance")
)
OUTLIERS_HALF = Threshold(
    0.5,
    "share",
    "minimum share of the compilations in the traced steps that a fix saves, if there are no outliers",
    Chosen("the profiler may have caused the larger half"),
)
CERTAIN = Threshold(
    0.10,
    "share",
    "minimum share of the step that XLA costs for certain, for it to be blamed",
    Cited("XProf warns of eager execution from 10 %; the estimate here is as rough"),
)


def compiles_again(evidence: Evidence) -> Iterator[Finding]:
    """CMP001: XLA compiles in steady steps that trace nothing. Seen in the trace (XLA's own events); the account's
    outliers tell how often over the steady phase."""
    data, account = evidence.offer(XlaCompilations), evidence.account
    functions = compiled_by_xla(evidence)
    if data is None or account is None or not functions or not data.count or not data.wall_ms:
        return
    if not is_traced(evidence):
        return
    if evidence.share("tracing") > TRACING.value:
        return
    traced = min(data.ms / data.wall_ms, shared.MAX_RUN_SHARE.value)
    outliers = [outlier for outlier in account.outliers if outlier.cause == "a compiled function"]
    excess = sum(outlier.excess_ms for outlier in outliers) / (account.steps * account.mean_ms)
    many = len(outliers) >= OUTLIERS.value
    upper = max(traced, excess) if many else traced
    lower = min(traced, excess) if many else OUTLIERS_HALF.value * traced
    lower, upper = every_step(evidence, data) or (lower, upper)
    function = functions[0]
    window = evidence.offered_by(XlaCompilations)
    evidence_of = [
        Measurement("XLA compilations in the traced steps", data.count, "count", window),
        Measurement("share of the traced steps in making machine code", traced, "share", window),
    ]
    if many:
        evidence_of.append(Measurement("outlier steps in a compiled function", len(outliers), "count", "baseline"))
        evidence_of.append(
            Measurement(
                f"extra time of the outlier steps, as a share of {evidence.unit.the}", excess, "share", "baseline"
            )
        )
    yield Finding(
        code="CMP001",
        remedy=KeepTrace("shape"),
        share_of_step=upper,
        title=f"jit_compile=True recompiles {name_function(function)} for each new input shape",
        gain=price(KeepTrace("shape"), Part(min(lower, upper), upper)),
        where=tuple(reversed(xla_place.jit_lines(evidence, function))),
        evidence=tuple(evidence_of),
        advice=advise(function),
        detail="XLA compiles for each concrete shape, even if the signature leaves a size open (None).",
        absorbs=("SYN001",),
    )


def slower_by_xla(evidence: Evidence) -> Iterator[Finding]:
    """CMP003: on a CPU a function runs far more slowly by XLA than its arithmetic and memory need without."""
    unit = evidence.unit
    data, account = evidence.offer(RanOperations), evidence.account
    compiled, calls = evidence.offer(XlaCompilations), evidence.offer(FunctionCalls)
    jit = compiled_by_xla(evidence)
    by_flag = xla_place.auto_jit(evidence) and xla_place.auto_jit_on_cpu(evidence)
    if evidence.accelerated or data is None or calls is None or account is None or not (jit or by_flag):
        return
    if compiled is not None and compiled.count:
        return
    if not any(row.where == "xla" for row in data.rows):
        return
    functions = graph_time.list_called(evidence)
    names = {brief.graph for brief in jit} | {name for name in calls.per_step if by_flag}
    keras = any(brief.owner == "keras" for brief in jit)
    functions = [(f, n) for f, n in functions if f.graph in names or (keras and f.owner == "keras")]
    bounds_ms = graph_time.float32_ms(evidence, functions)
    moved = sum(brief.moved_bytes * n for brief, n in functions)
    flops = sum((brief.flops or 0.0) * n for brief, n in functions)
    if bounds_ms is None or flops < INTENSITY.value * moved or not any(brief.heavy for brief, _ in functions):
        return
    took = evidence.part("graph")
    lower, upper = ((took - value) / account.mean_ms for value in reversed(bounds_ms))
    if lower < CERTAIN.value:
        return
    where = xla_place.jit_lines(evidence, jit[0]) if jit else xla_place.auto_jit_lines(evidence)
    yield Finding(
        code="CMP003",
        remedy=Setting("jit_compile", "off"),
        share_of_step=upper,
        title=f"jit_compile=True slows {unit.the} on this CPU",
        gain=price(Setting("jit_compile"), Part(lower, upper)),
        where=where,
        evidence=(
            Measurement(f"time in compiled functions {unit.per}", took, "ms", "breakdown"),
            Measurement("GFLOP/s in compiled functions", flops / took / 1e6, "number", "breakdown"),
            Measurement(
                "GFLOP/s of a float32 matrix product", evidence.machine_gflops or 0.0, "number", "after the run"
            ),
        ),
        advice="Remove jit_compile=True and compare. Or, for GPUs too: "
        "jit_compile=bool(tf.config.list_physical_devices('GPU')).",
        detail=(
            "On a CPU, XLA computes convolutions and pooling without oneDNN. The gain is estimated from the FLOPs "
            f"and bytes of {unit.the} and this machine's speed."
        ),
        absorbs=("GRF003",),
    )


def without_effect(evidence: Evidence) -> Iterator[Finding]:
    """CMP005: auto-clustering is asked for, on a CPU, without the flag that lets it touch CPUs. TensorFlow registers
    the CPU for auto-clustering only with --tf_xla_cpu_global_jit; checked on 2.21: neither --tf_xla_auto_jit=2 nor
    set_jit(True) put an XLA operation into the partitioned graph without it, each did with it."""
    if evidence.accelerated or not xla_place.auto_jit(evidence) or xla_place.auto_jit_on_cpu(evidence):
        return
    if compiled_by_xla(evidence):
        return
    elementwise = graph_time.share(evidence, graph_time.is_elementwise)
    asked = "TF_XLA_FLAGS" if "auto_jit" in xla_place.flags(evidence) else "set_jit"
    yield Finding(
        code="CMP005",
        remedy=Setting("jit_compile", "on"),
        severity="info",
        share_of_step=0.0,
        title=f"XLA auto-clustering requested by {asked} but inactive on CPU",
        where=xla_place.auto_jit_lines(evidence),
        evidence=(
            Measurement("functions compiled by XLA", 0, "count", "run"),
            Measurement(f"share of elementwise operations in {evidence.unit.the}", elementwise, "share", "breakdown"),
        ),
        advice=(
            "Remove the setting, and try @tf.function(jit_compile=True) instead. Or: add --tf_xla_cpu_global_jit to "
            "TF_XLA_FLAGS, and compare."
        ),
        detail="On CPUs, TensorFlow compiles clusters only with --tf_xla_cpu_global_jit, so the setting has no effect.",
    )
