"""Of several workers, the part of a compiled step in which a rank waits for its own input, where no trace tells it.

``next(iterator)`` within a ``tf.function`` passes in a compiled function, as the exchange with the other ranks does,
and in neither does the process use a processor. But the pipeline's own pace is known: one that needs the larger part of
a step for a batch sets the pace of this rank, whoever the others wait for.
"""

from __future__ import annotations

import msgspec

from tfperfkit import calibration
from tfperfkit.diagnosis.rank_samples import sampled
from tfperfkit.model import StepAccount
from tfperfkit.offers import GraphWaits, InputPace, StepBreakdown
from tfperfkit.records.parts import PartName
from tfperfkit.rule import Evidence

GRAPH: PartName = "graph"
INPUT: PartName = "input"


def with_own_input(evidence: Evidence) -> StepAccount | None:
    """The account with that wait as input; as it is where a trace tells it, or nothing does."""
    account, pace = evidence.account, evidence.offer(InputPace)
    traced = evidence.offer(StepBreakdown) is not None or evidence.offer(GraphWaits) is not None
    if account is None or pace is None or traced:
        return account
    clean = evidence.steps.clean
    turn_ms = account.mean_ms + account.between_total_ms
    if any(step.input_ns for step in clean) or pace.ms_per_step < calibration.OWN_PACE.value * turn_ms:
        return account  # Python fetches: its waiting was timed; or the pipeline is quick enough
    found = sampled(evidence)
    if found is None:
        return account
    unused = account.parts_ms.get(GRAPH, 0.0) * (1 - found.compute_share)
    waits = min(unused, pace.ms_per_step - (turn_ms - unused))
    if waits <= 0:
        return account
    parts = dict(account.parts_ms)
    parts[GRAPH] -= waits
    parts[INPUT] = parts.get(INPUT, 0.0) + waits
    return msgspec.structs.replace(account, parts_ms=parts, input_in_graph_ms=waits)
