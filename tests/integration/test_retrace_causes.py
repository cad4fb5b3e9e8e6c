"""One test for each cause of a trace, on real TensorFlow in a process of its own (retrace_causes.py)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from warm import run_file_warm

from tfperfkit.records.gains import Gain

SCRIPT = Path(__file__).with_name("retrace_causes.py")
ARGUMENTS, FUNCTIONS = SCRIPT.with_name("retrace_arguments.py"), SCRIPT.with_name("retrace_functions.py")
SOURCES = [path.read_text().splitlines() for path in (ARGUMENTS, FUNCTIONS)]


@pytest.fixture(scope="module")
def causes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("causes")
    done = run_file_warm(SCRIPT, out, folder=out)
    assert done.returncode == 0, done.stderr[-4000:]
    return out


class Outcome:
    def __init__(self, causes: Path, name: str) -> None:
        document = json.loads((causes / f"{name}.json").read_text())
        self.facts, self.notes = document["facts"], document["notes"]
        self.result = document["result"]
        self.functions = {f["function"]: f for f in self.result["data"]["functions"]}
        self.findings = document["findings"]

    def traces(self, function: str = "train_step") -> list[dict[str, Any]]:
        return self.functions[function]["traces"]

    def kinds(self, function: str = "train_step") -> list[str]:
        return [trace["kind"] for trace in self.traces(function)]

    def causes(self, function: str = "train_step") -> list[list[tuple[str, str, str]]]:
        return [[(c["path"], c["before"], c["after"]) for c in t["cause"]] for t in self.traces(function)]

    @property
    def codes(self) -> list[str]:
        return [finding["code"] for finding in self.findings]


@pytest.fixture
def outcome(causes: Path, request: pytest.FixtureRequest) -> Outcome:
    """The outcome of the cause that the test is named for."""
    found = Outcome(causes, request.node.name.removeprefix("test_"))
    assert found.facts["hooked"] and found.facts["restored"] and not found.notes
    return found


def line_of(text: str) -> int:
    """The one line of the causes that holds a text, from 1."""
    (place,) = [number for lines in SOURCES for number, line in enumerate(lines, 1) if text in line]
    return place


def test_python_value(outcome: Outcome) -> None:
    assert outcome.kinds() == ["first"] + ["retrace"] * 4
    assert outcome.causes()[1] == [("lr", "0.0", "0.1")]
    assert [trace["step"] for trace in outcome.traces()] == [1, 2, 3, 4, 5]
    assert outcome.codes == ["RET001"]
    (finding,) = outcome.findings
    assert "tf.constant" in finding["advice"]
    assert "traces 5 → 1" in finding["detail"]
    call = line_of("train_step(tf.ones([4]), 0.1 * index)")
    assert outcome.traces()[1]["call_site"]["line"] == call
    assert [place["line"] for place in finding["where"]] == [call, outcome.functions["train_step"]["line"]]


def test_python_value_healthy(outcome: Outcome) -> None:
    assert outcome.kinds() == ["first", "retrace"]  # one for each mode
    assert outcome.causes()[1] == [("training", "True", "False")]
    assert outcome.codes == []


def test_shape(outcome: Outcome) -> None:
    assert outcome.kinds() == ["first", "retrace", "retrace"]
    assert outcome.causes()[1:] == [[("x", "f32[32,100]", "f32[17,100]")], [("x", "f32[17,100]", "f32[9,100]")]]
    assert [trace["step"] for trace in outcome.traces()] == [1, 3, 5]
    (finding,) = outcome.findings
    assert finding["code"] == "RET002"
    assert "drop_remainder=True" in finding["advice"]
    assert "tf.TensorSpec([None, 100], tf.float32)" in finding["advice"]
    assert "x.shape[0] ∈ {32, 17, 9}" in finding["detail"]
    assert {m["name"]: m["value"] for m in finding["evidence"]}["avoidable retraces"] == 2


def test_shape_healthy(outcome: Outcome) -> None:
    assert outcome.kinds() == ["first"]
    assert outcome.codes == []


def test_length(outcome: Outcome) -> None:
    assert outcome.causes()[1] == [('batch["tokens"]', "f32[8,10]", "f32[8,12]")]
    assert outcome.codes == ["RET003"]
    assert "reduce_retracing=True" in outcome.findings[0]["advice"]


def test_rank(outcome: Outcome) -> None:
    assert outcome.causes()[1:] == [[("x", "f32[2]", "f32[2,2]")], [("x", "f32[2,2]", "f32[2,2,2]")]]
    assert outcome.codes == ["RET004"]


def test_dtype(outcome: Outcome) -> None:
    assert outcome.causes()[1] == [("x", "f32[4]", "f64[4]")]
    assert outcome.codes == ["RET005"]


def test_structure(outcome: Outcome) -> None:
    assert outcome.causes()[1] == [("inputs", "list of 2", "list of 3")]
    assert outcome.codes == ["RET006"]


def test_keyword(outcome: Outcome) -> None:
    assert outcome.causes()[1:] == [
        [("weights", "absent", "f32[3]")],
        [("mask", "absent", "f32[3]")],
        [("rest[0]", "absent", "f32[3]")],
    ]
    assert [t["closest"] for t in outcome.traces()] == [None, 1, 2, 2]
    assert outcome.codes == ["RET006"]


def test_object_identity(outcome: Outcome) -> None:
    ((path, _, after),) = outcome.causes()[1]
    assert path == "settings" and after.startswith("Settings object")
    assert outcome.codes == ["RET007"]


def test_object_identity_healthy(outcome: Outcome) -> None:
    assert outcome.kinds() == ["first", "retrace", "retrace"]
    assert outcome.codes == []


def test_new_function_in_a_loop(outcome: Outcome) -> None:
    assert outcome.kinds("plain_step") == ["first"] + ["new_function_object"] * 3
    assert outcome.codes == ["RET008"]
    assert outcome.findings[0]["where"][0]["line"] == line_of("made = tf.function(plain_step)")


def test_new_nested_function_in_a_loop(outcome: Outcome) -> None:
    assert outcome.kinds("nested_step") == ["first"] + ["new_function_object"] * 3
    assert outcome.codes == ["RET008"]
    gain = msgspec.convert(outcome.findings[0]["gain"], Gain)
    assert gain.likely is None  # no steps are known, so nothing can be promised


def test_new_function_healthy(outcome: Outcome) -> None:
    assert outcome.kinds("factory_step") == ["first", "new_function_object", "new_function_object"]
    assert outcome.codes == []


def test_one_function_per_instance(outcome: Outcome) -> None:
    assert outcome.kinds("predict") == ["first"] + ["new_function_object"] * 3
    assert outcome.causes("predict")[1] == [("function object", "Model instance #1", "Model instance #2")]
    assert outcome.codes == ["RET009"]


def test_one_function_per_instance_healthy(outcome: Outcome) -> None:
    assert len(outcome.traces("predict")) == 6
    assert outcome.codes == []


def test_strategy_scope(outcome: Outcome) -> None:
    assert outcome.causes()[1] == [("context.strategy_scope", "outside of a strategy", "inside a strategy's scope")]


def test_replica_device(outcome: Outcome) -> None:
    assert outcome.kinds("replica_step") == ["first", "expected"]
    assert outcome.causes("replica_step")[1] == [("context.replica_device", "replica on CPU:0", "replica on CPU:1")]
    assert outcome.traces("replica_step")[1]["call_site"]["line"] == line_of("return replica_step(x)")
    assert outcome.codes == []


def test_strategy_run_of_a_function(outcome: Outcome) -> None:
    # TensorFlow wraps the function given to strategy.run; the names are the user's own all the same.
    assert outcome.functions["train_step"]["owner"] == "user"
    assert outcome.causes()[1] == [("x", "f32[8]", "f32[5]")]


def test_enclosing_graph(outcome: Outcome) -> None:
    assert outcome.causes()[1:] == [
        [("context.enclosing_graph", "eager", "tf.Graph")],
        [("context.enclosing_graph", "tf.Graph", "another tf.Graph")],
    ]
    assert outcome.codes == ["RET010"]


def test_reduce_retracing(outcome: Outcome) -> None:
    """Generalising: one retrace leaves the size open, and that is no fault."""
    assert outcome.kinds() == ["first", "retrace"]
    (generalized,) = outcome.traces()[1]["generalized"]
    assert generalized["after"] == "f32[None,4]"
    assert outcome.codes == []


def test_failing_trace(outcome: Outcome) -> None:
    assert [trace["error"] for trace in outcome.traces()] == ["KeyError"] * 4
    assert outcome.causes()[1] == [("context.failed_trace", "failed with KeyError", "traced again")]
    assert outcome.codes == ["RET011"]
    for shown in ("filtered", "unfiltered"):
        assert "mine" in outcome.facts[shown]
        if shown == "filtered" or sys.version_info >= (3, 11):
            assert "tfperfkit" not in outcome.facts[shown]


def test_variable_creation(outcome: Outcome) -> None:
    assert outcome.kinds("__call__") == ["first", "variable_creation"]
    assert outcome.functions["initialize_variables"]["owner"] == "tensorflow"
    assert outcome.codes == []


def test_nested(outcome: Outcome) -> None:
    """The inner function's traces are a consequence of the outer one's, and their time is not counted twice."""
    assert outcome.kinds("inner") == ["first", "retrace", "retrace"]
    assert outcome.functions["inner"]["avoidable"] == 0
    assert outcome.codes == ["RET002"]
    for outer, inner in zip(outcome.traces("outer"), outcome.traces("inner"), strict=True):
        assert inner["ms"] >= 20
        assert abs(outer["ms"] - inner["ms"] - outer["self_ms"]) < 1
    # The call is in a converted function: its line is the user's all the same.
    assert outcome.traces("inner")[0]["call_site"] == {
        "file": str(FUNCTIONS),
        "line": line_of("x = inner(x)"),
        "function": "outer",
    }


def test_frameworks(outcome: Outcome) -> None:
    owners = {function["owner"] for function in outcome.result["data"]["functions"]}
    assert owners == {"keras", "tf.data"}
    for function in outcome.result["data"]["functions"]:
        if function["owner"] == "tf.data":
            assert {trace["kind"] for trace in function["traces"]} == {"first", "expected"}
    assert outcome.functions["one_step_on_data"]["traces"][0]["call_site"]["file"] == str(FUNCTIONS)
    assert outcome.codes == []


def test_pipeline_rebuilt(outcome: Outcome) -> None:
    assert outcome.functions["load"]["owner"] == "tf.data"
    assert outcome.kinds("load") == ["first"] + ["expected"] * 4
    assert outcome.codes == ["RET012"]


def test_made_and_traced_before_arming(outcome: Outcome) -> None:
    assert outcome.kinds("made_before") == ["retrace"]
    assert outcome.causes("made_before") == [[("x", "f32[4]", "f32[5]")]]


def test_nothing_kept(outcome: Outcome) -> None:
    assert outcome.facts["kept"] == []
    assert outcome.facts["own_frames_in_operations"] == []


def test_listener_that_raises(outcome: Outcome) -> None:
    assert outcome.facts["result"] == [2.0, 2.0]


def test_seams(causes: Path) -> None:
    """Degrading with a reason, and listeners that come and go."""
    facts = json.loads((causes / "seams.json").read_text())
    assert "takes other arguments" in facts["limits"]
    assert facts["limited_concrete"] and facts["callbacks_left"] == 0
    assert "traces can't be seen" in facts["unavailable"]
    assert facts["first"] == [True] and facts["second"] == [True, True]
    assert facts["restored"]
