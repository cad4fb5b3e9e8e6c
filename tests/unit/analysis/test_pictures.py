"""Pictures of a run: bars that stay few, a flame graph that agrees with the account, sources that stay small."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, MS, make_evidence, make_samples, make_steps

from tfperfkit.analysis.flame import flame, heat, part_lines
from tfperfkit.analysis.pictures import album, bars, timeline
from tfperfkit.model import (
    REPORT_SCHEMA,
    Finding,
    Measurement,
    Overhead,
    ProbeOutcome,
    ProbeResult,
    Report,
    RunInfo,
    SourceSpan,
    StepSummary,
)
from tfperfkit.offers import CompiledFunction, CompiledFunctions, CompiledLine, LineInGraph
from tfperfkit.picture import Series
from tfperfkit.records.pictures import MAX_BARS, Album
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.spans import Spans
from tfperfkit.report.html.render import page

SOURCE = "def train():\n    load()\n    step()\n"
LOAD = [Frame(FILE, 1, "train", 2)]
STEP = [Frame(FILE, 1, "train", 3)]
COMPILED = CompiledFunctions(
    functions=(
        CompiledFunction(
            function="step",
            file=FILE,
            line=9,
            ms=4.0,
            rest_ms=1.0,
            lines=(
                CompiledLine(parent=-1, name="step:10", file=FILE, line=10, ms=3.0),
                CompiledLine(parent=0, name="dense", file="", line=0, ms=2.0),
            ),
        ),
    ),
    own=(LineInGraph(file=FILE, line=10, forward_ms=1.0, backward_ms=2.0, update_ms=0.0),),
)


def evidence(**fields: Any) -> Any:
    samples = make_samples([(30, "python", LOAD), (20, "graph", STEP)])
    given = {"parts_ms": {"python": 2.0, "graph": 6.0, "gc": 2.0}, "samples": samples, "source": SOURCE}
    return make_evidence(**(given | fields))


def test_few_steps_are_a_bar_each() -> None:
    made = bars(make_steps(60).steps)
    assert [bar.step for bar in made] == list(range(1, 61))
    assert {bar.window for bar in made} == {"warmup", "clean"} and made[0].median_ms == 10.0


def test_100_000_steps_stay_few_bars_and_none_is_lost() -> None:
    made = bars(make_steps(100_000, warm=3).steps)
    assert len(made) <= MAX_BARS + 2
    assert sum(bar.count for bar in made) == 100_000
    assert made[0].window == "warmup" and made[0].count == 3  # a bar never holds steps of two windows


def test_what_happened_stands_at_its_step() -> None:
    given = evidence(tracing=[(12_000_000, 15_000_000)], collections=[(35_000_000, 35_100_000)])
    made = timeline(given)
    assert made is not None
    # A collection of 0.1 ms is nothing that could be seen.
    assert [(item.kind, item.step, item.ms) for item in made.happenings] == [("tracing", 2, 3.0)]


def test_the_flame_graph_is_as_wide_as_the_account() -> None:
    tree = flame(evidence())
    assert tree is not None
    by_name = {(node.name, node.line): node.value for node in tree.nodes}
    assert by_name["the mean step", 0] == 10.0
    assert by_name["train", 2] == pytest.approx(2.0)  # 60 % of the samples, but 20 % of the account
    assert by_name["train", 3] == pytest.approx(6.0)
    assert by_name["garbage collection (not in samples)", 0] == 2.0
    top = sum(node.value for node in tree.nodes if node.parent == 0)
    assert top == pytest.approx(10.0)


def test_collections_stand_at_the_line_behind_which_they_are_seen() -> None:
    """Of half the steps: behind the collections of the others no sample was taken in time."""
    table, stack, spans, taken = make_steps(60), Stack((Frame(FILE, 1, "train", 2, None, ()),), "", "python"), [], []
    for step in table.steps:
        spans.append((step.begin_ns, step.begin_ns + 4 * MS))
        taken += [(step.begin_ns + 4 * MS + 1000 * n, 1) for n in range(1, 3)]
    log = SampleLog({1: stack}, taken[: len(taken) // 2])
    given = make_evidence(
        parts_ms={"python": 6.0, "gc": 4.0},
        steps=table,
        source=SOURCE,
        log=log,
        samples=log.samples([(0, table.steps[-1].end_ns)]),
        collections=Spans(spans),
    )
    tree = flame(given)
    assert tree is not None
    by_name = {node.name: node for node in tree.nodes}
    assert by_name["garbage collection"].value == pytest.approx(2.0, abs=0.2)
    assert tree.nodes[by_name["garbage collection"].parent] is by_name["train"]
    assert by_name["garbage collection (not in samples)"].value == pytest.approx(2.0, abs=0.2)
    (row,) = [row for row in heat(given) if row.line == 2]
    assert row.python_ms == pytest.approx(8.0, abs=0.2)


def test_compiled_lines_stand_below_the_python_that_called_them() -> None:
    tree = flame(evidence(offers={"lines": (COMPILED,)}))
    assert tree is not None
    names = [node.name for node in tree.nodes]
    compiled = tree.nodes[names.index("step")]
    assert compiled.kind == "compiled" and compiled.value == pytest.approx(6.0)  # on the axis of the step
    line = tree.nodes[names.index("step:10")]
    assert tree.nodes[line.parent] is compiled and line.value == pytest.approx(4.5)  # 3 ms of 4 in the trace
    assert tree.nodes[tree.nodes[names.index("dense")].parent] is line
    for index, node in enumerate(tree.nodes[1:], 1):
        assert -1 < node.parent < index


def test_too_few_samples_tell_nothing() -> None:
    given = evidence(samples=make_samples([(3, "python", LOAD)]))
    assert flame(given) is None and part_lines(given) == {}


def test_heat_has_python_and_graph_of_a_line() -> None:
    rows = {row.line: row for row in heat(evidence(offers={"lines": (COMPILED,)}))}
    assert rows[2].python_ms == pytest.approx(2.0) and rows[10].backward_ms == 2.0


def test_parts_know_their_lines() -> None:
    found = part_lines(evidence())
    assert found["python"] == ((SourceSpan(FILE, 2, "train"), 2.0),)
    assert found["graph"] == ((SourceSpan(FILE, 3, "train"), 6.0),)


class Draws:
    """A probe with a picture."""

    api, name, cost, claims = 1, "draws", None, frozenset[str]()

    def record(self, recording: Any, /) -> Any: ...

    def analyze(self, capture: Any, /) -> ProbeResult:
        return ProbeResult()

    def pictures(self, capture: Any, result: ProbeResult, /) -> Any:
        return [Series(key="x", title=result.data["title"], x_label="s", x=(0.0,), lines=())]


class Fails(Draws):
    def pictures(self, capture: Any, result: ProbeResult, /) -> Any:
        raise ValueError("no")


@pytest.mark.parametrize(("probe", "titles"), [(Draws(), ["mine"]), (Fails(), []), (object(), [])])
def test_a_probe_may_draw_and_may_fail(probe: object, titles: list[str]) -> None:
    outcome = ProbeOutcome(name="draws", status="ok", data={"title": "mine"})
    made = album(evidence(), [outcome], [], lambda name: (probe, None))
    assert [picture.title for picture in made.pictures if picture.key == "x"] == titles


def test_sources_are_those_that_findings_and_samples_speak_of() -> None:
    other = {FILE: SOURCE, "unused.py": "x = 1\n", "long.py": "y" * 900_000 + "\n" * 1000}
    found = Finding(
        code="X001", family="step", title="", severity="low", share_of_step=0.1, advice="",
        where=(SourceSpan("long.py", 1), SourceSpan(FILE, 2)), evidence=(Measurement("a", 1.0, "ms"),),
    )  # fmt: skip
    made = album(evidence(source=other), [], [found], lambda name: (None, None))
    assert FILE in made.sources and "unused.py" not in made.sources
    assert sum(len(line) for lines in made.sources.values() for line in lines) < 400_000


def test_an_album_is_no_part_of_the_json_report() -> None:
    from tfperfkit.report.json import decode, encode

    whole = report_of(album(evidence(), [], [], lambda name: (None, None)))
    document = encode(whole)
    assert "album" not in json.loads(document) and decode(document).album is None


def report_of(made: Album) -> Report:
    run = RunInfo(argv=("train.py",), exit_code=0, status="finished")
    steps = StepSummary(count=100_000, source="custom", median_ms=10.0)
    return Report(schema=REPORT_SCHEMA, run=run, probes=(), steps=steps, findings=(), overhead=Overhead(), album=made)


def test_a_page_of_100_000_steps_is_small() -> None:
    events = [(n * 10_000_000, n * 10_000_000 + 2_000_000) for n in range(0, 100_000, 7)]
    given = evidence(steps=make_steps(100_000), tracing=events)
    html = page(report_of(album(given, [], [], lambda name: (None, None))))
    assert len(html.encode()) < 1_000_000
    assert len(msgspec.json.encode(timeline(given))) < 300_000
