"""STP014: an array that is copied whole to make it longer; silent where nothing grows."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_account, make_evidence, make_samples
from tfperfkit_rules.measures.whole_copies import find_whole_copies
from tfperfkit_rules.step.whole_copies import copied_to_grow

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import SourceSpan, Work
from tfperfkit.offers import RanOperation, RanOperations
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Loop, Step, StepTable
from tfperfkit.syntax.module import parse

HEAD = "import numpy as np\nimport tensorflow as tf\n"
LOOP = HEAD + "for batch in data:\n    kept = np.append(kept, embed(batch), axis=0)\n"
COPYING = Stack((Frame(FILE, 1, "<module>", 4, (4, 4, 11, 48)),), "numpy", "python")
EMBEDDING = Stack((Frame(FILE, 1, "<module>", 4, (4, 4, 27, 39)),), "tensorflow", "graph")


def looped(source: str = LOOP, *, copying: Stack = COPYING, first: int = 10, last: int = 50) -> Any:
    """100 iterations of 10 ms; of the samples of the first half so many were in the copy, of the second so many."""
    steps = tuple(Step(n + 1, n * 10 * MS, (n + 1) * 10 * MS, window="clean") for n in range(100))
    taken = []
    for n in range(100):
        copies = n % 50 < (first if n < 50 else last)
        taken.append((n * 10 * MS + MS, 1 if copies else 2))
    rows = [(first + last, copying), (100 - first - last, EMBEDDING)]
    samples = make_samples([])
    for number, stack in rows:
        samples.add(stack, number)
    return make_evidence(
        account=make_account({"python": 6.0, "graph": 4.0}),
        steps=StepTable(steps=steps, source="custom", loop=Loop(FILE, 3)),
        source=source,
        log=SampleLog({1: copying, 2: EMBEDDING}, taken),
        samples=samples,
    )


def test_a_copy_that_grows_is_reported_with_its_line_and_how_to_join_once() -> None:
    (finding,) = copied_to_grow(looped())
    assert (finding.code, rank([finding])[0].severity, finding.where[0]) == ("STP014", "high", SourceSpan(FILE, 4))
    assert finding.title == "np.append copies all of kept each time: 60 % of a step"
    assert "kept = np.concatenate(parts, axis=0) after the loop" in finding.advice
    assert "parts = [kept] before the loop, parts.append(embed(batch)) in line 4" in finding.advice
    low, high = finding.gain.bounds or (0, 0)
    assert 1.5 < low < high < 4


def test_what_else_runs_on_the_line_is_not_the_copy() -> None:
    assert not list(copied_to_grow(looped(copying=EMBEDDING)))


def test_a_copy_that_takes_as_long_at_the_end_is_left_in_peace() -> None:
    assert not list(copied_to_grow(looped(first=30, last=30)))


def anew(*durations_ms: int) -> Any:
    """400 turns in four runs of the loop, of which each takes these times for its quarters; all samples in the copy."""
    steps, taken, at = [], [], 0
    for n in range(400):
        took = durations_ms[n % 100 // 25] * MS
        steps.append(Step(n + 1, at, at + took, window="clean"))
        taken += [(at + moment, 1) for moment in range(MS // 2, took, MS)]
        at += took
    samples = make_samples([])
    samples.add(COPYING_TENSORS, len(taken))
    return make_evidence(
        account=make_account({"eager_ops": 4.0}),
        steps=StepTable(steps=tuple(steps), source="custom", loop=Loop(FILE, 3)),
        source=HEAD + "for batch in data:\n    kept = tf.concat([kept, batch], axis=0)\n",
        log=SampleLog({1: COPYING_TENSORS}, taken),
        samples=samples,
    )


COPYING_TENSORS = Stack((Frame(FILE, 1, "<module>", 4, (4, 4, 11, 43)),), "tensorflow", "eager_ops")


def test_an_array_that_begins_anew_grows_within_each_run_of_its_loop() -> None:
    (finding,) = copied_to_grow(anew(1, 3, 5, 7))
    assert finding.title == "tf.concat copies all of kept each time: 100 % of a step"
    assert not list(copied_to_grow(anew(4, 4, 4, 4)))
    assert not list(copied_to_grow(anew(7, 3, 3, 3)))  # it falls, and does not grow


def test_a_memory_of_a_fixed_size_need_not_grow() -> None:
    ring = LOOP.replace("axis=0)", "axis=0)[-500:]")
    (finding,) = copied_to_grow(looped(ring, first=30, last=30))
    assert "as a ring buffer: kept[added % 500] = embed(batch); added += 1." in finding.advice


COLUMNS = (
    HEAD
    + """\
class Memory:
    def add(self, state, action):
        self.states = np.vstack([self.states, state])[-self.size :]
        self.actions = np.append(self.actions, action)[-self.size :]
