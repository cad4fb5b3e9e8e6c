"""The finding EAG001: the training step runs operation by operation, not as a compiled function."""

from __future__ import annotations

import math

from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.probe import Capture
from tfperfkit.samples import read_samples
from tfperfkit_probes.tfprof_analysis import TraceFacts

#: XProf warns of eager execution from 10 % of the time on; below 30 operations a step there is little to compile.
LEAST_SHARE = 0.10
LEAST_OPS = 30
#: What a compiled step still computes, whatever is fused or reordered around it.
HEAVY = ("Conv", "MatMul", "Einsum", "Cudnn", "LSTM", "GRU", "Fft", "FFT", "Svd", "Cholesky")


def eager_step(capture: Capture, facts: TraceFacts) -> tuple[Finding, ...]:
    """The finding, or nothing when the step is compiled or has too few operations."""
    parts = facts.breakdown_ms
    if not parts or not facts.steps or not facts.step_ms:
        return ()
    step_ms = facts.step_ms
    eager = [row for row in facts.top_ops if row.where == "eager"]
    count = sum(row.count for row in eager) / facts.steps
    share = parts.get("eager_ops", 0.0) / step_ms
    if share < LEAST_SHARE or count < LEAST_OPS or parts.get("graph", 0.0) > parts.get("eager_ops", 0.0):
        return ()
    heavy = sum(row.self_ms for row in eager if any(part in row.type for part in HEAVY)) / facts.steps
    dispatch, own = _split_python(capture, parts, step_ms)
    floor = own + parts.get("input", 0.0) + max(heavy / max(int(capture.run.machine.get("cpus", 1)), 1), 0.05 * step_ms)
    # Least: only the Python that hands out the operations goes, a tenth of it stays. Most: of the operations only the
    # heavy ones (convolutions, products) still cost, independent ones run on all processors, the rest is fused.
    low = step_ms / (step_ms - 0.9 * dispatch)
    high = max(low, step_ms / floor)
    where = _where(capture)
    function = where[0].function if where and where[0].function not in ("", "<module>") else ""
    what = "Move the body of the loop into a function with @tf.function"
    if function:
        what = f"Put @tf.function on {function}"
    return (
        Finding(
            code="EAG001", family="eager",
            title=f"The step runs as {count:,.0f} separate operations, called one by one from Python",
            severity="high" if share >= 0.2 else "medium",
            share_of_step=min(1.0, (parts.get("eager_ops", 0.0) + dispatch) / step_ms),
            predicted_speedup=math.sqrt(low * high), predicted_range=(low, high), where=where,
            evidence=(
                Measurement("operations per step", count, "count", "trace"),
                Measurement("time in them", parts["eager_ops"], "ms", "trace"),
                Measurement("Python that hands them out", dispatch, "ms", "trace"),
            ),
            advice=(
                f"{what}, so that TensorFlow compiles the step once and runs it as one graph. Inside it use TensorFlow "
                "instead of NumPy and .numpy(), and keep Python objects that change out of its arguments."
            ),
        ),
    )


def _split_python(capture: Capture, parts: dict[str, float], step_ms: float) -> tuple[float, float]:
    """(ms of TensorFlow's and Keras' Python, ms of the person's own Python and other libraries) in a step.

    The trace knows one kind of Python only; the stack samples tell how much of the step lies inside TensorFlow.
    """
    python = parts.get("python", 0.0)
    inside = read_samples(capture).tensorflow_total
    if inside is None:
        return python, 0.0
    dispatch = min(python, max(0.0, inside * step_ms - parts.get("eager_ops", 0.0)))
    return dispatch, python - dispatch


def _where(capture: Capture) -> tuple[SourceSpan, ...]:
    """The function in which the weights are updated, and the loop around it."""
    spans: list[SourceSpan] = []
    reached = {row[0] for row in capture.session_records("markers")}
    for row in capture.session_records("sites"):
        if row.get("id") in reached and row.get("kind") in ("apply", "train_on_batch", "batch") and row.get("file"):
            spans.append(SourceSpan(str(row["file"]), int(row["line"]), str(row.get("function", ""))))
            loops = row.get("loops") or ()
            if loops:
                spans.append(SourceSpan(str(loops[-1]["file"]), int(loops[-1]["line"])))
    return tuple(dict.fromkeys(spans))[:4]
