"""The rule of family batch on made-up evidence: it fires on tiny batches, silent where a larger one gains nothing."""

from __future__ import annotations

from typing import Any

import pytest
from eager_builder import op, site, sites, traced
from evidence_builder import FILE, make_evidence, make_samples, make_steps, one
from tfperfkit_probes.input.model import InputData, Pipeline, Stage
from tfperfkit_rules.batch import size

from tfperfkit.model import SourceSpan

LOOP = "ds = ds.shuffle(1000).batch(1).prefetch(2)\nfor x, y in ds:\n    loss = step(x, y)\n"
SMALL = (op("MatMul", 4, 0.02, "graph"), op("Mul", 40, 0.03, "graph"))
LONG = (op("Conv2D", 4, 5.0, "graph"), op("Mul", 40, 0.03, "graph"))


def small(
    batch: int = 1,
    *,
    ops: Any = SMALL,
    graph_ms: float = 0.3,
    source: str = LOOP,
    feeds: Any = None,
    fed: Any = None,
    **parts: float,
) -> Any:
    given = {"python": 0.4, "graph": graph_ms, **parts}
    worked = {"input_ops": (fed,)} if fed else {}
    table = make_steps(3000, sum(given.values()), batch_size=batch)
    return make_evidence(
        parts_ms=given,
        steps=table,
        source=source,
        samples=make_samples([(90, "graph", ()), (2, "python", ())]),
        data={
            "tfprof": traced({"python": 0.4, "graph": graph_ms}, ops, **worked),
            **({"input": feeds} if feeds else {}),
        },
        records=sites(site(1, "next", 2, loops=(2,)), site(2, "call", 3, loops=(2,))),
    )


def test_single_examples_are_reported_where_the_size_stands() -> None:
    finding = one(size.small_batch(small()))
    assert finding.where[0] == SourceSpan(FILE, 1)
    assert ".batch(32)" in finding.advice
    assert finding.gain.bounds and 4 < finding.gain.bounds[0] < 29 < finding.gain.bounds[1]


def test_a_named_size_is_reported_where_it_is_set() -> None:
    source = "BATCH = 2\n" + LOOP.replace("batch(1)", "batch(BATCH)")
    finding = one(size.small_batch(small(2, source=source)))
    assert [place.line for place in finding.where[:2]] == [1, 2]
    assert "batches of 32" in finding.advice


def test_a_step_that_computes_is_left_in_peace() -> None:
    assert not list(size.small_batch(small(8, ops=LONG, graph_ms=5.2)))


def test_a_usual_batch_or_other_causes_are_left_in_peace() -> None:
    assert not list(size.small_batch(small(32)))
    assert not list(size.small_batch(small(saving=2.0)))


def test_what_the_pipeline_works_for_a_batch_grows_with_it() -> None:
    resized, copied = (op("ResizeBicubic", 8, ms, "input") for ms in (0.6, 0.01))
    assert list(size.small_batch(small(8, fed=copied))) and not list(size.small_batch(small(8, fed=resized)))


def test_the_gain_is_amdahls_for_examples() -> None:
    assert size.gain(1.0, 0.0, 8) == 8
    assert size.gain(1.0, 1.0, 8) == 1
    assert size.gain(1.0, 0.5, 4) == pytest.approx(4 / 2.5)


def test_single_examples_made_a_batch_in_the_call_are_reported_there() -> None:
    source = "for xi, yi in zip(x, y):\n    model.train_on_batch(xi[None], yi[None])\n"
    given = small(0, source=source)
    again = sites(site(1, "train_on_batch", 2, loops=(1,)))
    given._records = lambda stream: again.get(stream, ())
    finding = one(size.small_batch(given))
    assert finding.where == (SourceSpan(FILE, 2), SourceSpan(FILE, 1))
    whole = small(0, source=source.replace("[None]", ""))
    whole._records = lambda stream: again.get(stream, ())
    assert not list(size.small_batch(whole))


def test_python_that_prepares_each_example_is_no_overhead_of_the_step() -> None:
    def feeds(ms: float) -> InputData:
        stage = Stage(kind="ParallelMap", cls="ParallelMapDataset", is_python=True, self_ms_per_step=ms)
        line = Pipeline(stages=(stage,), file=FILE, line=1, function="", role="training", in_training=True)
        return InputData(pipelines=(line,), steps=60)

    assert not list(size.small_batch(small(8, feeds=feeds(0.6))))
    assert list(size.small_batch(small(8, feeds=feeds(0.01))))
