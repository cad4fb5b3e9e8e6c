"""GRF006: an optimizer that updates all of an embedding's rows, of which a batch touches few."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import OpsData

from tfperfkit import calibration
from tfperfkit.calibration import Derived, Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep, FunctionCalls
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.source_calls import find_methods
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span

TITLES = {"GRF006": "Adam updates all rows of an Embedding table"}

MIN_DENSE_UPDATE = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "minimum share of the step in updates of all rows of an embedding",
    Derived("a high share, as XProf has it for one part of a step"),
)
DENSE_SAVED_MIN = Threshold(
    0.75,
    "share",
    "minimum share saved of such updates by updating only the rows of the batch: sorting them out takes time too",
    Measured(
        "steps with a share of 0.65 became 2.0 and 3.4 times as fast: 0.77 and 1.1 of it was saved", TWO_BUSY_CORES, 2
    ),
)
DENSE_SAVED_MAX = Threshold(
    1.15,
    "share",
    "maximum share saved of such updates by updating only the rows of the batch: the tables no longer fill the caches",
    Measured("see DENSE_SAVED_MIN", TWO_BUSY_CORES, 2),
)

#: How TensorFlow makes a table out of the gradient of a gather, which names rows only.
_MADE_DENSE = ("UnsortedSegmentSum",)


def dense_updates(evidence: Evidence) -> Iterator[Finding]:
    """GRF006: by operations that make a gather's gradient dense among the updates, and the tables' part of what is
    trained."""
    unit = evidence.unit
    data, account = evidence.offer(ComputedStep), evidence.account
    if data is None or account is None or evidence.work is not None or data.ms <= 0 or not account.mean_ms:
        return
    updates = [row for row in data.operations if row.stage == "update"]
    if not any(row.type in _MADE_DENSE for row in updates):
        return
    tables, trained = _tables(evidence)
    if not tables:
        return
    scale = min(1.0, evidence.part("graph") / data.ms)
    took = scale * sum(row.ms for row in updates) * tables / trained
    share = took / account.mean_ms
    if share < MIN_DENSE_UPDATE.value:
        return
    upper = min(DENSE_SAVED_MAX.value * share, evidence.share("graph"))
    gained = price(ReplaceOps("looked_up_rows"), Part(min(DENSE_SAVED_MIN.value * share, upper), upper))
    made = find_methods(evidence, "compile", "apply_gradients", "apply")
    sites = reached(evidence, "batch", "apply", "call")
    place = [span(evidence, made[0][0], made[0][1].line)] if made else []
    place += [span(evidence, site.file, site.line) for site in sites[:1]]
    yield Finding(
        code="GRF006",
        remedy=ReplaceOps("looked_up_rows"),
        title=f"Optimizer updates all rows of an Embedding table, {100 * share:.0f} % of {unit.a}",
        share_of_step=min(share, 1.0),
        gain=gained,
        where=tuple(dict.fromkeys(place)),
        evidence=(
            Measurement(f"updates of embeddings {unit.per}", took, "ms", "breakdown"),
            Measurement("size of the embedding tables", float(tables), "bytes", "run"),
            Measurement("size of all trained variables", float(trained), "bytes", "run"),
        ),
        advice=(
            "Update only the rows of the batch: use the lazy Adam that tfperf explain GRF006 prints, whose update_step "
            "handles tf.IndexedSlices. Or: use SGD without momentum, which does so already. Or: use fewer rows "
            "(hashing, a smaller vocabulary)."
        ),
        detail=(
            "Adam, RMSprop and Adagrad of Keras make the gradient of a lookup as large as the table, and read or "
            f"write the table, its moments and that gradient some twelve times in {unit.every}."
        ),
    )


def _tables(evidence: Evidence) -> tuple[int, int]:
    """Bytes of embeddings and of all that is trained, in the functions that the steps called; 0 where not known."""
    calls, ops = evidence.offer(FunctionCalls), evidence.offer(OpsData)
    if calls is None or ops is None:
        return 0, 1
    functions = [each for each in ops.all if calls.per_step.get(each.graph) and each.parameter_bytes]
    largest = max(functions, key=lambda each: each.parameter_bytes, default=None)
    return (largest.embedding_bytes, largest.parameter_bytes) if largest is not None else (0, 1)
