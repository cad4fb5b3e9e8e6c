"""PRC003: float16 on a CPU, from the 16-bit share of the FLOPs of the functions that a step calls. PRC002: a GPU with
tensor cores that computes in float32.

The gain of PRC003 ranges from half of the time in matmuls and convolutions to nearly all compiled work. bfloat16 is
not judged. PRC002 predicts no gain, because it depends on the shapes.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit import gain
from tfperfkit.calibration import Cited, Measured, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import FunctionCalls, FunctionCosts, Gpus
from tfperfkit.pricing import Part, bound, price
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time
from tfperfkit_rules.measures.source_calls import list_files

#: The titles of the findings' pages.
TITLES = {
    "PRC002": "GPU tensor cores unused without mixed_float16",
    "PRC003": "mixed_float16 on a CPU without float16 arithmetic",
}

HALF_SHARE = Threshold(
    0.10,
    "share",
    "share of the FLOPs in 16 bits below which 16 bits count as unused",
    Cited("XProf's overview page and the PyTorch profiler advise 16 bits below it"),
)
CAPABILITY = Threshold(
    7,
    "number",
    "major compute capability from which on a GPU has tensor cores (Volta)",
    Cited("the PyTorch profiler's and DLProf's rule; Nvidia's CUDA Programming Guide"),
)
HALF_SAVED_MIN = Threshold(
    0.5,
    "share",
    "minimum share of matmuls and convolutions in float16 on a CPU that float32 saves",
    Measured(
        "a convolution with its gradients 0.70 to 0.95, forward alone 0.1 to 0.6, a matmul -0.1 to 0.2, elementwise "
        "work 0.1 to 0.4; by hand a matmul 0.41 to 0.8. bfloat16 is not judged: faster or slower than float32, by the "
        "shape, on a CPU that has it",
        MEASURED_ON,
        20,
        "float16",
    ),
)
HALF_SAVED_MAX = Threshold(
    0.95,
    "share",
    "maximum share of compiled functions in float16 on a CPU that float32 saves",
    Measured("see HALF_SAVED_MIN", MEASURED_ON, 20, "float16"),
)

_POLICY = (
    "keras.mixed_precision.set_global_policy",
    "keras.mixed_precision.set_dtype_policy",
    "keras.mixed_precision.experimental.set_policy",
    "keras.config.set_dtype_policy",
    "keras.mixed_precision.Policy",
    "keras.mixed_precision.DTypePolicy",
    "keras.dtype_policies.DTypePolicy",
    "keras.DTypePolicy",
)
_HALF = ("float16", "mixed_float16", "half")
_OF_LIBRARY = ("tensorflow.float16", "tensorflow.half", "tensorflow.dtypes.float16", "numpy.float16", "numpy.half")


def float16_on_cpu(evidence: Evidence) -> Iterator[Finding]:
    """PRC003: float16 where no processor computes it: TensorFlow's CPU kernels convert each number."""
    if evidence.accelerated:
        return
    functions = [(brief, n) for brief, n in graph_time.list_called(evidence) if brief.flops]
    counted = bool(functions)
    if (
        evidence.work is None and evidence.offer(FunctionCalls) is None
    ):  # no window saw the step, but its graphs were kept
        costs = evidence.offer(FunctionCosts)
        functions = [(brief, 1.0) for brief in (costs.functions if costs is not None else ()) if brief.flops]
    flops = sum((brief.flops or 0.0) * n for brief, n in functions)
    half = sum((brief.flops or 0.0) * n * (brief.half_flops_share or 0.0) for brief, n in functions)
    policy = str(evidence.settings.get("dtype_policy", ""))
    if not flops or half < HALF_SHARE.value * flops or "bfloat16" in policy:
        return
    where = _half_lines(evidence)
    if not where and "float16" not in policy:
        return
    arithmetic = graph_time.share(evidence, graph_time.is_arithmetic)
    saved = (
        HALF_SAVED_MIN.value * arithmetic * half / flops,
        HALF_SAVED_MAX.value * evidence.share("graph") * half / flops,
    )
    if not counted and saved[1] < gain.MEDIUM:
        return
    name = "mixed_float16" if "mixed" in policy else "float16"
    yield Finding(
        code="PRC003",
        remedy=Setting("precision", "float16 on GPUs"),
        title=f"{name} on a CPU without float16 arithmetic",
        share_of_step=min(saved[1], 1.0),
        gain=price(Setting("precision"), Part(min(saved), max(saved))) if counted else bound(max(saved)),
        where=where,
        evidence=(
            Measurement("share of the FLOPs in 16 bits", half / flops, "share", "run"),
            Measurement(f"share of matmuls and convolutions in {evidence.unit.the}", arithmetic, "share", "breakdown"),
        )[: 2 if counted else 1],
        advice=(
            "Set the policy only if there is a GPU: "
            'if tf.config.list_physical_devices("GPU"): keras.mixed_precision.set_global_policy("mixed_float16"). '
            "Or: remove it."
        ),
        detail="The CPU converts each number to float32 and back, and cannot use oneDNN's fast kernels."
        + ("" if counted else " No gain is predicted, because the run ended before a window saw its operations."),
    )


