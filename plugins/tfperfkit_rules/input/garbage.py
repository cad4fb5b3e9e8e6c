"""Garbage that is collected for what the pipeline's Python makes: lists of lists for each batch, say.

Every so many new lists, tuples and dicts Python looks at all objects that there are, of TensorFlow and Keras too, and
holds the interpreter's lock meanwhile. The thread that has made them does it.
"""

from __future__ import annotations

from tfperfkit.offers import GarbageCollections
from tfperfkit.records.spans import Spans
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import shared


def collected_ms(evidence: Evidence) -> float:
    """ms of a step that collections take, where nearly all of those in the clean steps are another thread's; else 0."""
    known, clean = evidence.offer(GarbageCollections), evidence.steps.clean
    if known is None or not known.elsewhere or not clean:
        return 0.0
    every, elsewhere = Spans(known.spans), Spans(known.elsewhere)
    spans = [(step.begin_ns, step.end_ns) for step in clean]
    whole = sum(every.overlap(*span) for span in spans)
    other = sum(elsewhere.overlap(*span) for span in spans)
    return evidence.part("gc") if whole and other >= shared.NEARLY_ALWAYS.value * whole else 0.0
