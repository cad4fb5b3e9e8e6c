"""GRF024's advice names the line that calls the compiled function, because the call changes."""

from __future__ import annotations

from evidence_builder import FILE, make_evidence, make_samples
from tfperfkit_rules.graph.growing_argument import _find_call

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame

SOURCE = """def write(model, ids):
    while len(ids) < 20:
        token = model.next_token(ids)
        print(model.score(ids))
"""


def test_the_line_that_calls_the_function_is_found_by_its_samples() -> None:
    calls, other = Frame(FILE, 1, "write", 3), Frame(FILE, 1, "write", 4)
    evidence = make_evidence(
        source=SOURCE, samples=make_samples([(40, "graph", [calls]), (60, "graph", [other]), (9, "python", [calls])])
    )
    assert _find_call(evidence, "Model.next_token") == SourceSpan(FILE, 3, "write")
    assert _find_call(evidence, "train_step") is None
