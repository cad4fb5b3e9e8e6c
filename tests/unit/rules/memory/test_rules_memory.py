"""The rules of family memory on made-up evidence: each fires on a planted fault, silent on its healthy twin."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, make_evidence, make_samples, make_steps, one
from tfperfkit_probes.memory.model import DeviceMemory, FunctionMemory, Grower, MemoryData
from tfperfkit_rules import memory as rules

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.records.steps import StepTable
from tfperfkit.rule import Evidence

LIMIT = 16_000_000_000


def grower(**fields: Any) -> Grower:
    given = {
        "name": "codes",
        "kind": "tensors",
        "container": "list",
        "per_step": 1.0,
        "bytes_per_step": 1_048_584.0,
        "first": 3,
        "last": 337,
        "file": FILE,
        "line": 27,
        "function": "",
        "element": "EagerTensor",
        "found": "grows",
        "looks": 8,
        **fields,
    }
    return Grower(**given)


def evidence(*growers: Grower, source: str = "", **fields: Any) -> Evidence:
    data = MemoryData(**{"growers": growers, "limit_bytes": LIMIT, "rss_last_bytes": 1_000_000_000, **fields})
    return make_evidence(parts_ms={"graph": 10.0}, steps=make_steps(400), data={"memory": data}, source=source)


def findings(given: Evidence) -> list[Finding]:
    return [finding for rule in rules.RULES for finding in rule(given)]


def test_tensors_kept_in_a_list_are_a_risk_at_the_line_that_appends() -> None:
    finding = one(findings(evidence(grower())))
    assert (finding.code, finding.basis, finding.severity) == ("MEM001", "risk", "medium")
    assert finding.where == (SourceSpan(FILE, 27),) and "deque(maxlen=" in finding.advice
    assert any(
        row.name == "steps until the limit" and row.value == pytest.approx(15e9 / 1_048_584) for row in finding.evidence
    )


def test_a_limit_that_is_near_is_grave_and_a_far_one_is_not() -> None:
    assert one(findings(evidence(grower(), limit_bytes=3_000_000_000))).severity == "high"
    assert one(findings(evidence(grower(bytes_per_step=30_000.0), limit_bytes=10**13))).severity == "low"


def test_a_history_of_numbers_is_left_in_peace() -> None:
    floats = grower(name="history", kind="list", bytes_per_step=32.0, element="float")
    losses = grower(name="losses", bytes_per_step=12.0)
    assert not findings(evidence(floats, losses))
    many = grower(name="history", kind="list", bytes_per_step=32.0, element="float", last=2_000_000)
    assert not findings(evidence(many))


def test_growth_of_unknown_size_needs_memory_that_grows() -> None:
    objects = grower(kind="list", bytes_per_step=None, element="Episode")
    assert not findings(evidence(objects))
    grown = evidence(objects, growth_is_significant=True, growth_bytes_per_step=90_000.0)
    assert "codes" in one(findings(grown)).title


def test_growth_that_no_container_explains_names_the_function() -> None:
    function = FunctionMemory(
        function="log", file=FILE, line=4, peak_bytes=10**9, mean_increase_bytes=5e4, samples=9, stays=3
    )
    fields = {"growth_is_significant": True, "functions": (function,)}
    found = one(findings(evidence(growth_bytes_per_step=9e5, **fields)))  # over 400 steps
    assert found.where == (SourceSpan(FILE, 4, "log"),) and found.severity == "low"
    assert one(findings(evidence(growth_bytes_per_step=9e4, **fields))).severity == "info"
    # Nearly nothing is as likely: what an allocator's arenas do in a few hundred steps.
    assert not findings(evidence(growth_bytes_per_step=9e4, growth_range=(840.0, 1.5e5), **fields))
    assert findings(evidence(growth_bytes_per_step=9e4, growth_range=(3e4, 1.5e5), **fields))


def test_growth_beside_models_that_are_made_one_after_the_other_is_theirs() -> None:
    source = "import keras\nfor n in range(9):\n    model = keras.Sequential()\n    model.fit(x, y)\n"
    grown = {"growth_is_significant": True, "growth_bytes_per_step": 9e4}
    found = one(findings(evidence(source=source, **grown)))
    assert found.where == (SourceSpan(FILE, 3),) and "clear_session" in found.advice and found.severity == "info"
    once = "import keras\nmodel = keras.Sequential()\nfor n in range(9):\n    model.fit(x, y)\n"
    assert one(findings(evidence(source=once, **grown))).title == "Memory grows with every step, cause unknown"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (grower(container="dict", kind="dict"), "Delete"),
        (grower(container="ndarray", kind="arrays"), "full size"),
        (grower(container="list", kind="arrays"), "deque"),
        (grower(container="", kind="variables"), "variables once"),
    ],
)
def test_the_advice_follows_what_grows(row: Grower, words: str) -> None:
    assert words in one(findings(evidence(row))).advice


def test_graphs_that_stay() -> None:
    graphs = grower(
        name="graphs of step",
        kind="graphs",
        container="",
        bytes_per_step=None,
        function="step",
        element="FuncGraph",
        operations=900,
    )
    finding = one(findings(evidence(graphs)))
    assert finding.code == "MEM002" and "step" in finding.title and finding.where[0].line == 27
    few = grower(kind="graphs", container="", bytes_per_step=None, first=2, last=4, element="FuncGraph")
    assert not findings(evidence(few))
    default = grower(kind="graphs", container="", bytes_per_step=None, element="operation")
    assert "default graph" in one(findings(evidence(default))).title


SESSION = """\
import tensorflow.compat.v1 as tf
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(300):
        {line}
        session.run(train)
"""


def session(line: str, hits: int = 80) -> Evidence:
    samples = make_samples(
        [
            (hits, "python", [Frame(FILE, 1, "<module>", 5)]),
            (100 - hits, "graph", [Frame(FILE, 1, "<module>", 6)]),
        ]
    )
    return make_evidence(source=SESSION.format(line=line), samples=samples, steps=StepTable())


def test_operations_made_in_a_loop_of_a_session() -> None:
    finding = one(findings(session("session.run(tf.assign(rate, 0.1 * 0.99 ** step))")))
    assert (finding.code, finding.basis, finding.where[0].line) == ("MEM002", "run", 5)
    assert finding.gain.bounds is not None and finding.gain.bounds[0] == pytest.approx(1 / 0.6)


def test_a_session_that_only_runs_is_left_in_peace() -> None:
    assert not findings(session("session.run(set_rate, {new_rate: 0.1})"))
    assert not findings(session("session.run(tf.assign(rate, 0.1))", hits=2))


def test_the_limit() -> None:
    finding = one(findings(evidence(share_of_limit=0.95, rss_peak_bytes=int(0.95 * LIMIT), limit_source="machine")))
    assert (finding.code, finding.severity) == ("MEM003", "medium")
    assert not findings(evidence(share_of_limit=0.89, rss_peak_bytes=int(0.89 * LIMIT)))
    gpu = DeviceMemory(device="GPU:0", peak_bytes=98, last_bytes=90, limit_bytes=100)
    assert one(findings(evidence(devices=(gpu,)))).severity == "high"


def test_without_records_every_rule_is_silent() -> None:
    assert not findings(make_evidence(parts_ms={"graph": 10.0}))