"""
)


def test_the_columns_of_a_memory_are_one_finding() -> None:
    states = Stack((Frame(FILE, 3, "add", 5, (5, 5, 22, 53)),), "numpy", "python")
    actions = Stack((Frame(FILE, 3, "add", 6, (6, 6, 23, 54)),), "numpy", "python")
    evidence = looped(COLUMNS, copying=states)
    evidence.samples.add(actions, 20)
    (finding,) = copied_to_grow(evidence)
    assert finding.title == "np.vstack copies all of self.states and self.actions each time: 67 % of a step"
    assert [place.line for place in finding.where] == [5, 6]
    assert "self.states[self.added % self.size] = state; self.added += 1." in finding.advice
    assert "Do the same for self.actions." in finding.advice


@pytest.mark.parametrize(
    ("line", "join"),
    [
        ("for x in d: kept = np.append(kept, x)", "np.hstack(parts)"),
        ("for x in d: kept = np.append(kept, x, axis=1)", "np.concatenate(parts, axis=1)"),
        ("for x in d: kept = tf.concat([kept, x], 1)", "tf.concat(parts, axis=1)"),
        ("for x in d: kept = tf.concat([kept, x], axis=-1)", "tf.concat(parts, axis=-1)"),
    ],
)
def test_parts_are_joined_along_the_axis_of_the_copy(line: str, join: str) -> None:
    syntax = parse((*HEAD.splitlines(keepends=True), f"{line}\n"))
    assert syntax is not None
    (copied,) = find_whole_copies(syntax)
    assert (copied.join, copied.new) == (join, "x")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("for x in d: kept = np.append(kept, x)", True),
        ("for x in d: kept = np.concatenate([kept, x])", True),
        ("for x in d: kept = tf.concat((kept, x), axis=0)", True),
        ("while x: kept = np.vstack([x, kept])[-9:]", True),
        ("def add(self, x): self.kept = np.vstack([self.kept, x])", True),
        ("kept = np.append(kept, x)", False),
        ("def add(kept, x): kept = np.append(kept, x)", False),
        ("for x in d: kept = np.concatenate([kept[1:], x])", False),
        ("for x in d: both = np.concatenate([kept, x])", False),
        ("for x in d: kept = join(kept, x)", False),
        ("for x in d: kept.append(x)", False),
    ],
)
def test_what_copies_an_array_to_make_it_longer(line: str, found: bool) -> None:
    syntax = parse((*HEAD.splitlines(keepends=True), f"{line}\n"))
    assert syntax is not None and bool(find_whole_copies(syntax)) == found


@pytest.mark.parametrize(
    ("source", "name", "join"),
    [
        ("class M:\n    def add(self, s):\n        self.s = np.r_[self.s, s]\n", "self.s", "np.concatenate(parts)"),
        ("for s in data:\n    kept = np.c_[kept, s]\n", "kept", "np.column_stack(parts)"),
        ("for s in data:\n    kept = tf.concat(axis=0, values=[kept, s])\n", "kept", "tf.concat(parts, axis=0)"),
        ("for s in data:\n    a, b = f(s), np.append(b, s)\n", "b", "np.hstack(parts)"),
        (
            "def add(old, new):\n    return np.vstack([old, new])\nfor s in data:\n    kept = add(kept, s)\n",
            "kept",
            "np.vstack(parts)",
        ),
        ("def note(row):\n    table.loc[len(table)] = row\n", "table", "pd.concat(parts)"),
    ],
)
def test_other_ways_to_write_it(source: str, name: str, join: str) -> None:
    syntax = parse(tuple((HEAD + source).splitlines()))
    assert syntax is not None
    (copied,) = find_whole_copies(syntax)
    assert (copied.name, copied.join, copied.kept) == (name, join, False)


@pytest.mark.parametrize(
    "source",
    [
        "for s in data:\n    kept = np.r_[s, s]\n",
        "for s in data:\n    a, b = np.append(b, s), 0\n",
        "def add(old, new):\n    return np.vstack([new, new])\nfor s in data:\n    kept = add(kept, s)\n",
        "def add(old, new):\n    return np.vstack([old, new])\nboth = add(both, s)\n",
        "table.loc[len(other)] = row\n",
    ],
)
def test_what_does_not_get_longer_by_it(source: str) -> None:
    syntax = parse(tuple((HEAD + source).splitlines()))
    assert syntax is not None and not find_whole_copies(syntax)


CHANGED = (
    HEAD + "for i, t in enumerate(words):\n    seen = tf.tensor_scatter_nd_add(seen, [[t, i]], tf.constant([1.0]))\n"
)


def changed(source: str = CHANGED, *, work: bool = True) -> Any:
    """Return a loop in one piece, all of it one operation of a tensor."""
    taking = Stack((Frame(FILE, 1, "<module>", 4, (4, 4, 11, 71)),), "tensorflow", "eager_ops")
    samples = make_samples([])
    samples.add(taking, 100)
    given = make_evidence(account=make_account({"eager_ops": 10.0}), source=source, samples=samples)
    given.work = Work(kind="loop", where=SourceSpan(FILE, 3), seconds=3.0, share_of_run=0.5) if work else None
    return given


def test_a_tensor_that_is_copied_whole_to_change_one_element() -> None:
    (finding,) = copied_to_grow(changed())
    assert finding.title.startswith("tf.tensor_scatter_nd_add copies all of seen each time: 100 %")
    assert "before the loop, seen[t, i] += 1.0 in line 4" in finding.advice
    assert list(copied_to_grow(changed(work=False)))  # no tape is near


@pytest.mark.parametrize(
    "tape",
    ["with tf.GradientTape() as tape:\n    pass\ntape = tf.GradientTape()\n", "loss = tf.gradients(kept, seen)\n"],
)
def test_a_tensor_in_a_step_may_be_differentiated_by_a_tape_that_code_enters_elsewhere(tape: str) -> None:
    assert not list(copied_to_grow(changed(CHANGED + tape, work=False)))


def test_a_tensor_that_is_changed_under_a_tape_is_left_in_peace() -> None:
    taped = HEAD + "for i in range(9):\n    with tf.GradientTape() as tape:\n        {}\n"
    copying = "seen = tf.tensor_scatter_nd_add(seen, [[3, i]], tf.constant([1.0]))"
    taking = Stack((Frame(FILE, 1, "<module>", 5, (5, 5, 15, 75)),), "tensorflow", "eager_ops")
    samples = make_samples([])
    samples.add(taking, 100)
    for source, found in ((taped, 0), (taped.replace("with tf.GradientTape() as tape", "if True"), 1)):
        account = make_account({"eager_ops": 10.0})
        evidence = make_evidence(account=account, source=source.format(copying), samples=samples)
        assert len(list(copied_to_grow(evidence))) == found


REPLAY = (
    HEAD
    + """\
