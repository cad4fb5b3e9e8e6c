"""Calls that repeat an earlier one, from made-up records."""

from __future__ import annotations

from tfperfkit_probes.input.answers import asked_again, passed_twice

from tfperfkit.model import SourceSpan
from tfperfkit.records.pipelines import Answer
from tfperfkit.records.steps import Marker, Site

SECOND = 1_000_000_000


def site(number: int, kind: str, line: int) -> Site:
    return Site(id=number, kind=kind, target=1, name="m", file="a.py", line=line, function="f")  # type: ignore[arg-type]


def answer(at: float, line: int, key: str, way: str = "predict", inputs: str = "") -> Answer:
    return Answer(way=way, file="a.py", line=line, function="f", key=key, ns=round(at * SECOND), inputs=inputs)


def timed(begin: float, end: float, number: int = 1) -> Marker:
    return Marker(number, round(begin * SECOND), round(end * SECOND), 1)


def test_repeats_are_counted_and_timed_and_the_first_is_not() -> None:
    answers = [answer(n + 0.9, 5, "a" if n != 2 else "b") for n in range(5)]
    (row,) = asked_again(answers, [site(1, "predict", 5)], [timed(n, n + 1) for n in range(5)])
    assert (row.calls, row.repeats, row.seconds, row.in_vain) == (5, 3, 5.0, 3.0)
    assert (row.begin_ns, row.end_ns, row.before) == (round(-0.1 * SECOND), round(4.9 * SECOND), None)


def test_data_that_another_line_had_before() -> None:
    sites = [site(1, "predict", 5), site(2, "predict", 9), site(3, "evaluate", 7)]
    answers = [answer(0.9, 5, "a"), answer(1.9, 7, "a", "evaluate"), answer(2.9, 9, "a")]
    (row,) = asked_again(answers, sites, [timed(0, 1), timed(1, 2, 3), timed(2, 3, 2)])
    assert (row.line, row.calls, row.repeats, row.before) == (9, 1, 1, SourceSpan("a.py", 5, "f"))


def test_a_call_that_was_not_timed_is_unknown() -> None:
    answers = [answer(0.9, 5, "a"), answer(1.9, 5, "a"), answer(2.9, 5, "a")]
    assert not asked_again(answers, [site(1, "predict", 5)], [timed(0, 1)])
    assert not asked_again(answers, [site(1, "evaluate", 5)], [timed(n, n + 1) for n in range(3)])


SITES = [site(1, "predict", 9), site(2, "evaluate", 7), site(3, "train", 2)]


def in_turn(inputs: str = "x", other: str = "x") -> list[Answer]:
    """Two epochs in each of which line 7 evaluates and line 9 predicts then."""
    return [
        made
        for n in (0.0, 10.0)
        for made in (answer(n + 2.9, 7, "a", "evaluate", inputs), answer(n + 3.9, 9, "b", "predict", other))
    ]


CALLS = [timed(n + begin, n + begin + 1, kind) for n in (0, 10) for begin, kind in ((2, 2), (3, 1))]


def test_a_line_that_evaluates_what_the_next_one_predicts() -> None:
    steps = [timed(n, n + 1, 3) for n in (0, 1, 10, 11)]
    (row,) = passed_twice(in_turn(), SITES, [*steps, *CALLS])
    assert (row.line, row.other, row.calls, row.pairs) == (7, SourceSpan("a.py", 9, "f"), 2, 2)
    assert (row.seconds, row.begin_ns, row.end_ns) == (2.0, 2 * SECOND, 13 * SECOND)


def test_other_inputs_and_a_step_in_between_are_no_second_pass() -> None:
    assert not passed_twice(in_turn(other="y"), SITES, CALLS)
    assert not passed_twice(in_turn("", ""), SITES, CALLS)  # an older recording
    later = [
        timed(n + begin, n + begin + 0.5, kind) for n in (0, 10) for begin, kind in ((2.45, 2), (2.96, 3), (3.5, 1))
    ]
    assert not passed_twice(in_turn(), SITES, later)
