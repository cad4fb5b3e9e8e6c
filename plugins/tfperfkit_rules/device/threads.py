"""DEV004, DEV005: thread settings that do not fit the CPU cores, and oneDNN switched off.

Too few threads cost what operations of at least 0.1 ms take in the trace, as shorter ones run on one thread anyway.
Without oneDNN the share is that of convolutions, matmuls, pooling and normalisation.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, costs, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time
from tfperfkit_rules.measures.source_calls import find_strings

MANY_THREADS = Threshold(
    4,
    "number",
    "threads per CPU core from which a remark is made",
    Measured("with 8 threads per core no loss stood out of the noise", TWO_BUSY_CORES, None),
)
SCALES_MIN = Threshold(
    0.3,
    "share",
    "minimum share that more cores save, of what dividing the work evenly would save",
    Chosen("two cores rarely gain less than a third of what dividing by two promises"),
)
ONEDNN_MIN = Threshold(
    0.15,
    "share",
    "minimum share of convolutions, matmuls and pooling that oneDNN saves",
    Measured(
        "convolutions took 1.4 to 3.2 times as long without it, matmuls 1.1 to 3.2 times, a step of fit 1.7 and 2.4 "
        "times in two pairs: 0.09 to 0.69 saved",
        TWO_BUSY_CORES,
        None,
        "onednn",
    ),
)
ONEDNN_MAX = Threshold(
    0.9,
    "share",
    "maximum share of convolutions, matmuls and pooling that oneDNN saves",
    Measured(
        "see ONEDNN_MIN; layouts and fused operations save more than a kernel alone", TWO_BUSY_CORES, None, "onednn"
    ),
)

TITLES = {
    "DEV004": "TensorFlow thread count does not fit the CPU cores",
    "DEV005": "TF_ENABLE_ONEDNN_OPTS=0 disables the fast CPU kernels",
}
#: Operations that oneDNN has kernels for.
ONEDNN_KINDS = frozenset({"convolution", "product", "pooling", "batch-norm", "softmax", "loss"})
_INTRA = "tensorflow.config.threading.set_intra_op_parallelism_threads"
_INTER = "tensorflow.config.threading.set_inter_op_parallelism_threads"
_INTRA_VARIABLE = "TF_NUM_INTRAOP_THREADS"
_ONEDNN = "TF_ENABLE_ONEDNN_OPTS"


def _environment(evidence: Evidence) -> dict[str, str]:
    given = evidence.settings.get("environment")
    return {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}


def _threads(evidence: Evidence) -> int:
    """Threads within an operation, as set by the call or else by TF_NUM_INTRAOP_THREADS; 0 when TensorFlow chose.

    OMP_NUM_THREADS is not looked at: the wheel of 2.21 links no OpenMP runtime."""
    value = evidence.settings.get("intra_op_threads")
    if isinstance(value, int) and value > 0:
        return value
    text = _environment(evidence).get(_INTRA_VARIABLE, "")
    return int(text) if text.isdigit() else 0


def threads(evidence: Evidence) -> Iterator[Finding]:
    """DEV004: far fewer threads within an operation than processors, or many more."""
    count, cpus = _threads(evidence), evidence.cpus
    if not count or evidence.accelerated:
        return
    where = (*evidence.calls(_INTRA), *find_strings(evidence, _INTRA_VARIABLE), *evidence.calls(_INTER))[:3]
    if count >= MANY_THREADS.value * cpus:
        yield _many(count, cpus, where)
        return
    if count >= cpus:
        return
    # Work that TensorFlow would divide: operations that are long enough.
    long_enough = costs.DIVIDED_MS.value
    divided = graph_time.share(evidence, lambda row: row.count > 0 and row.self_ms / row.count >= long_enough)
    upper = divided * (1 - count / cpus)
    if upper < gain.LOW:
        return
    yield Finding(
        code="DEV004",
        remedy=Setting("threads", ""),
        share_of_step=upper,
        title=_title(count, cpus),
        gain=price(Setting("threads"), Part(SCALES_MIN.value * upper, upper)),
        where=where,
        evidence=(
            Measurement("threads per operation", count, "count", "run"),
            Measurement("CPU cores", cpus, "count", "run"),
            Measurement(
                f"share of {evidence.unit.the} in operations that can be divided", divided, "share", "breakdown"
            ),
        ),
        advice=("Remove the setting: TensorFlow then uses all CPU cores. Or: keep it if processes share the machine."),
    )


def _title(count: int, cpus: int) -> str:
    return f"{TITLES['DEV004']}: {count} thread{'s' * (count != 1)} per operation, {cpus} cores"


def _many(count: int, cpus: int, where: tuple[SourceSpan, ...]) -> Finding:
    return Finding(
        code="DEV004",
        remedy=Setting("threads", ""),
        severity="info",
        share_of_step=0.0,
        where=where,
        title=_title(count, cpus),
        evidence=(
            Measurement("threads per operation", count, "count", "run"),
            Measurement("CPU cores", cpus, "count", "run"),
        ),
        advice="Remove the setting: more threads than CPU cores only take turns.",
    )


def onednn_off(evidence: Evidence) -> Iterator[Finding]:
    """DEV005: oneDNN switched off by TF_ENABLE_ONEDNN_OPTS=0."""
    if evidence.accelerated or _environment(evidence).get(_ONEDNN, "").strip().lower() not in ("0", "false"):
        return
    share = graph_time.share(
        evidence, lambda row: not row.type.startswith("_Mkl") and optable.kernel(row.type).kind in ONEDNN_KINDS
    )
    if share * ONEDNN_MAX.value < gain.LOW:
        return
    yield Finding(
        code="DEV005",
        remedy=Setting("onednn", "on"),
        share_of_step=ONEDNN_MAX.value * share,
        title=TITLES["DEV005"],
        gain=price(Setting("onednn"), Part(ONEDNN_MIN.value * share, ONEDNN_MAX.value * share)),
        where=tuple(find_strings(evidence, _ONEDNN))[:3],
        evidence=(
            Measurement(
                f"share of {evidence.unit.the} in convolutions, matmuls and pooling", share, "share", "breakdown"
            ),
        ),
        advice=(
            f"Remove {_ONEDNN}=0 from the script or the shell. To silence the message, set "
            'os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1". The last digits of results may differ.'
        ),
        absorbs=("GRF003",),
    )
