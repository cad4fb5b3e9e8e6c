"""Rules about number formats."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.devices_model import DevicesData

from tfperfkit import gain
from tfperfkit.evidence import Evidence, Rule
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit_rules import graph_time

#: XProf and the PyTorch profiler advise 16 bits when less than this share of the arithmetic uses them.
HALF_SHARE = 0.10
#: Tensor cores came with compute capability 7.0 (Volta): the PyTorch profiler's and DLProf's rule.
CAPABILITY = 7
#: Of the time of compiled functions in float16 on a CPU, what float32 saves: a convolution took 17 to 20 times as
#: long in float16, a product 1.7 to 5 times, elementwise work 1.3 to 2 times (TensorFlow 2.21, two busy cores); the
#: collection's small convolutional network spent 0.78 of that time for nothing. bfloat16 is not judged: it was faster
#: and slower than float32, by the shape, on a processor that has it.
HALF_LEAST, HALF_MOST = 0.5, 0.95
_POLICY = r"set_(?:global_|dtype_)?policy\s*\(|dtype_policy\s*=|Policy\s*\("
_HALF = r"(?<!b)float16|\bhalf\b"


def float16_on_cpu(evidence: Evidence) -> Iterator[Finding]:
    """PRC003: float16 where no processor computes it: TensorFlow's CPU kernels convert each number."""
    if evidence.accelerated:
        return
    functions = [(brief, n) for brief, n in graph_time.called(evidence) if brief.flops]
    flops = sum((brief.flops or 0.0) * n for brief, n in functions)
    half = sum((brief.flops or 0.0) * n * (brief.half_flops_share or 0.0) for brief, n in functions)
    policy = str(evidence.settings.get("dtype_policy", ""))
    where = _half_lines(evidence)
    if not flops or half < HALF_SHARE * flops or "bfloat16" in policy or not (where or "float16" in policy):
        return
    arithmetic = graph_time.share(evidence, graph_time.is_arithmetic)
    saved = HALF_LEAST * arithmetic * half / flops, HALF_MOST * evidence.share("graph") * half / flops
    bounds = gain.speedups(*saved)
    name = "mixed_float16" if "mixed" in policy else "float16"
    yield Finding(
        code="PRC003", family="precision", severity="low",
        title=f"{name} on a processor that has no float16 arithmetic", share_of_step=min(saved[1], 1.0),
        predicted_speedup=gain.middle(bounds), predicted_range=bounds, where=where,
        evidence=(
            Measurement("share of the FLOPs in 16 bits", half / flops, "share", "run"),
            Measurement("products and convolutions, of the step", arithmetic, "share", "breakdown"),
        ),
        advice=(
            'Compute in float32 on a CPU: take the policy out, or set it only where there is a GPU: '
            'if tf.config.list_physical_devices("GPU"): keras.mixed_precision.set_global_policy("mixed_float16").'
        ),
        detail="Here each number is converted to float32 and back, and oneDNN's fast kernels are not used.",
    )


def _half_lines(evidence: Evidence) -> tuple[SourceSpan, ...]:
    lines = evidence.find(_HALF)
    policies = set(evidence.find(_POLICY))
    return tuple(sorted(lines, key=lambda span: span not in policies))[:3]


def unused_half_precision(evidence: Evidence) -> Iterator[Finding]:
    """PRC002: a GPU with tensor cores, and arithmetic in float32. Silent on CPUs: on one with avx512_bf16 bfloat16
    made elementwise work 4 to 9 times slower and a convolution 1.5 times faster or 2 times slower, by its shape."""
    capability = _capability(evidence)
    if not evidence.accelerated or capability is None or capability[0] < CAPABILITY:
        return
    functions = [(brief, n) for brief, n in graph_time.called(evidence) if brief.flops]
    flops = sum((brief.flops or 0.0) * n for brief, n in functions)
    half = sum((brief.flops or 0.0) * n * (brief.half_flops_share or 0.0) for brief, n in functions)
    wide = sum((brief.flops or 0.0) * n * brief.float64_flops_share for brief, n in functions)
    share = graph_time.share(evidence, lambda row: row.where == "device" or graph_time.is_arithmetic(row))
    if not flops or half >= HALF_SHARE * flops or wide >= HALF_SHARE * flops or share < gain.MEDIUM:
        return
    yield Finding(
        code="PRC002", family="precision", severity="info",
        title="The GPU's 16-bit arithmetic is not used", share_of_step=share, predicted_speedup=None, where=(),
        evidence=(
            Measurement("share of the FLOPs in 16 bits", half / flops, "share", "run"),
            Measurement("compute capability", capability[0] + capability[1] / 10, "number", "run"),
            Measurement("computing, of the step", share, "share", "breakdown"),
        ),
        advice=(
            'Try keras.mixed_precision.set_global_policy("mixed_float16") before the model is made, with the last '
            'layer in float32; a loop of your own also needs a LossScaleOptimizer.'
        ),
        detail="What it gains depends on the shapes: nothing here measured it, so nothing is predicted.",
    )


def _capability(evidence: Evidence) -> tuple[int, int] | None:
    """The least compute capability of the GPUs, as the probe ``devices`` recorded it."""
    data = evidence.data("devices", DevicesData)
    if data is None or data.facts is None:
        return None
    given = [device.compute_capability for device in data.facts.gpus("physical")]
    return min((found for found in given if found is not None), default=None)


RULES: tuple[Rule, ...] = (float16_on_cpu, unused_half_precision)
