"""GRF007: matrix decompositions dominate the step. They are slow on every processor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tfperfkit import calibration
from tfperfkit.calibration import Derived, Threshold
from tfperfkit.gain import severity
from tfperfkit.graph import optable
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.pricing import bound
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.step_shares import span

TITLES = {"GRF007": "Matrix decomposition (tf.linalg) dominates the step"}

MIN_SLOW_KERNEL = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "minimum share of the step in a matrix decomposition",
    Derived("a high share, as XProf has it for one part of a step"),
)

#: By trait, operations of iterations and recurrences over a matrix, and what usually takes their place.
_INSTEAD = {
    "eigen": "Compute only the values if the vectors are not used: tf.linalg.svd(x, compute_uv=False), eigvalsh, "
    "eigvals. Or, for the largest value alone: run one or two power iterations, which are matmuls, and keep their "
    "vector in a variable from step to step. Or, for the SVD of a matrix with few columns: tf.linalg.eigh of "
    "tf.matmul(x, x, transpose_a=True) gives the squared singular values, and small ones lose digits.",
    "orthogonal": "Normalise with matmuls (Newton-Schulz iterations, Cholesky of x^T x) if an approximation is enough.",
    "inverts": "Solve instead of inverting (tf.linalg.solve, cholesky_solve), for all right sides in one call.",
    "least-squares": "Solve the normal equations by tf.linalg.cholesky_solve if the matrix is well conditioned.",
    "determinant": "Use tf.linalg.logdet, which works by Cholesky, if the matrix is positive definite.",
    "matrix-root": "Use Newton-Schulz iterations, which are matmuls, if an approximation is enough.",
    "matrix-exponential": "Use a short Taylor series of matmuls if the arguments are small.",
}
#: By operation.
SLOW = {name: text for trait, text in _INSTEAD.items() for name in optable.names(trait=trait)}


def slow_kernels(evidence: Evidence) -> Iterator[Finding]:
    """GRF007, for the types that take a good part of the step, each with its lines."""
    data, account = evidence.offer(ComputedStep), evidence.account
    if data is None or account is None or evidence.work is not None or data.ms <= 0 or not account.mean_ms:
        return
    scale = min(1.0, evidence.part("graph") / data.ms) / account.mean_ms
    found: dict[str, list[ComputedOperation]] = defaultdict(list)
    for row in data.operations:
        if row.type in SLOW:
            found[row.type].append(row)
    for kind, rows in found.items():
        share = min(1.0, scale * sum(row.ms for row in rows))
        if share >= MIN_SLOW_KERNEL.value:
            # While it runs on one thread the runtime has gaps: at most all goes but what other operations take.
            others = scale * sum(row.ms for row in data.operations if row.type != kind)
            yield _make_finding(evidence, kind, rows, share, max(share, evidence.share("graph") - others))


def _make_finding(evidence: Evidence, kind: str, rows: list[ComputedOperation], share: float, upper: float) -> Finding:
    unit = evidence.unit
    runs = sum(row.runs for row in rows)
    costly = sorted((row for row in rows if row.file), key=lambda row: -row.ms)
    places: list[SourceSpan] = [span(evidence, row.file, row.line) for row in costly]
    return Finding(
        code="GRF007",
        title=f"Matrix decomposition ({kind}) dominates {unit.the} at {100 * share:.0f} %",
        severity=severity(share),
        share_of_step=share,
        gain=bound(upper),
        where=tuple(dict.fromkeys(places)),
        evidence=(
            Measurement(f"share of {unit.the}", share, "share", "breakdown"),
            Measurement("time of one run", sum(row.ms for row in rows) / max(runs, 1.0), "ms", "tfprof"),
            Measurement(f"runs in {unit.a}", runs, "count", "tfprof"),
        ),
        advice=f"{SLOW[kind]} Or: compute it only every n-th step, or on fewer rows.",
        detail="Such an operation passes over its matrix many times, mostly on one thread.",
        parts=("graph",),
    )
