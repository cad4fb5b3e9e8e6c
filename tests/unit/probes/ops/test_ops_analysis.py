"""The ops probe's analysis on made records and sources: control flow, side effects, bad input. No TensorFlow."""

from __future__ import annotations

import itertools
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from ops_builder import Builder
from tfperfkit_probes.ops import dump, optimized
from tfperfkit_probes.ops.analysis import Records, functions
from tfperfkit_probes.ops.control import control_and_effects
from tfperfkit_probes.ops.probe import OpsProbe
from tfperfkit_probes.ops.result import _summary
from tfperfkit_probes.ops.source import Sources, side_effects
from tfperfkit_probes.ops.stored import FirstRunRecord

from tfperfkit.graph.model import Damaged, parse_type, read_graph
from tfperfkit.model import ProbeResult
from tfperfkit.testing import FakeRecording, capture_of, check_result

F = "float32[8]"


@pytest.fixture
def analyze(tmp_path: Path) -> Any:
    numbers = itertools.count()

    def run(*builders: Builder, source: str = "", options: Any = None, **records: Any) -> ProbeResult:
        recording = FakeRecording(tmp_path / str(next(numbers)), options=options)
        for builder in builders:
            recording.append("graphs", builder.contents())
            recording.append("functions", builder.record())
        for stream, rows in records.items():
            for row in rows:
                recording.append(stream, row)
        recording.sources["train.py"] = tuple(source.splitlines())
        result = OpsProbe().analyze(capture_of(recording))
        check_result(result)
        return result

    return run


def unrolled(turns: int, per_turn: int = 2) -> Builder:
    builder = Builder()
    builder.add("Placeholder", "x", makes=F)
    for turn in range(turns):
        for number in range(per_turn):
            builder.add("Sin", f"sin_{turn}_{number}", ("x",), F, (("train.py", 3 + number, "step"),))
    return builder


SOURCE = "def step(x):\n    for i in range(n):\n        x = tf.sin(x)\n        x = tf.sin(x)\n    return x\n"


def test_what_rules_look_for_is_kept_of_every_function(analyze: Any) -> None:
    (brief,) = analyze(unrolled(500), source=SOURCE).data.all
    (loop,) = brief.marks.unrolled
    assert (loop.line, loop.copies, loop.ops, brief.gradient_operations) == (2, 500, 1000, 0)
    assert msgspec.to_builtins(analyze(unrolled(1, per_turn=1)).data.all[0].marks) == {}, "nothing is marked"


@pytest.mark.parametrize(("batch", "share"), [(0, 0.0), (32, 0.9999)])
def test_the_share_of_a_number_format_counts_open_sizes_as_the_steps_batch(
    tmp_path: Path, batch: int, share: float
) -> None:
    """Elements that Keras takes from an iterator have an open size: without the batch its products would not count at
    all.
    """
    builder = Builder()
    x = builder.add("Placeholder", "x", makes="float16[None,64]")
    kernel = builder.add("Placeholder", "kernel", makes="float16[64,64]")
    builder.add("MatMul", "product", (x, kernel), "float16[None,64]")
    builder.add("Neg", "rate", ("factor",), F)
    recording = FakeRecording(tmp_path)
    recording.append("graphs", builder.contents())
    recording.append("functions", builder.record())
    records = Records(capture_of(recording))
    (function,) = functions(records, Sources(lambda file: []), lambda record: True, batch)
    assert function.half_flops_share == pytest.approx(share, abs=1e-4)


def control(builder: Builder, source: str) -> dict[int, tuple[str, int]]:
    sources = Sources(lambda file: source.splitlines())
    found, _ = control_and_effects([builder.graph()], sources, ("train.py", 1), set())
    return {each.line: (each.became, each.copies) for each in found}


def test_nested_loops_are_counted_apart() -> None:
    source = "def step(x):\n  for i in a:\n    f(x)\n    for j in b:\n      g(x)\n      h(x)\n    k(x)\n"
    builder = Builder()
    number = itertools.count()
    for _ in range(4):
        for line in (3, 5, 6, 5, 6, 5, 6, 7):
            builder.add("Sin", f"sin_{next(number)}", (), F, (("train.py", line, "step"),))
    assert control(builder, source) == {2: ("unrolled", 4), 4: ("unrolled", 12)}


