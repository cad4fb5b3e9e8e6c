"""Rules about XLA: it compiles again and again (CMP001), to slower code (CMP003), or not at all (CMP005)."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.tfprof import TfprofData

from tfperfkit import gain
from tfperfkit.evidence import Evidence
from tfperfkit.model import Finding, Measurement
from tfperfkit_rules import compile_place, graph_time

#: Above this share of the step in tracing the compilations belong to retraces, which are told with their cause.
TRACING = 0.02
#: FLOPs for each byte moved, from which arithmetic decides: a convolutional step has 10, elementwise ones 0.1. Below,
#: which of the two is faster changed with the load of the machine, so nothing is said.
INTENSITY = 2.0
#: So many outliers in compiled functions make a pattern.
OUTLIERS = 3
#: The estimate of what a step takes without XLA is rough: XLA is blamed when it costs a tenth at the very least.
CERTAIN = 0.10


def compiles_again(evidence: Evidence) -> Iterator[Finding]:
    """CMP001: XLA compiles in steady steps that trace nothing. Seen in the trace (XLA's own events); the account's
    outliers tell how often over the steady phase."""
    data, account = evidence.data("tfprof", TfprofData), evidence.account
    functions = compile_place.compiled_by_xla(evidence)
    if data is None or account is None or not functions or not data.xla_compiles or not data.wall_ms:
        return
    if evidence.share("tracing") > TRACING:
        return
    traced = min(data.xla_compile_ms / data.wall_ms, 0.95)
    outliers = [outlier for outlier in account.outliers if outlier.cause == "a compiled function"]
    excess = sum(outlier.excess_ms for outlier in outliers) / (account.steps * account.mean_ms)
    many = len(outliers) >= OUTLIERS
    most = min(max(traced, excess), 0.99) if many else traced
    least = min(traced, excess) if many else 0.5 * traced
    bounds = gain.speedups(least, most)
    function = functions[0]
    evidence_of = [
        Measurement("XLA compilations in the traced steps", data.xla_compiles, "count", "tfprof"),
        Measurement("making machine code, of the traced steps", traced, "share", "tfprof"),
    ]
    if many:
        evidence_of.append(Measurement("steps that took much longer in a compiled function", len(outliers), "count",
                                       "baseline"))
        evidence_of.append(Measurement("what these took beyond the others, of the step", excess, "share", "baseline"))
    yield Finding(
        code="CMP001", family="compile", severity="low", share_of_step=most,
        title=f"XLA compiles {function.function} again in the middle of training, without a retrace",
        predicted_speedup=gain.middle(bounds), predicted_range=bounds,
        where=tuple(reversed(compile_place.jit_lines(evidence, function))), evidence=tuple(evidence_of),
        advice=(
            f"Give {function.function} few different shapes: pad to a fixed length or to a few (padded_batch, "
            "bucket_by_sequence_length), drop the rest of an epoch (drop_remainder=True); or leave jit_compile out."
        ),
        detail="XLA compiles for each concrete shape, also where the signature leaves a size open (None).",
        absorbs=("SYN001",),
    )


def slower_by_xla(evidence: Evidence) -> Iterator[Finding]:
    """CMP003: on a CPU a function runs far more slowly by XLA than its arithmetic and memory need without."""
    data, account = evidence.data("tfprof", TfprofData), evidence.account
    jit = compile_place.compiled_by_xla(evidence)
    by_flag = compile_place.auto_jit(evidence) and compile_place.auto_jit_on_cpu(evidence)
    if evidence.accelerated or data is None or account is None or data.xla_compiles or not (jit or by_flag):
        return
    if not any(row.where == "xla" for row in data.top_ops):
        return
    functions = graph_time.called(evidence)
    names = {brief.graph for brief in jit} | {row.name for row in data.calls if by_flag}
    keras = any(brief.owner == "keras" for brief in jit)
    functions = [(f, n) for f, n in functions if f.graph in names or (keras and f.owner == "keras")]
    bounds_ms = graph_time.float32_ms(evidence, functions)
    moved = sum(brief.moved_bytes * n for brief, n in functions)
    flops = sum((brief.flops or 0.0) * n for brief, n in functions)
    if bounds_ms is None or flops < INTENSITY * moved or not any(brief.heavy for brief, _ in functions):
        return
    took = evidence.part("graph")
    least, most = ((took - value) / account.mean_ms for value in reversed(bounds_ms))
    if least < CERTAIN:
        return
    bounds = gain.speedups(least, most)
    where = compile_place.jit_lines(evidence, jit[0]) if jit else compile_place.auto_jit_lines(evidence)
    yield Finding(
        code="CMP003", family="compile", severity="low", share_of_step=most,
        title="XLA makes the step slower on this processor", predicted_speedup=gain.middle(bounds),
        predicted_range=bounds, where=where,
        evidence=(
            Measurement("in compiled functions per step", took, "ms", "breakdown"),
            Measurement("GFLOP/s there", flops / took / 1e6, "number", "breakdown"),
            Measurement("GFLOP/s of a float32 matrix product", evidence.machine_gflops or 0.0, "number",
                        "after the run"),
        ),
        advice="Take jit_compile=True out and compare: on a CPU TensorFlow's own kernels (oneDNN) are often faster.",
        detail=(
            "XLA computes convolutions and pooling on a CPU without oneDNN. What the step should take without "
            "it is estimated from its FLOPs, the bytes it moves, and this machine's speed."
        ),
        absorbs=("GRF003",),
    )


def without_effect(evidence: Evidence) -> Iterator[Finding]:
    """CMP005: auto-clustering is asked for, on a CPU, without the flag that lets it touch CPUs. TensorFlow registers
    the CPU for auto-clustering only with --tf_xla_cpu_global_jit; checked on 2.21: neither --tf_xla_auto_jit=2 nor
    set_jit(True) put an XLA operation into the partitioned graph without it, each did with it."""
    if evidence.accelerated or not compile_place.auto_jit(evidence) or compile_place.auto_jit_on_cpu(evidence):
        return
    if compile_place.compiled_by_xla(evidence):
        return
    elementwise = graph_time.share(evidence, graph_time.is_elementwise)
    asked = "auto_jit" if "auto_jit" in compile_place.flags(evidence) else "set_jit"
    yield Finding(
        code="CMP005", family="compile", severity="info", share_of_step=0.0, predicted_speedup=None,
        title=f"XLA was asked for by {asked}, and does nothing on a CPU", where=compile_place.auto_jit_lines(evidence),
        evidence=(
            Measurement("functions compiled by XLA", 0, "count", "run"),
            Measurement("elementwise operations, of the step", elementwise, "share", "breakdown"),
        ),
        advice=(
            "Take it out; or try XLA where it counts, with @tf.function(jit_compile=True), or add "
            "--tf_xla_cpu_global_jit to TF_XLA_FLAGS, and compare."
        ),
        detail="On CPUs clusters are compiled only with --tf_xla_cpu_global_jit. The run is as it is without XLA.",
    )
