"""Work after each epoch, and steps that get longer, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_account, make_evidence, make_samples
from tfperfkit_probes.input.model import InputData, KerasInput, Pipeline, Stage
from tfperfkit_probes.memory.model import Grower, MemoryData
from tfperfkit_rules.measures.trend import trend
from tfperfkit_rules.step import epoch_ends, slowing

from tfperfkit.gain import saving
from tfperfkit.model import History, SourceSpan, Work
from tfperfkit.records.history import Period
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Loop, Step, StepTable
from tfperfkit.syntax.container_passes import find_container_passes
from tfperfkit.syntax.module import parse

FIT = ("keras.src.backend.tensorflow.trainer:fit",)


def fitted(
    after_ms: int,
    *,
    activity: str = "graph",
    context: str = "evaluate",
    called: Any = FIT,
    epochs: int = 8,
    data: Any = None,
) -> Any:
    """Epochs of 10 steps of 10 ms; after each something takes this long. A sample every 5 ms."""
    steps, taken, when = [], [], 0
    for epoch in range(epochs):
        for n in range(10):
            steps.append(Step(epoch * 10 + n + 1, when, when + 10 * MS, window="clean"))
            taken += [(when + MS, 1), (when + 6 * MS, 1)]
            when += 10 * MS
        taken += [(when + n * MS, 2) for n in range(0, after_ms, 5)]
        when += after_ms * MS
    frame = (Frame(FILE, 1, "<module>", 2, None, called),)
    stacks = {1: Stack(frame, "keras", "graph"), 2: Stack(frame, "keras", activity, context)}
    source = "saver = keras.callbacks.ModelCheckpoint(p)\nnet.fit(x, y, validation_data=held)\n"
    return make_evidence(
        parts_ms={"graph": 10.0},
        steps=StepTable(steps=tuple(steps), source="keras"),
        source=source,
        log=SampleLog(stacks, taken),
        wall_s=when / 1e9 + 1,
        data=data,
    )


def test_validation_that_takes_longer_than_short_epochs_is_reported_as_a_share_of_the_run() -> None:
    (finding,) = epoch_ends.after_epochs(fitted(200))
    assert (finding.code, finding.basis, finding.where[0]) == ("STP006", "run", SourceSpan(FILE, 2))
    assert finding.share_of_step == pytest.approx(1.6 / 3.4, abs=0.02)
    assert "validation_freq=5" in finding.advice
    low, high = finding.gain.bounds or (0, 0)
    assert 1.2 < low < high < 1.8  # never more than what it takes
    assert {row.name: row.value for row in finding.evidence}["epochs counted"] == 8


def validated(size: int, kind: str = "tf.data") -> Any:
    """``fit`` trains in batches of 64 and validates 256 examples in batches of this size."""

    def make_pipeline(role: str, batch: int, line: int) -> Pipeline:
        made = Stage(kind="Batch", cls="", file=FILE, line=line, by="user", parameters={"batch_size": batch})
        each = {"file": FILE, "line": 2, "function": "", "role": role}
        return Pipeline(stages=(made,), in_training=role == "training", **each)

    given = {"kind": kind, "way": "fit", "validation": True, "file": FILE, "line": 2, "function": ""}
    arrays = {"batch_size": size, "batches": 256 // size} if kind == "arrays" else {}
    row = KerasInput(pipeline=1, **arrays, **given)
    pipelines = (make_pipeline("training", 64, 1), make_pipeline("validation", size, 3))
    return fitted(200, data={"input": InputData(pipelines=pipelines, steps=80, keras=(row,))})


def test_validation_in_batches_that_are_far_smaller_than_those_of_the_training() -> None:
    (finding,) = epoch_ends.after_epochs(validated(1))
    assert finding.title.startswith("Validation in batches of 1 takes ") and finding.where[0].line == 3
    assert ".batch(64)" in finding.advice
    (usual,) = epoch_ends.after_epochs(validated(32))
    assert "in batches" not in usual.title and usual.where[0].line == 2 and usual.gain.bounds is not None
    # How many there are is not known of a dataset: half of it may stay.
    assert finding.gain.bounds is not None and finding.gain.bounds[0] == usual.gain.bounds[0]
    assert finding.gain.bounds[1] > usual.gain.bounds[1]
    (arrays,) = epoch_ends.after_epochs(validated(4, kind="arrays"))
    assert "validation_batch_size=64" in arrays.advice and arrays.where[0].line == 2
    # 256 examples are four training steps of 10 ms of the 200 ms that it takes: no more than these stay.
    assert arrays.gain.bounds is not None and arrays.gain.bounds[0] > usual.gain.bounds[0]


def test_checkpoints_after_each_short_epoch_are_told_at_the_callback() -> None:
    (finding,) = epoch_ends.after_epochs(fitted(200, activity="saving", context="callback"))
    assert finding.title.startswith("Saving after each epoch") and [place.line for place in finding.where] == [1, 2]


def test_short_or_rare_validation_is_left_in_peace() -> None:
    assert not list(epoch_ends.after_epochs(fitted(20)))
    assert not list(epoch_ends.after_epochs(fitted(400, epochs=2)))


def test_what_the_script_evaluates_itself_is_not_fits_doing() -> None:
    assert not list(epoch_ends.after_epochs(fitted(200, called=("keras.src.backend.tensorflow.trainer:evaluate",))))


def test_of_the_work_that_is_the_validation_it_takes_all() -> None:
    given = fitted(200)
    given.work = Work(kind="call", where=SourceSpan(FILE, 2), seconds=1.7, share_of_run=0.5)
    (finding,) = epoch_ends.after_epochs(given)
    assert finding.basis == "step" and finding.share_of_step > 0.9 and "evaluate" in finding.parts


LOOP = """\
kept = []
for x in data:
    loss = step(x)
    kept.append(float(loss))
    mean = sum(kept) / len(kept)