def test_a_loop_that_became_an_operation_and_one_that_left_nothing() -> None:
    source = "def step(x):\n  while x > 0:\n    x = f(x)\n  for i in b:\n    print(i)\n"
    builder = Builder()
    builder.add("While", "while", (), F, (("train.py", 2, "step"),))
    assert control(builder, source) == {2: ("graph", 0), 4: ("none", 0)}


def test_a_framework_call_in_one_line_does_not_tell_its_copies() -> None:
    source = "def step(x):\n  for layer in layers:\n    x = layer(x)\n"
    builder = Builder()
    for number, kind in enumerate(("Conv2D", "BiasAdd", "MatMul", "BiasAdd", "BiasAdd")):
        builder.add(kind, f"op_{number}", (), F, (("train.py", 3, "step"),))
    assert control(builder, source) == {2: ("python", 1)}


EFFECTS = {
    "print('x')": "print",
    "history.append(x)": "history.append()",
    "y = random.random()": "random.random()",
    "y = np.random.rand(3)": "np.random.rand()",
    "y = time.time()": "time.time()",
    "global count": "global count",
    "logging.info('x')": "logging.info()",
    "self.steps += 1": "self.steps is changed",
    "open('f')": "open()",
    "log.info('x')": "log.info()",
    "y = draw.random(3)": "draw.random()",
}
NO_EFFECTS = [
    "parts = []; parts.append(x)",
    "y = tf.random.normal([3])",
    "tf.print(x)",
    "self.metric.update_state(x)",
    "x.append(1)",
    "def inner(): print(x)",
    "y = rng.random(3)",
    "total += 1",
    "time_of.sleep(1)",
    "logger.info(x)",
    "time = x; time.time()",
]


@pytest.mark.parametrize("statement", EFFECTS)
def test_a_side_effect(statement: str) -> None:
    assert [each.what for each in effects(statement)] == [EFFECTS[statement]]


@pytest.mark.parametrize("statement", NO_EFFECTS)
def test_no_side_effect(statement: str) -> None:
    assert effects(statement) == []


def effects(statement: str) -> list[Any]:
    imports = "import logging, random, time, numpy as np, tensorflow as tf"
    made = ["log = logging.getLogger()", "time_of = object()", "draw = np.random.default_rng(1)"]
    lines = ["class Net:", "    def step(self, x):", f"        {statement}", imports, *made]
    source = Sources(lambda file: lines).parse_file("train.py")
    assert source is not None
    return list(side_effects(source.syntax.functions[0], "train.py", source))


@pytest.mark.parametrize("text", ["def f(:", "\0", "f(" * 500])
def test_a_source_that_can_not_be_read(text: str) -> None:
    assert Sources(lambda file: [text]).parse_file("train.py") is None


def test_grappler_by_names() -> None:
    inner, outer = Builder("inner"), Builder()
    inner.add("Placeholder", "y", makes=F)
    inner.add("MatMul", "MatMul", ("y",), F)
    inner.add("BiasAdd", "add", ("MatMul",), F)
    inner.add("Relu", "Relu", ("add",), F)
    outer.add("Placeholder", "x", makes=F)
    outer.add("Mul", "two_times_three", (), F)
    outer.add("Tanh", "unused", (), F)
    outer.add("StatefulPartitionedCall", "call", ("x",), F, f="inner")
    after = Builder("after")
    after.add("_Arg", "x", makes=F)
    after.add("Const", "two_times_three", (), F)
    after.add("_FusedMatMul", "call/Relu", (), F)
    after.definition.node[2].attr.add(key=b"fused_ops").value.list.s.extend([b"BiasAdd", b"Relu"])
    after.add("NoOp", "control/_3", (), F)
    data = after.contents().graph
    found = optimized.compare(outer.graph(inner), data)
    assert (found.kept, found.folded, found.fused, found.removed, found.added) == (1, 1, 2, 1, 1)
    assert [(kernel.type, kernel.parts, kernel.count) for kernel in found.kernels] == [
        ("_FusedMatMul", "MatMul + BiasAdd + Relu", 1)
    ]
    assert optimized.histogram(data) == {"_Arg": 1, "Const": 1, "_FusedMatMul": 1, "NoOp": 1}