class Replay:
    def store(self, row):
        at = [[self.count]]
        self.rows = tf.tensor_scatter_nd_update(self.rows, at, [row])
        self.ends = tf.tensor_scatter_nd_update(self.ends, at, [[0.0]])
        self.seen.assign(tf.tensor_scatter_nd_add(self.seen, at, [1]))
"""
)


def replay(*lines: int, rows: tuple[RanOperation, ...] = ()) -> Any:
    columns = {6: (20, 69), 7: (20, 71), 8: (25, 69)}
    samples = make_samples([])
    for line in lines:
        samples.add(
            Stack((Frame(FILE, 4, "store", line, (line, line, *columns[line])),), "tensorflow", "eager_ops"), 50
        )
    given = make_evidence(
        account=make_account({"eager_ops": 10.0}),
        source=REPLAY,
        samples=samples,
        offers={"tfprof": [RanOperations(rows=rows, steps=10)]} if rows else {},
    )
    return given


def test_a_tensor_in_an_attribute_becomes_a_variable_that_changes_in_place() -> None:
    (finding,) = copied_to_grow(replay(6, 7))
    assert finding.title == (
        "tf.tensor_scatter_nd_update copies all of self.rows and self.ends each time: 100 % of a step"
    )
    assert "self.rows = tf.Variable(self.rows)." in finding.advice
    assert "self.rows.scatter_nd_update(at, [row]) in line 6. Do the same for self.ends." in finding.advice


def test_a_variable_that_is_assigned_its_changed_copy_is_changed_in_place() -> None:
    (finding,) = copied_to_grow(replay(8))
    assert finding.advice.startswith("Change the variable in place: self.seen.scatter_nd_add(at, [1]) in line 8.")


def test_a_trace_shows_whether_such_a_tensor_is_large() -> None:
    def scattered(ms: float) -> RanOperation:
        return RanOperation(name="scatter", type="TensorScatterUpdate", count=400, self_ms=400 * ms, where="eager")

    assert list(copied_to_grow(replay(6, rows=(scattered(0.5),))))
    assert not list(copied_to_grow(replay(6, rows=(scattered(0.03),))))


@pytest.mark.parametrize(
    "at", ["at = rows_of(batch)", "at = [[1], [2]]", "at = [[self.count]]\n        at.append([2])", "pass"]
)
def test_rows_of_an_unknown_number_may_well_be_much_of_a_tensor(at: str) -> None:
    source = REPLAY.replace("at = [[self.count]]", at).replace("[row]", "row").replace("[[0.0]]", "zeros")
    syntax = parse(tuple(source.replace("[1]))", "ones))").splitlines()))
    assert syntax is not None and not find_whole_copies(syntax)


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(9):\n    seen = tf.tensor_scatter_nd_add(other, [[i]], [1.0])\n",
        "for rows, new in data:\n    seen = tf.tensor_scatter_nd_update(seen, rows, new)\n",
        "for i in range(9):\n    seen = tf.tensor_scatter_nd_add(seen, [[i], [i + 1]], [1.0, 2.0])\n",
        "seen = tf.tensor_scatter_nd_add(seen, [[3]], [1.0])\n",
        "for i in range(9):\n    all.append(seen)\n    seen = tf.tensor_scatter_nd_add(seen, [[i]], [1.0])\n",
        "for i in range(9):\n    old = seen\n    seen = tf.tensor_scatter_nd_add(seen, [[i]], [1.0])\n",
    ],
)
def test_what_changes_much_of_a_tensor_or_once_may_well_copy_it(source: str) -> None:
    test_what_does_not_get_longer_by_it(source)
