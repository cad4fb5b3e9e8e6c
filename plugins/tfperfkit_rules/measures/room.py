"""How headroom is priced."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.gain import speedup
from tfperfkit.pricing import Left
from tfperfkit.pricing.machines import TWO_BUSY_CORES

MIN_HEADROOM = Threshold(
    1.1,
    "number",
    "smallest factor that is headroom",
    Chosen("runs of one script differ by as much on a shared machine"),
)
GAIN_MIN = Threshold(
    0.75,
    "number",
    "minimum gain of a choice, in what the model predicts beyond 1",
    Measured("measured over predicted 0.7 to 1.4 in 8 scripts, docs/design/gains.md", TWO_BUSY_CORES, 24),
)
GAIN_MAX = Threshold(
    1.35,
    "number",
    "maximum gain of a choice, in what the model predicts beyond 1",
    Measured("see GAIN_MIN", TWO_BUSY_CORES, 24),
)
HEADROOM_STEPS = Threshold(
    100,
    "steps",
    "minimum number of steps of a run for headroom to be offered",
    Chosen("a training loop has more, a test run fewer"),
)
CALL_START_MS = Threshold(
    0.3,
    "ms",
    "time between operations that the call of a compiled function takes, with XLA too",
    Measured("0.33 ms in a step of three small layers, which took as long with XLA", TWO_BUSY_CORES, 1),
)


def widened(bounds: tuple[float, float]) -> tuple[float, float]:
    """The bounds of a factor with what the model itself is wrong by."""
    lower, upper = sorted(bounds)
    return (
        1 + GAIN_MIN.value * max(lower - 1, 0.0),
        1 + GAIN_MAX.value * max(upper - 1, 0.0),
    )


def find_left(whole_ms: float, least_ms: float, most_ms: float) -> Left:
    """Return what is left of ``whole_ms`` when a choice saves from ``least_ms`` to ``most_ms``, by a model that is
    wrong by as much as ``widened`` says."""
    return Left.faster(*widened((factor(whole_ms, least_ms), factor(whole_ms, most_ms))))


def factor(whole_ms: float, saved_ms: float) -> float:
    """The factor for examples a second when ``saved_ms`` of ``whole_ms`` go."""
    return speedup(saved_ms / whole_ms) if whole_ms > 0 else 1.0
