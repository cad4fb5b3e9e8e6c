"""Which loops and calls outside of training steps take a run's time, told by made samples."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.analysis.work.busy import Busy, busy
from tfperfkit.analysis.work.iterations import iterations, went_on
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.source_span import SourceSpan
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import Loop, Marker, Site

SOURCE = """\
import tensorflow as tf

def score(row):
    total = 0
    for value in row:
        total += value
    return total

def main():
    prepared = prepare()
    for repeat in range(3):
        for row in rows:
            score(row)
    return [score(row) for row in rows]

main()
"""
SOURCES = {"a.py": tuple(SOURCE.splitlines())}
MS = 1_000_000


def stack(*lines: int) -> Stack:
    """Frames at these lines, outermost first."""
    names = {
        16: ("<module>", 1),
        10: ("main", 9),
        13: ("main", 9),
        14: ("main", 9),
        6: ("score", 3),
        1: ("<module>", 1),
    }
    return Stack(
        tuple(Frame("a.py", *reversed(names.get(line, ("main", 9))), line) for line in lines), "", "python", ""
    )


def log(*parts: tuple[Stack, int]) -> SampleLog:
    """Samples, one each 10 ms, so many of each stack in turn; the very first one begins the log."""
    stacks = {number: each for number, (each, _) in enumerate(parts, 1)}
    order = [number for number, (_, count) in enumerate(parts, 1) for _ in range(count)]
    taken = [(10 * MS * index, number) for index, number in enumerate([order[0], *order])]
    return SampleLog(stacks, taken, [(0, 10 * MS)])


def found(made: SampleLog, training: Spans | None = None) -> list[Busy]:
    whole = made.whole[0]
    return busy(made, training or Spans(), SOURCES, whole[1] - whole[0])


def test_the_innermost_loop_that_holds_nearly_all_the_time_is_the_work() -> None:
    (work,) = found(log((stack(16, 13, 6), 95), (stack(16, 13), 5)))
    assert work.kind == "loop" and work.where == SourceSpan("a.py", 5, "score")
    assert work.loops == (Loop("a.py", 11), Loop("a.py", 12), Loop("a.py", 5))
    (work,) = found(log((stack(16, 13, 6), 70), (stack(16, 13), 30)))
    assert work.where == SourceSpan("a.py", 12, "main")


def test_loops_in_turn_are_each_a_work_and_a_long_call_is_one_too() -> None:
    works = found(log((stack(16, 10), 20), (stack(16, 13), 50), (stack(16, 14), 30)))
    assert [(work.kind, work.loops[0].line if work.loops else work.where.line) for work in works] == [
        ("loop", 11),
        ("loop", 14),
        ("call", 10),
    ]
    assert [round(work.ns / MS) for work in works] == [500, 300, 200]


def test_a_loop_that_is_reached_from_several_places_is_one_work() -> None:
    """Call a function once to try it, and then in a loop."""
    (work,) = found(log((stack(16, 14, 6), 25), (stack(16, 13, 6), 70), (stack(16, 10), 5)))
    assert work.where == SourceSpan("a.py", 5, "score") and work.loops[0] == Loop("a.py", 11)
    assert round(work.ns / MS) == 950
    (work,) = found(log((stack(16, 14, 6), 4), (stack(16, 13, 6), 96)))
    assert round(work.ns / MS) == 1000


def test_what_takes_less_than_a_tenth_or_trains_or_imports_is_none() -> None:
    assert len(found(log((stack(16, 13, 6), 95), (stack(16, 10), 5)))) == 1
    assert found(log((stack(1), 100))) == []
    made = log((stack(16, 13, 6), 100))
    assert found(made, Spans([(0, 1000 * MS)])) == []
    assert found(SampleLog({}, [])) == [] if SampleLog({}, []).whole else True


@given(st.lists(st.sampled_from([(16, 10), (16, 13), (16, 13, 6), (16, 14, 6), (1,)]), min_size=2, max_size=200))
def test_no_time_is_counted_twice(lines: list[tuple[int, ...]]) -> None:
    made = log(*[(stack(*each), 1) for each in lines])
    works = found(made)
    whole = made.whole[0][1] - made.whole[0][0]
    assert sum(work.ns for work in works) <= whole
    spans = sorted(span for work in works for span in work.spans)
    assert all(before[1] <= after[0] for before, after in zip(spans, spans[1:], strict=False))


def test_iterations_begin_with_the_call_that_each_of_them_makes_first() -> None:
    (work,) = found(log((stack(16, 13, 6), 70), (stack(16, 13), 30)))
    loops = (Loop("a.py", 11), Loop("a.py", 12))
    sites = [
        Site(id=1, kind="next", target=0, file="a.py", line=12, loops=loops),
        Site(id=2, kind="call", target=1, file="a.py", line=13, loops=loops),
        Site(id=3, kind="call", target=1, file="a.py", line=6, loops=(*loops, Loop("a.py", 5))),
    ]
    markers = []
    for number in range(5):
        at = 100 * MS * number
        markers += [
            Marker(1, at, at + MS),
            Marker(2, at + 10 * MS, at + 20 * MS),
            Marker(3, at + 15 * MS, at + 16 * MS),
        ]
    table = iterations(work, sites, markers, [])
    assert [step.begin_ns for step in table.steps] == [100 * MS * number for number in range(5)]
    assert [step.window for step in table.steps] == ["warmup", "warmup", "clean", "clean", "clean"]
    assert table.source == "work" and table.definition == "one iteration of the loop at a.py:12"


def test_iterations_after_the_last_timed_one_are_known_to_be_more() -> None:
    loop = Loop("a.py", 12)
    work = Busy("loop", SourceSpan("a.py", 12, "main"), (loop,), Spans([(0, 2000 * MS)]))
    site = Site(id=1, kind="session", target=0, file="a.py", line=13, loops=(loop,))
    for count, more in ((100, True), (200, False)):
        markers = [Marker(1, 10 * MS * number, 10 * MS * number + MS) for number in range(count)]
        table = iterations(work, [site], markers, [])
        assert table.count == count and went_on(work, table) == more


def test_a_loop_that_also_trains_has_no_iterations_of_its_own() -> None:
    """Each epoch trains and then reads 20 texts aloud: from one epoch's first text to the next one's lies training."""
    loop = Loop("a.py", 12)
    each = 1000 * MS
    spans = Spans([(epoch * each + 800 * MS, (epoch + 1) * each) for epoch in range(6)])
    work = Busy("loop", SourceSpan("a.py", 13, "main"), (loop,), spans)
    site = Site(id=1, kind="predict", target=0, file="a.py", line=13, loops=(loop,))
    markers = [Marker(1, epoch * each + 800 * MS, epoch * each + 900 * MS) for epoch in range(6)]
    table = iterations(work, [site], markers, [])
    assert table.definition == "the loop at a.py:13, all of it"
    assert [(step.begin_ns, step.end_ns) for step in table.steps] == list(spans)
    assert table.count == 1


def test_what_a_library_repeats_has_iterations_from_call_to_call() -> None:
    """Let an optimizer of SciPy call the user's function, which calls a compiled one: the source has no loop."""
    work = Busy("call", SourceSpan("a.py", 30, "fit"), (), Spans([(0, 1000 * MS)]))
    site = Site(id=1, kind="function", target=0, file="a.py", line=12)
    inside = [Marker(1, 100 * MS * number, 100 * MS * number + 60 * MS) for number in range(10)]
    again = [Marker(1, 5000 * MS + 10 * MS * number, 5001 * MS + 10 * MS * number) for number in range(10)]
    table = iterations(work, [site], [*inside, *again], [(0, 250 * MS, "lines")])
    assert [step.begin_ns for step in table.steps] == [100 * MS * number for number in range(10)]
    assert table.definition == "one iteration of the call at a.py:30" and table.loop is None
    assert iterations(work, [site], inside[:2], []).definition == "the call at a.py:30", "two calls are no repetition"


