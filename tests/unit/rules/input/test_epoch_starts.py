"""Waits for the first batch of an epoch inside of ``fit``: the bar, the line of long steps, the finding and the first
line agree about them."""

from __future__ import annotations

import pytest
from concluded import headline
from evidence_builder import FILE, MS
from hypothesis import given, settings
from hypothesis import strategies as st
from input_builder import PREFETCH, evidence, mapped, pipeline
from tfperfkit_rules.measures.feed import feed
from tfperfkit_rules.measures.input_bounds import MIN_WAIT

from tfperfkit.analysis.step_account import Facts, account
from tfperfkit.model import StepAccount
from tfperfkit.records.samples import Frame, SampleLog, Stack, steady_samples
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import Step, StepTable

FIT = Stack((Frame(FILE, 1, "main", 9),), "keras", "graph")
OWN_MS = 10


def fitted(length: int, epochs: int, late_ms: int, *, input_ns: int = 0) -> tuple[StepTable, SampleLog]:
    """Epochs of ``fit``, the first step of each longer; samples see its compiled function only."""
    made, now = [], 0
    for number in range(1, length * epochs + 1):
        end = now + (OWN_MS + (late_ms if number % length == 1 else 0)) * MS
        made.append(Step(number, now, end, 1, input_ns, "clean"))
        now = end
    log = SampleLog({1: FIT}, [(when, 1) for when in range(0, now, 5 * MS)], [(0, 5 * MS)])
    return StepTable(steps=tuple(made), source="keras"), log


def accounted(table: StepTable, log: SampleLog, *, feeds: bool) -> StepAccount:
    facts = Facts(
        steps=table, log=log, steady=steady_samples(log, table, []), tracing=Spans(), collections=Spans(), feeds=feeds
    )
    made = account(facts)
    assert made is not None
    return made


@settings(deadline=None, max_examples=60)
@given(st.integers(5, 12), st.integers(3, 6), st.integers(0, 2000))
def test_what_the_bar_shows_and_what_is_said_never_contradict(length: int, epochs: int, late_ms: int) -> None:
    table, log = fitted(length, epochs, late_ms)
    made = accounted(table, log, feeds=True)
    assert sum(made.parts_ms.values()) == pytest.approx(made.mean_ms)
    given_ = evidence(pipeline(PREFETCH, mapped()), account=made, steps=table)
    shown = made.parts_ms["input"] / made.mean_ms
    found = feed(given_)
    assert found is None or found.share == pytest.approx(shown)
    waited = late_ms / (length * OWN_MS + late_ms)
    if late_ms >= 100 and waited >= 2 * MIN_WAIT.value:
        assert found is not None and shown == pytest.approx(waited, rel=0.1)
        assert {item.cause for item in made.outliers} == {"input"} and made.input_in_graph_ms > 0
    text = headline([], given_)
    assert ("waiting for its input" in text) == (shown > 0.5) or 0.4 < shown < 0.6
    assert shown <= 0.5 or not text.startswith("No known fault")


def test_without_a_pipeline_or_where_python_sees_the_fetches_they_stay_what_the_samples_say() -> None:
    table, log = fitted(10, 4, 500)
    assert {item.cause for item in accounted(table, log, feeds=False).outliers} == {"a compiled function"}
    seen, log = fitted(10, 4, 500, input_ns=1000)
    made = accounted(seen, log, feeds=True)
    assert {item.cause for item in made.outliers} == {"a compiled function"} and not made.input_in_graph_ms
