"""The work of Keras' ``predict`` and ``evaluate``, by stack samples: setting up, computing, and both by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.records.samples import Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import EVALUATE, PREDICT, Api, is_calling
from tfperfkit_rules.measures.making import MIN_MADE, making
from tfperfkit_rules.measures.source_text import find_line_calls
from tfperfkit_rules.measures.trace_window import reached

MAX_COMPUTING = Threshold(
    0.5,
    "share",
    "maximum share of the time of predict in compiled functions, for a call on little data",
    Chosen("with more the larger half computes"),
)
MIN_SETTING_UP = Threshold(
    0.1,
    "share",
    "minimum share of the time of predict in making its dataset, for many calls instead of one on much data",
    Derived("XProf warns of such a share of a step; one predict of many batches makes its dataset once"),
)


class Predicting(NamedTuple):
    """Sums of the samples' weights. ``setting_up``: datasets and iterators are made, as once in each call;
    ``computing``: in compiled functions. In a work outside of the training steps what a fresh model drags along is left
    out, and ``evaluate`` counts too; ``api``: which of the two takes more."""

    at: Counter[Place]
    setting_up: int
    computing: int
    api: Api

    def is_repeated(self, evidence: Evidence) -> bool:
        """Whether it is called again and again, with so little data that it hardly computes."""
        whole = self.at.total()
        if not whole or self.computing > MAX_COMPUTING.value * whole:
            return False
        place = self.at.most_common(1)[0][0]
        if self.setting_up >= MIN_SETTING_UP.value * whole:
            return True
        # ``predict_on_batch`` sets nothing up.
        return _of_batch(evidence, place) and (reached(evidence, place[0], place[1], place[1]) or 0.0) >= MIN_MADE.value


def predicting(evidence: Evidence, found: Iterable[tuple[Stack, int]]) -> Predicting:
    """See ``Predicting``; ``found``: samples with their weights."""
    work = evidence.work is not None
    fresh = making(evidence)
    at: Counter[Place] = Counter()
    evaluated = setting_up = computing = 0
    for stack, weight in found:
        if not stack.frames or not (stack.context == "evaluate" or stack.library):
            continue
        if fresh is not None and (stack in fresh.dragged or stack in fresh.first_runs):
            continue
        leaf = stack.frames[-1]
        evaluates = work and is_calling(evidence, leaf, EVALUATE)
        if not evaluates and not is_calling(evidence, leaf, PREDICT):
            continue
        at[leaf.file, leaf.line] += weight
        evaluated += weight * evaluates
        computing += weight * (stack.activity == "graph")
        setting_up += weight * any(name.endswith(":__init__") for name in leaf.calls or ())
    api = EVALUATE if 2 * evaluated > at.total() else PREDICT
    return Predicting(at, setting_up, computing, api)


def _of_batch(evidence: Evidence, place: Place) -> bool:
    return any(call.name.endswith("_on_batch") for call in find_line_calls(evidence, *place))