def test_work_is_not_joined_over_training() -> None:
    taken = log((stack(16, 13, 6), 40), (stack(16, 14, 6), 1), (stack(16, 13, 6), 40))
    (joined,) = found(taken)
    (apart,) = found(taken, Spans([(400 * MS, 410 * MS)]))
    assert len(list(joined.spans)) == 1 and len(list(apart.spans)) == 2


def test_without_such_calls_all_that_is_outside_of_windows_is_one_step() -> None:
    (work,) = found(log((stack(16, 13, 6), 100)))
    table = iterations(work, [], [], [(200 * MS, 400 * MS, "lines")])
    assert [(step.begin_ns, step.end_ns) for step in table.clean] == [(0, 200 * MS), (400 * MS, 1000 * MS)]
    assert table.count == 1
    assert table.definition == "the loop at a.py:5, all of it"
    table = iterations(work, [], [], [(0, 2000 * MS, "lines")])
    assert [(step.begin_ns, step.end_ns) for step in table.steps] == [(0, 1000 * MS)]


def test_of_a_call_that_repeats_nothing_a_lesser_part_tells_nothing() -> None:
    """Open a window over most of the call: all of the call is the step, unless training lies in between."""
    taken = log((stack(16, 10), 100))
    (work,) = found(taken)
    assert work.kind == "call"
    table = iterations(work, [], [], [(300 * MS, 2000 * MS, "tfprof")])
    assert [(step.begin_ns, step.end_ns) for step in table.steps] == [(0, 1000 * MS)]
    table = iterations(work, [], [], [(600 * MS, 2000 * MS, "tfprof")])
    assert [(step.begin_ns, step.end_ns) for step in table.steps] == [(0, 600 * MS)]
    (apart,) = found(taken, Spans([(300 * MS, 700 * MS)]))
    table = iterations(apart, [], [], [(100 * MS, 2000 * MS, "tfprof")])
    assert [(step.begin_ns, step.end_ns) for step in table.steps] == [(0, 300 * MS), (700 * MS, 1000 * MS)]


def test_a_line_that_starts_the_script_is_no_work() -> None:
    """``main()`` at line 16 calls two lines that take half each, and one line that is short."""
    taken = log((stack(16, 10), 45), (stack(16, 9), 50), (stack(16, 14), 5))
    assert [(work.kind, work.where.line) for work in found(taken)] == [("call", 9), ("call", 10)]


def test_a_call_that_is_reached_from_several_places_is_one_work() -> None:
    """Two lines of ``main()`` lead to the same line of a function, as an optimizer's first call and its later ones."""
    (work,) = found(log((stack(16, 10, 4), 45), (stack(16, 9, 4), 50), (stack(16, 10, 4), 5)))
    assert work.where.line == 4 and round(work.ns / MS) == 1000