print(max(kept))
"""


def steps_of(last_ms: float, *, count: int = 240, bend: float = 1.0) -> StepTable:
    """From 2 ms on; every 20th takes five times as long."""
    steps, when = [], 0
    for n in range(count):
        took = round((2.0 + (last_ms - 2.0) * (n / count) ** bend) * MS) * (5 if n % 20 == 7 else 1)
        steps.append(Step(n + 1, when, when + took, window="clean"))
        when += took
    return StepTable(steps=tuple(steps), source="custom", loop=Loop(FILE, 2))


def test_the_trend_does_not_mind_single_long_steps() -> None:
    found = trend(steps_of(6.0).clean)
    assert found is not None and found.order == 1.0
    assert found.first_ms == pytest.approx(2.0, abs=0.3) and found.last_ms == pytest.approx(6.0, abs=0.3)
    assert found.extra == pytest.approx(0.5, abs=0.05)
    flat = trend(steps_of(2.0).clean)
    assert flat is not None and flat.order == 0.0 and trend(steps_of(6.0, count=20).clean) is None


def grown(
    last_ms: float = 6.0,
    *,
    known: bool = True,
    sampled: bool = True,
    source: str = LOOP,
    records: Any = None,
    first: int = 1,
) -> Any:
    table = steps_of(last_ms)
    growers = (Grower(name="kept", kind="list", container="list", per_step=1, bytes_per_step=32, first=first,
                      last=240 + first, file=FILE, line=4, function="", found="grows"),)  # fmt: skip
    lines = {1: 3, 2: 5}
    stacks = {n: Stack((Frame(FILE, 1, "<module>", line),), "", "python") for n, line in lines.items()}
    taken = []
    for index, step in enumerate(table.steps):
        slow = sampled and 3 * (index % 80) < index  # more and more of the steps' samples are of the slow line
        taken.append((step.begin_ns + 1000, 2 if slow else 1))
    log = SampleLog(stacks, taken)
    return make_evidence(
        account=make_account({"python": 2.0, "graph": 2.0}),
        steps=table,
        source=source,
        log=log,
        samples=make_samples([(60, "graph", [Frame(FILE, 1, "<module>", 3)])]),
        data={"memory": MemoryData(growers=growers if known else ())},
        records=records or {},
    )


def test_steps_that_get_longer_are_told_with_the_line_and_what_grows() -> None:
    (finding,) = slowing.grows_slower(grown())
    assert (finding.code, finding.where[0]) == ("STP007", SourceSpan(FILE, 5))
    assert "2.17 ms at first, 5.84 ms at the end" in finding.title and SourceSpan(FILE, 4) in finding.where
    assert "kept = collections.deque(maxlen=100)" in finding.advice
    assert finding.gain.bounds and finding.gain.bounds[0] < 2 <= finding.gain.bounds[1] < 3


DUMPED = """\
import json
for x in data:
    record = {"loss": float(step(x))}
    kept.append(record)
    json.dump(kept, out)
