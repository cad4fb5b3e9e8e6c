"""A comparison of two runs: set-up first, the verdict, the line, counts, findings."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from side_builder import FILE, make_finding, make_side
from simulated import step_times

from tfperfkit.comparing.compare import compare
from tfperfkit.comparing.render import lines_of
from tfperfkit.comparing.result import Compared
from tfperfkit.offers import (
    FunctionCost,
    FunctionCosts,
    HostRead,
    HostReads,
    LineCost,
    LineCosts,
    MemoryUse,
    RanOperation,
    RanOperations,
    TraceCount,
    TraceCounts,
)
from tfperfkit.report.terminal import Screen

SOURCE = "import tensorflow as tf\ndef prepare(x):\n    return x\nfor x in data:\n    step(prepare(x))\n"
SLOWED = SOURCE.replace("    return x\n", "    y = list(x)\n    return y\n")


def times(seed: int, mean_ms: float = 40.0) -> list[float]:
    return step_times(np.random.default_rng(seed), mean_ms=mean_ms, drift=0.0)


def costs(*rows: tuple[int, str, float]) -> LineCosts:
    return LineCosts(
        rows=tuple(LineCost(file=FILE, line=line, function=function, ms_per_step=ms) for line, function, ms in rows)
    )


def text(compared: Compared, width: int = 100) -> str:
    lines = lines_of(compared, Screen(width=width, folder="/work/train"))
    assert all(line.cell_len <= width for line in lines)
    return "\n".join(line.plain for line in lines)


def test_two_runs_of_the_same_thing() -> None:
    compared = compare(make_side("a", times(1), source=SOURCE), make_side("b", times(2), source=SOURCE))
    assert compared.step is not None and compared.step.verdict == "no difference shown"
    assert (compared.setup, compared.sources, compared.causes, compared.findings) == ((), (), (), ())
    shown = text(compared)
    assert "No difference shown: a step takes" in shown
    assert "Nothing that is known of both differs." in shown
    assert "can detect differences of" in shown
    assert "why" not in shown.split()


def test_processor_time_is_said_where_the_clock_cannot_tell() -> None:
    dice = np.random.default_rng(5)
    noisy = [list(40.0 * np.exp(dice.normal(0, 0.8, 60))) for _ in range(2)]
    plain = make_side("a", noisy[0], processor_ms=times(1, 8.0))
    compared = compare(plain, make_side("b", noisy[1], processor_ms=times(2, 20.0)))
    assert compared.step is not None and compared.step.verdict == "no difference shown"
    assert compared.processor is not None and compared.processor.verdict == "slower"
    shown = " ".join(text(compared).split())
    assert "The clock can't tell; the processor time of a step can: 2.5x (95 % interval" in shown
    assert "processor time of a step 7.96 ms 20.0 ms 2.5x" in shown
    same = compare(plain, make_side("b", noisy[1], processor_ms=times(2, 9.0)))  # runs of the same thing differ so
    assert "The clock can't tell" not in text(same)
    assert compare(plain, make_side("b", noisy[1])).processor is None


def test_a_clock_that_the_processor_time_contradicts_is_not_left_alone() -> None:
    """Make steps longer by a busier machine; their processor time stays, so the code is not the difference."""
    before = make_side("a", times(1), processor_ms=times(3, 30.0))
    longer = compare(before, make_side("b", times(2, 120.0), processor_ms=times(4, 32.0)))
    assert longer.step is not None and longer.step.verdict == "slower"
    shown = " ".join(text(longer).split())
    assert "But the processor time of a step does not say so: +7." in shown and "The difference is waiting" in shown
    agree = compare(before, make_side("b", times(2, 120.0), processor_ms=times(4, 90.0)))
    little = compare(
        before, make_side("b", times(2, 44.0), processor_ms=times(4, 32.0))
    )  # within what it may differ by
    assert "does not say so" not in text(agree) + text(little)


def test_a_slower_line_is_named_and_the_one_that_calls_it_is_not() -> None:
    a = make_side("a", times(1), source=SOURCE, offers=[costs((5, "<module>", 38.0), (3, "prepare", 0.1))])
    b = make_side("b", times(2, 60.0), source=SLOWED, offers=[costs((6, "<module>", 58.0), (3, "prepare", 20.0))])
    compared = compare(a, b)
    assert compared.step is not None and compared.step.verdict == "slower"
    assert compared.culprit is not None and compared.culprit.where is not None
    assert (compared.culprit.where.line, compared.culprit.change) == (3, "new")
    (changed,) = compared.sources
    assert (changed.file, changed.added, changed.removed) == ("train.py", 2, 1)
    moved = next(cause for cause in compared.causes if cause.name == "train.py:6")
    assert (moved.a, moved.b, moved.change) == (38.0, 58.0, "")  # the same line, one further down
    shown = text(compared)
    assert "Most of it at train.py:3 (prepare), 0 to 20.0 ms a step (a new line): y = list(x)" in shown
    assert "+    y = list(x)" in shown


def test_a_line_that_is_gone_explains_what_became_faster() -> None:
    a = make_side("a", times(2, 60.0), source=SLOWED, offers=[costs((6, "<module>", 58.0), (3, "prepare", 20.0))])
    b = make_side("b", times(1), source=SOURCE, offers=[costs((5, "<module>", 38.0))])
    compared = compare(a, b)
    assert compared.step is not None and compared.step.verdict == "faster"
    assert compared.culprit is not None and (compared.culprit.name, compared.culprit.change) == ("train.py:3", "gone")


def test_a_line_of_a_function_that_was_compiled_since_is_one_row() -> None:
    compiled = "import tensorflow as tf\n@tf.function\n" + SOURCE.partition("\n")[2]
    lines = LineCosts(
        rows=(
            LineCost(file=FILE, line=6, function="<module>", ms_per_step=4.0),
            LineCost(file=FILE, line=4, function="prepare", ms_per_step=3.0, compiled=True),
        )
    )
    a = make_side("a", times(1), source=SOURCE, offers=[costs((4, "<module>", 5.0), (3, "prepare", 35.0))])
    b = make_side("b", times(2, 4.0), source=compiled, offers=[lines])
    found = {cause.name: (cause.a, cause.b, cause.change) for cause in compare(a, b).causes if cause.kind == "line"}
    assert found["train.py:4"] == (35.0, 3.0, "")
    assert found["train.py:5"] == (5.0, 0.0, "")  # which nothing measured in B stands there by B's number


def test_of_lines_that_were_there_the_innermost_is_named() -> None:
    rows = ((5, "<module>", 38.0), (3, "prepare", 1.0))
    more = ((5, "<module>", 58.0), (3, "prepare", 20.5))
    compared = compare(
        make_side("a", times(1), source=SOURCE, offers=[costs(*rows)]),
        make_side("b", times(2, 60.0), source=SOURCE, offers=[costs(*more)]),
    )
    assert compared.culprit is not None and compared.culprit.name == "train.py:3"


def test_parts_and_operations_that_differ() -> None:
    def ran(**ms: float) -> RanOperations:
        rows = (RanOperation(name=f"x/{t}", type=t, count=10, self_ms=10 * v, where="graph") for t, v in ms.items())
        return RanOperations(steps=10, rows=tuple(rows))

    a = make_side("a", times(1), parts_ms={"graph": 39.0, "input": 1.0}, offers=[ran(MatMul=20.0, Tile=15.0)])
    b = make_side("b", times(2, 60), parts_ms={"graph": 39.5, "input": 20.5}, offers=[ran(MatMul=20.1, Sort=18.0)])
    compared = compare(a, b)
    assert [(c.kind, c.name, c.change) for c in compared.causes] == [
        ("part", "input", ""),
        ("operation", "Sort", "new"),
        ("operation", "Tile", "gone"),
    ]


def test_counts_are_compared_whatever_the_times_say() -> None:
    def made(traces: int, eager: int, reads: float, operations: int, peak: int) -> list[object]:
        rows = (RanOperation(name="Mul", type="Mul", count=10 * eager, self_ms=0.1, where="eager"),) if eager else ()
        cost = FunctionCost(
            function="step", file=FILE, line=2, owner="user", graph="g", operations=operations, flops=None,
            flops_note="", moved_bytes=0, first_execution_ms=None, trace_ms=1, jit_compile=False, elementwise=0,
            heavy=0, float64_flops_share=0, half_flops_share=None, python_calls=0, control=0,
        )  # fmt: skip
        count = TraceCount(function="step", file=FILE, line=2, owner="user", traces=traces, retraces=traces - 1, ms=9)
        return [
            TraceCounts(functions=(count,)),
            RanOperations(steps=10, rows=rows),
            HostReads(rows=(HostRead(file=FILE, line=3, per_step=reads),)),
            FunctionCosts(functions=(cost,)),
            MemoryUse(peak_bytes=peak, growth_bytes_per_step=0.0),
        ]

    compared = compare(
        make_side("a", times(1), offers=made(1, 0, 0.0, 60, 10**9)),
        make_side("b", times(2), offers=made(5, 3, 1.0, 90, 2 * 10**9)),
    )
    assert [(c.name, c.a, c.b) for c in compared.causes] == [
        ("traces of step", 1, 5),
        ("operations called one by one, a step", 0, 3),
        ("values read back, a step", 0, 1),
        ("operations in compiled functions", 60, 90),
        ("peak memory", 10**9, 2 * 10**9),
    ]
    assert "traces of step" in text(compared)


def test_unequal_configurations_are_said_before_any_number() -> None:
    a = make_side("a", times(1), batch_size=32, argv=("train.py", "--batch", "32"), settings={"policy": "float32"})
    b = make_side(
        "b", times(2, 60.0), batch_size=64, argv=("train.py", "--batch", "64"), settings={"policy": "mixed_float16"},
        machine={"cpus": 8}, versions={"tensorflow": "2.20.0"},
    )  # fmt: skip
    compared = compare(a, b)
    assert {each.what for each in compared.setup} == {"arguments", "tensorflow", "batch size", "policy", "processors"}
    lines = text(compared).splitlines()
    assert lines[1].startswith("Not alike in configuration (arguments, tensorflow, batch size, policy) and machine")
    assert compared.per_example and compared.step is not None
    assert compared.step.ratio == pytest.approx(0.75, abs=0.03)
    assert "the time for each example is" in " ".join(text(compared).split())


def test_findings_that_came_went_and_moved() -> None:
    a = make_side("a", times(1), source=SOURCE, findings=[make_finding("RET002", 5), make_finding("INP001", 4)])
    b = make_side(
        "b", times(2), source=SLOWED, findings=[make_finding("RET002", 6, 0.8), make_finding("EAG001", 3, 0.2)]
    )
    compared = compare(a, b)
    assert [(c.code, c.change, c.a, c.b) for c in compared.findings] == [
        ("RET002", "grown", 0.3, 0.8),
        ("EAG001", "new", None, 0.2),
        ("INP001", "gone", 0.3, None),
    ]
    assert "costs more" in text(compared)


def test_a_json_report_has_a_ratio_and_says_what_it_lacks() -> None:
    compared = compare(make_side("a.json", times(1), stored=True), make_side("b", times(2, 60.0)))
    assert compared.step is not None and (compared.step.low, compared.step.verdict) == (None, "no difference shown")
    assert "a JSON report has no single steps" in " ".join(text(compared).split())


def test_runs_without_steps_and_runs_that_were_killed() -> None:
    compared = compare(make_side("a"), make_side("b", times(1), status="killed", waited=0.2))
    assert compared.step is None
    shown = " ".join(text(compared).split())
    for words in ("No step times to compare.", "A has no training steps", "B was killed", "B waited 20 % of its"):
        assert words.replace("B was killed", "B did not finish: it was killed") in shown


@pytest.mark.parametrize("width", [40, 80, 100, 140])
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    a = make_side("a" * 60, times(1), source=SOURCE, offers=[costs((5, "<module>", 38.0))])
    b = make_side("b" * 60, times(2, 60.0), source=SLOWED, offers=[costs((6, "f" * 90, 58.0))])
    text(compare(a, b), width)


def test_an_edited_copy_of_the_script_is_the_same_script() -> None:
    side = make_side("b", times(2), source=SLOWED, argv=("train.py",))
    assert list(side.sources) == ["train.py"]
    side.call_script("train_before.py")
    assert list(side.sources) == ["train_before.py"]
    module = make_side("m", times(2), source=SLOWED, argv=("package.train",))
    module.call_script("train_before.py")
    assert list(module.sources) == ["train.py"]


def test_what_lies_between_the_steps_may_tell_another_story() -> None:
    a, b = make_side("a", times(1)), make_side("b", times(2))
    for rate, said in ((1000.0, False), (600.0, True)):
        b.report = msgspec.structs.replace(b.report, steps=msgspec.structs.replace(b.report.steps, examples_per_s=rate))
        a.report = msgspec.structs.replace(
            a.report, steps=msgspec.structs.replace(a.report.steps, examples_per_s=1000.0)
        )
        assert any("examples a second" in note for note in compare(a, b).notes) == said