def _half_lines(evidence: Evidence) -> tuple[SourceSpan, ...]:
    lines = [
        SourceSpan(file, node.line)
        for file, syntax in list_files(evidence)
        if evidence.mentions(file, *_HALF, *_OF_LIBRARY)
        for node in syntax.find_expressions("constant", "name", "attribute")
        if node.is_constant(*_HALF) or ((node.kind == "name" or node.last_name in _HALF) and node.api in _OF_LIBRARY)
    ]
    policies = set(evidence.calls(*_POLICY))
    return tuple(
        sorted(dict.fromkeys(sorted(lines, key=lambda span: span.line)), key=lambda span: span not in policies)
    )[:3]


def unused_half_precision(evidence: Evidence) -> Iterator[Finding]:
    """PRC002: a GPU with tensor cores, and arithmetic in float32. Silent on CPUs: on one with avx512_bf16 bfloat16
    made elementwise work 4 to 9 times slower and a convolution 1.5 times faster or 2 times slower, by its shape."""
    capability = _capability(evidence)
    if not evidence.accelerated or capability is None or capability[0] < CAPABILITY.value:
        return
    functions = [(brief, n) for brief, n in graph_time.list_called(evidence) if brief.flops]
    flops = sum((brief.flops or 0.0) * n for brief, n in functions)
    half = sum((brief.flops or 0.0) * n * (brief.half_flops_share or 0.0) for brief, n in functions)
    wide = sum((brief.flops or 0.0) * n * brief.float64_flops_share for brief, n in functions)
    share = graph_time.share(evidence, lambda row: row.where == "device" or graph_time.is_arithmetic(row))
    if not flops or half >= HALF_SHARE.value * flops or wide >= HALF_SHARE.value * flops or share < gain.MEDIUM:
        return
    yield Finding(
        code="PRC002",
        remedy=Setting("precision", "mixed_float16"),
        severity="info",
        title=TITLES["PRC002"],
        share_of_step=share,
        evidence=(
            Measurement("share of the FLOPs in 16 bits", half / flops, "share", "run"),
            Measurement("compute capability", float(f"{capability[0]}.{capability[1]}"), "number", "run"),
            Measurement(f"share of compute in {evidence.unit.the}", share, "share", "breakdown"),
        ),
        advice=(
            'Try keras.mixed_precision.set_global_policy("mixed_float16") before the model is made, with the last '
            "layer in float32. Your own training loop also needs keras.mixed_precision.LossScaleOptimizer."
        ),
        detail="The gain depends on the shapes, so none is predicted.",
    )


def _capability(evidence: Evidence) -> tuple[int, int] | None:
    """Return the least compute capability of the GPUs, where it is known."""
    gpus = evidence.offer(Gpus)
    return min(gpus.capabilities, default=None) if gpus is not None else None
