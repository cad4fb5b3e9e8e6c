"""Garbage that is collected for what the pipeline's Python makes: lists of lists for each batch, say.

Every so many new lists, tuples and dicts Python looks at all objects that there are, of TensorFlow and Keras too, and
holds the interpreter's lock meanwhile. The thread that has made them does it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.offers import GarbageCollections
from tfperfkit.records.spans import Spans
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.batch_lines import CALLED
from tfperfkit_rules.measures import shared


def collected_ms(evidence: Evidence) -> float:
    """ms of a step that collections take, where nearly all of those in the clean steps ran on threads on which
    TensorFlow was seen to call Python; else 0."""
    known, clean = evidence.offer(GarbageCollections), evidence.steps.clean
    if known is None or not any(known.threads) or not clean:
        return 0.0
    called = set(_called(evidence))
    made = zip(known.spans, known.threads, strict=True)
    every, theirs = Spans(known.spans), Spans(span for span, thread in made if thread in called)
    spans = [(step.begin_ns, step.end_ns) for step in clean]
    whole = sum(every.overlap(*span) for span in spans)
    other = sum(theirs.overlap(*span) for span in spans)
    return evidence.part("gc") if whole and other >= shared.NEARLY_ALWAYS.value * whole else 0.0


def _called(evidence: Evidence) -> Iterator[int]:
    """The threads of samples that fell on such Python."""
    for row in evidence.records("samples"):
        match row:
            case [kind, _, _, int(thread)] if kind == CALLED:
                yield thread