def test_damaged_records_cost_themselves_only(analyze: Any) -> None:
    builder, other = unrolled(3), Builder("__inference_other_2")
    other.add("Placeholder", "x", makes=F)
    bad = msgspec.structs.replace(other.contents(), graph=b"not zlib")
    short = msgspec.structs.replace(other.contents(), name="short", outputs="0;0;0")
    run = FirstRunRecord(graph=builder.name, begin_ns=0, end_ns=2_000_000, optimized=zlib.compress(b"\xff\xff\xff"))
    result = analyze(
        builder,
        source=SOURCE,
        graphs=[bad, short, {"name": 1}],
        first_runs=[run, "nonsense"],
        functions=[other.record(), {"graph": []}],
    )
    (function,) = result.data.functions
    assert function.operations == 7 and function.first_execution_ms == 2.0
    assert function.optimized is None and "damaged" in function.not_optimized_reason


def test_a_graph_that_grows_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfperfkit.graph.model.MAX_GRAPH_BYTES", 1000)
    with pytest.raises(Damaged, match="too large"):
        read_graph(zlib.compress(b"\0" * 100_000))


def test_no_graph_at_all(analyze: Any) -> None:
    result = analyze(functions=[Builder().record()])
    assert result.data.functions == [] and "damaged" in result.notes[0]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("trainstep", "did you mean train_step?"),
        ("xyz", "traced were: evaluate, train_step"),
        ("Model.cal", "Model.call"),
    ],
)
def test_the_nearest_name(name: str, said: str) -> None:
    pairs = [("train_step", "train_step"), ("evaluate", "evaluate")]
    if "." in name:
        pairs.append(("call", "Model.call"))
    assert said in dump.nearest(name, pairs)
    assert "no tf.function was traced" in dump.nearest(name, [])


def test_a_dump_that_can_not_be_written_is_in_the_report(analyze: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **keywords: Any) -> Any:
        raise OSError("disk full")

    builder = unrolled(2)
    monkeypatch.setattr(dump.Path, "open", refuse)
    assert dump.write(Path("/nowhere"), "a/b.txt", "text") == ""
    monkeypatch.undo()
    result = analyze(builder, source=SOURCE, options={"dump": "step"})
    assert len(result.data.dump) == 5 and result.data.dump[1]["inputs"] == [{"name": "x:0", "type": F}]
    assert any(table.title == "step: its operations" for table in result.tables)


@pytest.mark.parametrize("text", ["float32[8,None]", "float32[?]", "int32[]", "resource[]"])
def test_types_are_read_as_they_are_written(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(("note", "told"), [("", True), ("3 operations of open size are not counted", False)])
def test_flops_of_a_part_are_not_those_of_a_call(note: str, told: bool) -> None:
    function: Any = SimpleNamespace(function="f", operations=5, optimized=None, flops=2e6, flops_note=note)
    assert ("2.0 MFLOP a call" in _summary([function], [])) is told


LOOP = "def step(x):\n    for i in range(n):\n        y = work(x)\n        out = join(y)\n    return out\n"


def turns(copies: int, *, carried: bool, joined: bool = False, grows: bool = False) -> Builder:
    """Return a body of four operations at two lines; each iteration begins with the last one's result, or adds it to a
    sum."""
    builder = Builder()
    state = builder.add("Placeholder", "x", makes=F)
    total = state
    for turn in range(copies):
        shape = f"float32[{turn + 1}]" if grows else F
        first = (("train.py", 3, "step"),)
        one = builder.add("StridedSlice", f"part_{turn}", (state if carried else "x",), shape, first)
        two = builder.add("Mul", f"mul_{turn}", (one,), shape, first)
        last = builder.add("Tanh", f"tanh_{turn}", (two,), shape, (("train.py", 4, "step"),))
        total = builder.add(
            "AddV2", f"add_{turn}", (total, last) if joined else (last,), shape, (("train.py", 4, "step"),)
        )
        state = total
    return builder


@pytest.mark.parametrize(
    ("builder", "apart"),
    [
        (turns(12, carried=False), True),
        (turns(12, carried=False, joined=True), True),
        (turns(12, carried=True), False),
        (turns(12, carried=False, grows=True), False),
    ],
    ids=["each by itself", "summed up", "a recurrence", "of other shapes"],
)
def test_copies_that_do_not_need_each_other(analyze: Any, builder: Builder, apart: bool) -> None:
    (loop,) = analyze(builder, source=LOOP).data.all[0].marks.unrolled
    assert (loop.copies, loop.apart, loop.last) == (12, apart, 4)
