"""GRF007: matrix decompositions dominate the step. They are slow on every processor."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from tfperfkit import calibration
from tfperfkit.calibration import Derived, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.view import View
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import bound
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.functions import definition, places
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule

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


class Decomposition(Cause, frozen=True, kw_only=True):
    """Operations of one type."""

    type: str

    @property
    def key(self) -> Hashable:
        """Operations of a type count together."""
        return self.type


class SlowKernels(GraphRule[Decomposition]):
    """Finds the operations of a type that take a good part of the step."""

    code = "GRF007"
    title = "Matrix decomposition (tf.linalg) dominates the step"
    remedy = Rewrite()

    def find(self, view: View) -> Iterator[Decomposition]:
        """Yield the decompositions."""
        for node in view.forward:
            if node.type in SLOW:
                yield Decomposition(where=node.place, operations=[node.name], left=0.0, type=node.type)

    def parts(self, evidence: Evidence) -> Iterator[Part[Decomposition]]:
        """Yield those that take a good part of the step by themselves, without their gradients."""
        yield from (part for part in super().parts(evidence) if _share(part) >= MIN_SLOW_KERNEL.value)

    def report(self, evidence: Evidence, part: Part[Decomposition]) -> Finding:
        """Advise an approximation, or what computes less."""
        unit, cause, share = evidence.unit, part.cause, _share(part)
        return Finding(
            code=self.code,
            title=f"Matrix decomposition ({cause.type}) dominates {unit.the} at {100 * share:.0f} %",
            share_of_step=share,
            # While it runs on one thread the runtime has gaps.
            gain=bound(part.goes.high),
            where=places([cause.where, *cause.places, definition(part.function)]),
            evidence=(
                Measurement(f"share of {unit.the}", share, "share", part.window),
                count("operations of the type", len(cause.operations)),
            ),
            advice=f"{SLOW[cause.type]} Or: compute it only every n-th step, or on fewer rows.",
            detail="Such an operation passes over its matrix many times, mostly on one thread.",
            parts=("graph",),
        )


def _share(part: Part[Decomposition]) -> float:
    return part.share - part.backward