"""


def test_what_is_written_whole_each_time_is_to_be_added_to() -> None:
    """Write a list: json could not write a deque."""
    (finding,) = slowing.grows_slower(grown(source=DUMPED))
    assert "Line 5 writes all of it each time" in finding.advice and "deque" not in finding.advice
    assert 'out.write(json.dumps(record) + "\\n") into a file opened with "a"' in finding.advice
    pickled = DUMPED.replace("json", "pickle")
    (finding,) = slowing.grows_slower(grown(source=pickled))
    assert "one file that is appended to" in finding.advice


def test_a_line_that_goes_through_much_at_first_already_goes_whole() -> None:
    """Half of the elements are there at the first step, so the line takes twice as much as it grows by, at best."""
    (empty,), (half,) = (slowing.grows_slower(grown(sampled=False, first=first)) for first in (1, 120))
    assert half.gain.low == empty.gain.low
    assert saving(half.gain.high or 1.0) > 1.5 * saving(empty.gain.high or 1.0)


def test_the_container_tells_the_line_where_samples_do_not() -> None:
    (finding,) = slowing.grows_slower(grown(sampled=False))
    assert finding.where[0] == SourceSpan(FILE, 5)


def test_the_line_is_reported_where_no_container_is_known() -> None:
    (finding,) = slowing.grows_slower(grown(known=False))
    assert finding.where[0] == SourceSpan(FILE, 5) and "running value" in finding.advice


@pytest.mark.parametrize(("later", "told"), [(1, True), (2, False)])
def test_another_model_that_trains_afterwards_is_no_growth(later: int, told: bool) -> None:
    """Two calls of ``fit`` after each other, the second for a larger model."""
    sites = [{"id": n, "kind": "batch", "target": n, "file": FILE, "line": 3 + n, "function": ""} for n in (1, 2)]
    table = steps_of(6.0)
    half = len(table.steps) // 2
    markers = [[1 if index < half else later, step.begin_ns, step.end_ns, 1] for index, step in enumerate(table.steps)]
    assert bool(list(slowing.grows_slower(grown(records={"sites": sites, "markers": markers})))) == told


def test_a_second_loop_whose_steps_take_longer_is_no_growth() -> None:
    two = "kept = []\nfor x in data:\n    step(x)\nfor x in data:\n    train(x)\n"
    assert not list(slowing.grows_slower(grown(known=False, source=two)))
    one = "kept = []\nfor x in data:\n    step(x)\n    for y in x:\n        train(y)\n"
    assert list(slowing.grows_slower(grown(known=False, source=one)))


def watched(grows: bool = True, *, slow_line: bool = True) -> Any:
    """Return a run of hours in watch mode: 120 steps of its begin, 120 of its end, each alike among themselves."""
    steps, when = [], 0
    for n in range(240):
        when += 3600 * 1000 * MS if n == 120 else 0
        took = round((2.0 if n < 120 or not grows else 6.0) * MS)
        steps.append(Step(n + 1 if n < 120 else n + 1_000_000, when, when + took, window="clean"))
        when += took
    gap = (steps[119].end_ns, steps[120].begin_ns)
    table = StepTable(steps=tuple(steps), source="custom", loop=Loop(FILE, 2), gaps=(gap,), dropped=999_880)
    medians = [2 + 4 * n / 59 if grows else 2 + n % 2 / 100 for n in range(60)]
    periods = tuple(
        Period(begin_s=60.0 * n, end_s=60.0 * n + 60, steps=9000, median_ms=m) for n, m in enumerate(medians)
    )
    stacks = {n: Stack((Frame(FILE, 1, "<module>", line),), "", "python") for n, line in ((1, 3), (2, 5))}
    late = 2 if slow_line else 1
    log = SampleLog(stacks, [(s.begin_ns + 1000, late if n >= 120 and n % 4 else 1) for n, s in enumerate(steps)])
    return make_evidence(
        account=make_account({"python": 2.0, "graph": 2.0}),
        steps=table,
        source=LOOP,
        log=log,
        samples=make_samples([(60, "graph", [Frame(FILE, 1, "<module>", 3)])]),
        history=History(periods=periods, dropped_steps=999_880),
    )


def test_in_watch_mode_the_trend_is_of_all_of_the_run() -> None:
    """The first and the last steps, which are all that was kept, show two levels and no trend."""
    given = watched()
    found = trend(given.steps.clean)
    assert found is not None and found.order < 0.7
    (finding,) = slowing.grows_slower(given)
    assert (finding.code, finding.where[0]) == ("STP007", SourceSpan(FILE, 5))
    assert "2.14 ms at first, 5.86 ms at the end" in finding.title
    assert "share of the last steps that were kept at this line" in [each.name for each in finding.evidence]
    assert not list(slowing.grows_slower(watched(grows=False)))
    assert not list(slowing.grows_slower(watched(slow_line=False)))  # a machine that gets slower


def test_a_machine_that_gets_slower_is_no_cause() -> None:
    assert not list(slowing.grows_slower(grown(known=False, sampled=False)))
    only_kept = LOOP.replace("    mean = sum(kept) / len(kept)\n", "    mean = sum(kept[-100:]) / 100\n")
    assert not list(slowing.grows_slower(grown(sampled=False, source=only_kept)))
    assert not list(slowing.grows_slower(grown(2.05)))


@pytest.mark.parametrize(
    ("line", "reads"),
    [
        ("y = sum(kept)", True),
        ("kept = np.concatenate([kept, new])", True),
        ("kept.sort()", True),
        ("z = [a for a in kept]", True),
        ("if x in kept: pass", True),
        ("self.y = f(*self.kept)", True),
        ("kept.append(x)", False),
        ("other.append(kept)", False),
        ("n = len(kept)", False),
        ("y = sum(kept[-10:])", False),
        ("y = kept[3]", False),
    ],
)
def test_what_goes_through_all_of_a_container(line: str, reads: bool) -> None:
    syntax = parse((f"{line}\n",))
    assert syntax is not None and find_container_passes(syntax, "kept") == ([1] if reads else [])
