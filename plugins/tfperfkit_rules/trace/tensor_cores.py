"""TRC006: matmuls don't use the tensor cores.

Kernel names tell, as in XProf: ``sgemm`` against ``h884``, ``s16816`` or ``hmma``.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.recorded_trace import TraceReport
from tfperfkit.rule import Evidence
from tfperfkit.xplane.names import names_matmul
from tfperfkit_rules.trace.finding import get_basis, make_finding

TITLES = {"TRC006": "Matmul kernels do not use the tensor cores"}
MATRIX_SHARE = Threshold(
    0.2,
    "share",
    "minimum share of the kernels' time in matmuls without tensor cores",
    Chosen("below it, half precision cannot gain a tenth of the step"),
)


def unused_tensor_cores(evidence: Evidence) -> Iterator[Finding]:
    """TRC006: the machine has tensor cores, and kernels of matmuls don't use them."""
    trace = evidence.offer(TraceReport)
    if trace is None or trace.machine is None or not trace.machine.tensor_flops_per_s:
        return
    slow = [row for row in trace.kernels if not row.tensor_cores and names_matmul(row.kernel)]
    share_of_kernels = sum(row.share for row in slow)
    if share_of_kernels < MATRIX_SHARE.value:
        return
    yield make_finding(
        "TRC006",
        "precision",
        TITLES["TRC006"],
        share_of_kernels * (1 - (trace.idle_share or 0.0)),
        [
            Measurement("share of kernel time in these matmuls", share_of_kernels, "share", "trace"),
            Measurement("matmul kernels without tensor cores", sum(row.runs for row in slow), "count", "trace"),
        ],
        "Compute in 16 bits: keras.mixed_precision.set_global_policy('mixed_float16'), with sizes that are multiples "
        "of 8. Or: allow TF32: tf.config.experimental.enable_tensor_float_32_execution(True).",
        "\n".join(f"{row.kernel[:80]}: {row.total_ms:.3g} ms" for row in slow[:3]),
        basis=get_basis(trace),
    )
