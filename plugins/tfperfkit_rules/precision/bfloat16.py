"""PRC004: products of bfloat16 numbers are faster on this processor, by what was measured on it."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.graph.optable import is_heavy
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import price
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time
from tfperfkit_rules.measures.room import HEADROOM_STEPS, MIN_HEADROOM, factor, find_left
from tfperfkit_rules.precision.half import HALF_SHARE

#: The titles of the findings' pages.
TITLES = {
    "PRC004": "mixed_bfloat16 is faster for matmuls on this CPU",
}

BFLOAT16_TIMES = Threshold(
    1.3,
    "ratio",
    "minimum ratio of the CPU's rate of matmuls in bfloat16 to that in float32, for 16 bits to be offered",
    Chosen("a smaller one is lost in conversions"),
)
BFLOAT16_ELEMENTWISE = Threshold(
    4,
    "ratio",
    "minimum factor by which elementwise operations are slower in bfloat16 on a CPU",
    Measured("4 to 9 times, on a CPU with avx512_bf16", MEASURED_ON, None),
)
BFLOAT16_CONVOLUTION = Threshold(
    2,
    "ratio",
    "factor by which a convolution may be slower in bfloat16 on a CPU",
    Measured("1.5 times faster to 2 times slower, by its shape, on a CPU with avx512_bf16", MEASURED_ON, None),
)

_PRODUCT = "MatMul"
_FORMAT = "bfloat16"


def bfloat16(evidence: Evidence) -> Iterator[Finding]:
    """Headroom: ``mixed_bfloat16``, where a product was measured to be faster in it and little else is computed: other
    operations and some convolutions get slower. Silent where the processor has no such instructions."""
    unit = evidence.unit
    times = evidence.run.machine.get("bfloat16_times")
    data, account = evidence.offer(ComputedStep), evidence.account
    if not isinstance(times, (int, float)) or times < BFLOAT16_TIMES.value or evidence.accelerated:
        return
    if data is None or data.ms <= 0 or account is None or not account.mean_ms:
        return
    if evidence.steps.count < HEADROOM_STEPS.value or _is_used(evidence):
        return
    scale = evidence.part("graph") / data.ms
    rows = [row for row in data.operations if row.stage != "update"]  # weights stay in float32
    products = scale * sum(row.ms for row in rows if _PRODUCT in row.type)
    others = scale * sum(row.ms for row in rows if is_heavy(row.type) and _PRODUCT not in row.type)
    small = scale * sum(row.ms for row in rows if not is_heavy(row.type))
    most = products * (1 - 1 / times)
    lost = others * (BFLOAT16_CONVOLUTION.value - 1) + small * (BFLOAT16_ELEMENTWISE.value - 1)
    least = most - lost
    whole = account.mean_ms
    if least <= 0 or factor(whole, least) < MIN_HEADROOM.value:
        return
    yield Finding(
        code="PRC004",
        remedy=Setting("precision", "mixed_bfloat16"),
        severity="info",
        title=f"mixed_bfloat16 is {times:.1f}x faster for matmuls on this CPU, "
        f"{100 * products / whole:.0f} % of {unit.a}",
        share_of_step=min(1.0, products / whole),
        gain=price(Setting("precision"), left=find_left(whole, least, most)),
        evidence=(
            Measurement("speed of a bfloat16 matmul relative to float32", float(times), "ratio", "run"),
            Measurement(f"time in matmuls {unit.per}", products, "ms", "breakdown"),
            Measurement(f"time in other operations {unit.per}, without the update", others + small, "ms", "breakdown"),
        ),
        advice=(
            'Try keras.mixed_precision.set_global_policy("mixed_bfloat16") before the model is made, with the last '
            "layer in float32, and compare the losses: bfloat16 keeps 8 bits of precision."
        ),
        detail="Weights stay in float32, and no loss scaling is needed. Other operations become slower, which the "
        "lower bound includes.",
        parts=("graph",),
        headroom=True,
    )


def _is_used(evidence: Evidence) -> bool:
    """Whether the step computes in 16 bits already."""
    functions = [(brief, n) for brief, n in graph_time.list_called(evidence) if brief.flops]
    flops = sum((brief.flops or 0.0) * n for brief, n in functions)
    half = sum((brief.flops or 0.0) * n * (brief.half_flops_share or 0.0) for brief, n in functions)
    policy = str(evidence.settings.get("dtype_policy", ""))
    return _FORMAT in policy or half >= HALF_SHARE.value * flops > 0
