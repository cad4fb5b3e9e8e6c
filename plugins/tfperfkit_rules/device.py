"""Rules about devices, threads and what waits for them."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit import gain
from tfperfkit.evidence import Evidence, Rule
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit_rules import graph_time

#: So many threads for each processor are told; measured with 8 for each: nothing lost that stood out of the noise.
MANY_THREADS = 4
#: Of work that divides, what the processors beyond those in use take away at worst, of an even division: a judgment.
SCALES_LEAST = 0.3
#: What oneDNN's kernels save of the time of these operations: convolutions took 1.4 to 3.2 times as long without
#: them, products 1.1 to 3.2 times (TensorFlow 2.21, two busy cores), a step of fit 1.7 and 2.4 times in two pairs.
ONEDNN_TYPES = ("Conv", "MatMul", "MaxPool", "AvgPool", "FusedBatchNorm", "Softmax")
ONEDNN_LEAST, ONEDNN_MOST = 0.15, 0.9
_INTRA, _INTRA_VARIABLE = r"set_intra_op_parallelism_threads\s*\(", "TF_NUM_INTRAOP_THREADS"
_INTER = r"set_inter_op_parallelism_threads\s*\("
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
    where = (*evidence.find(_INTRA), *evidence.find(_INTRA_VARIABLE), *evidence.find(_INTER))[:3]
    if count >= MANY_THREADS * cpus:
        yield _many(count, cpus, where)
        return
    if count >= cpus:
        return
    # Work that TensorFlow would divide: operations that are long enough.
    divided = graph_time.share(evidence, lambda row: row.count > 0 and row.self_ms / row.count >= graph_time.DIVIDED_MS)
    most = divided * (1 - count / cpus)
    if most < gain.LOW:
        return
    bounds = gain.speedups(SCALES_LEAST * most, most)
    yield Finding(
        code="DEV004", family="device", severity="low", share_of_step=most,
        title=f"TensorFlow may use {count} of {cpus} processors for an operation",
        predicted_speedup=gain.middle(bounds), predicted_range=bounds, where=where,
        evidence=(
            Measurement("threads within an operation", count, "count", "run"),
            Measurement("processors", cpus, "count", "run"),
            Measurement("operations that would be divided, of the step", divided, "share", "breakdown"),
        ),
        advice=(
            "Take the setting out: TensorFlow then uses all processors. Keep it only where several processes share "
            "the machine."
        ),
    )


def _many(count: int, cpus: int, where: tuple[SourceSpan, ...]) -> Finding:
    return Finding(
        code="DEV004", family="device", severity="info", share_of_step=0.0, predicted_speedup=None, where=where,
        title=f"TensorFlow has {count} threads for {cpus} processors",
        evidence=(
            Measurement("threads within an operation", count, "count", "run"),
            Measurement("processors", cpus, "count", "run"),
        ),
        advice="Take the setting out: more threads than processors only take turns.",
    )


def onednn_off(evidence: Evidence) -> Iterator[Finding]:
    """DEV005: oneDNN switched off by TF_ENABLE_ONEDNN_OPTS=0."""
    if evidence.accelerated or _environment(evidence).get(_ONEDNN, "").strip().lower() not in ("0", "false"):
        return
    share = graph_time.share(
        evidence, lambda row: not row.type.startswith("_Mkl") and any(part in row.type for part in ONEDNN_TYPES)
    )
    if share * ONEDNN_MOST < gain.LOW:
        return
    bounds = gain.speedups(ONEDNN_LEAST * share, ONEDNN_MOST * share)
    yield Finding(
        code="DEV005", family="device", severity="low", share_of_step=ONEDNN_MOST * share,
        title="oneDNN is switched off, and with it the fast kernels of this processor",
        predicted_speedup=gain.middle(bounds), predicted_range=bounds, where=tuple(evidence.find(_ONEDNN))[:3],
        evidence=(Measurement("convolutions, products and pooling, of the step", share, "share", "breakdown"),),
        advice=(
            f"Take {_ONEDNN}=0 out, of the script or of the shell. To silence the message that it prints use "
            'os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1". The last digits of results may differ.'
        ),
        absorbs=("GRF003",),
    )


RULES: tuple[Rule, ...] = (threads, onednn_off)
