"""The probe ``ops`` on real TensorFlow: against what TensorFlow says of the same graphs, and against hand counts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from warm import run_file_warm
from warm_run import warm_tfperf

SCRIPT = Path(__file__).with_name("ops_functions.py")
SOURCE = SCRIPT.read_text().splitlines()
FAULTS = {
    "unrolled_loop": ("OPS001", "# a Python loop"),
    "big_constant": ("OPS002", "# the whole array"),
    "float64": ("OPS003", "# it begins here"),
    "python_call": ("OPS004", "# back into Python"),
    "side_effects": ("OPS005", "# frozen"),
    "prints": ("OPS006", "# in each call"),
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ops")
    done = run_file_warm(SCRIPT, out, folder=out)
    assert done.returncode == 0, done.stderr[-4000:]
    return out


class Outcome:
    def __init__(self, cases: Path, name: str) -> None:
        document = json.loads((cases / f"{name}.json").read_text())
        self.folder = cases / f"{name}.run" / "probe"
        self.facts, self.result = document["facts"], document["result"]
        self.data = self.result["data"]
        self.findings = document["findings"]

    def function(self, *names: str) -> dict[str, Any]:
        (found,) = [function for function in self.data["functions"] if function["function"] in names]
        return found


@pytest.fixture
def outcome(cases: Path, request: pytest.FixtureRequest) -> Outcome:
    """The outcome of the case that the test is named for."""
    found = Outcome(cases, request.node.name.removeprefix("test_").partition("[")[0])
    assert found.facts["waiting_after"] == 0
    return found


def line_of(text: str) -> int:
    (line,) = [number for number, line in enumerate(SOURCE, 1) if text in line]
    return line


def test_convolution(outcome: Outcome) -> None:
    function = outcome.function("train_conv")
    assert function["ops"] == outcome.facts["histogram"]
    forward = 2 * (4 * 12 * 12 * 16) * (3 * 3 * 8)
    by_type = {each["type"]: each["flops"] for each in function["by_type"]}
    assert by_type["Conv2D"] == by_type["Conv2DBackpropInput"] == by_type["Conv2DBackpropFilter"] == forward
    assert function["flops"] == 3 * forward + 4 * 12 * 12 * 16  # and the sum
    lines = {each["line"]: each["flops"] for each in function["by_line"]}
    assert lines[line_of("tf.nn.conv2d(images")] == forward + 4 * 12 * 12 * 16
    assert lines[line_of("tape.gradient(loss, [images, kernel])")] == 2 * forward
    assert function["parameter_bytes"] == 3 * 3 * 8 * 16 * 4
    # The kernel is read, not made, and the images are an argument: nothing is kept for this gradient.
    assert function["activation_bytes"] == 0


def test_dense(outcome: Outcome) -> None:
    function = outcome.function("train_dense")
    assert function["ops"] == outcome.facts["histogram"]
    product = 2 * 64 * 32 * 10
    by_type = {each["type"]: each["flops"] for each in function["by_type"]}
    assert by_type["MatMul"] == 3 * product
    assert by_type["BiasAdd"] == by_type["BiasAddGrad"] == 64 * 10
    assert function["flops"] == 3 * product + 3 * 64 * 10
    assert function["added_by_tf_function"] == {
        "argument placeholders": 1,
        "capture placeholders": 2,
        "result identities": 3,
    }
    assert function["signature"] == "(x: f32[64,32]) → f32[64,32], f32[32,10], f32[10]"
    assert sum(function["ops_optimized"].values()) - 6 == function["optimized"]["operations"]  # _Arg and _Retval


def test_nested(outcome: Outcome) -> None:
    outer, inner = outcome.function("outer"), outcome.function("inner")
    assert outer["ops"] == outcome.facts["histogram"]
    once = 2 * 8 * 8 * 8
    assert inner["flops"] == once + 2 * 64 and inner["parent"] == "outer" and inner["optimized"] is None
    by_type = {each["type"]: each["flops"] for each in outer["by_type"]}
    assert by_type["MatMul"] == 7 * once  # five turns, the branch, and the call at the end
    assert "an unknown number of iterations" in outer["flops_note"]  # of the other loop
    became = {each["line"]: (each["statement"], each["op"]) for each in outer["control"] if each["became"] == "graph"}
    assert became[line_of("for _ in tf.range(5):")][0] == "for"
    assert became[line_of("# a branch")] == ("if", "StatelessIf")
    products = {type_: count for type_, count in outer["ops_optimized"].items() if "MatMul" in type_}
    assert sum(products.values()) == 3, products  # the two inlined calls, and the branch's own
    # Whether bias and activation are fused with a product is TensorFlow's choice, not the same on all processors.
    fused = sum(count for type_, count in products.items() if type_ != "MatMul")
    assert sum(kernel["count"] for kernel in outer["optimized"]["kernels"]) == fused, outer["optimized"]
    assert outer["calls"] is None and outer["trace_ms"] > 0 and outer["first_execution_ms"] > 0


def test_open_sizes(outcome: Outcome) -> None:
    function = outcome.function("open_batch")
    assert function["flops"] == 2 * 16 * 8 * 4 and "16" in function["flops_note"]
    listed = json.loads((outcome.folder / "open_batch.json").read_text())
    assert listed == outcome.data["dump"]
    (product,) = [operation for operation in listed if operation["type"] == "MatMul"]
    assert product["inputs"][0] == {"name": "x:0", "type": "float32[None,8]"}
    assert product["outputs"] == ["float32[None,4]"] and product["attributes"]["transpose_a"] in (False, 0)
    assert product["line"] == line_of("return tf.matmul(x, weight)")
    assert "MatMul  MatMul" in (outcome.folder / "open_batch.txt").read_text()


def test_created_inside(outcome: Outcome) -> None:
    function = outcome.function("make")  # TensorFlow traces it twice: once to make the variable
    assert function["traces"] == 2 and function["created_variables"] == ["weight:0"]
    assert function["flops"] == 2 * 2 * 4 * 4 and function["parameter_bytes"] == 64


def test_steady_path(outcome: Outcome) -> None:
    facts = outcome.facts
    assert facts["before"] == 1 and facts["after"] == 0 and facts["attributes"] is False
    assert facts["waiting"] == 1  # the function that was only traced, until the probe ends
    assert facts["freed"] and set(facts["results"]) == {2.0}


def test_first_call_fails(outcome: Outcome) -> None:
    assert not [file for file in outcome.facts["frames"] if "tfperfkit" in file]
    assert outcome.function("failing")["not_optimized_reason"] == "its first execution failed"


@pytest.mark.parametrize("name", FAULTS)
def test_fault(cases: Path, name: str) -> None:
    code, marker = FAULTS[name]
    (finding,) = Outcome(cases, name).findings
    assert finding["code"] == code
    assert finding["where"][0]["line"] == line_of(marker)
    assert Path(finding["where"][0]["file"]).name == SCRIPT.name


@pytest.mark.parametrize("name", FAULTS)
def test_healthy_twin(cases: Path, name: str) -> None:
    healthy = Outcome(cases, f"{name}_healthy")
    assert healthy.data["functions"] and healthy.findings == []


def test_unrolled_copies(cases: Path) -> None:
    (faulty,) = Outcome(cases, "unrolled_loop").function("roll")["control"]
    assert (faulty["became"], faulty["copies"], faulty["ops"]) == ("unrolled", 400, 1200)
    over = Outcome(cases, "unrolled_loop_healthy").function("roll")["control"]
    assert [(each["became"], each["per_variable"]) for each in over] == [("graph", False), ("unrolled", True)]
    assert over[1]["copies"] == 100


def test_huge_constant(outcome: Outcome) -> None:
    function = outcome.function("pick")
    assert function["constants_bytes"] == 30_000 * 784 * 4 + 4  # and the axis
    assert function["optimized"] is None and "too large" in function["not_optimized_reason"]
    assert sum(file.stat().st_size for file in outcome.folder.iterdir()) < 100_000


def test_keras_shown(outcome: Outcome) -> None:
    step = outcome.function("multi_step_on_iterator", "one_step_on_iterator")  # so Keras before 3.4 calls it
    assert step["owner"] == "keras" and step["optimized"] is not None
    by_type = {each["type"]: each["flops"] for each in step["by_type"]}
    # Two layers: forward and the kernel's gradient; of the second also the gradient of its input.
    assert by_type["MatMul"] == 2 * (2 * 16 * 8 * 4) + 3 * (2 * 16 * 4 * 1)


def test_keras_hidden(outcome: Outcome) -> None:
    assert outcome.data["functions"] == [] and outcome.data["left_out"] == 2 and outcome.result["tables"] == []
    assert "--ops-keras" in outcome.result["summary"]


def test_xla(outcome: Outcome) -> None:
    compiles, blocked = outcome.function("compiles")["xla"], outcome.function("blocked")["xla"]
    assert compiles["compiles"] and compiles["fusions"] and compiles["hlo_instructions"] > 3
    assert outcome.function("jitted")["xla"]["jit_compile"] and outcome.function("jitted")["optimized"] is None
    assert blocked["compiles"] is False
    (blocking,) = blocked["blocking"]
    assert blocking["type"] == "PyFunc" and blocking["where"]["line"] == line_of("# what blocks XLA")
    assert "HloModule" in (outcome.folder / "compiles.hlo.after.txt").read_text()


def test_autograph(outcome: Outcome) -> None:
    assert any("did you mean branches?" in note for note in outcome.result["notes"])
    (table,) = [table for table in outcome.result["tables"] if "AutoGraph" in table["title"]]
    made = {row[0]: row[2] for row in table["rows"] if row[0]}
    assert any("ag__.while_stmt" in row[2] for row in table["rows"])
    assert line_of("while tf.reduce_sum(x) < 10.0:") in made
    became = {each["line"]: each["became"] for each in outcome.function("branches")["control"]}
    assert became[line_of("while tf.reduce_sum(x) < 10.0:")] == "graph"
    assert became[line_of("if deep:")] == "python"
    assert became[line_of("x = x + float(i)") - 1] == "unrolled"


def test_under_tfperf(tmp_path: Path) -> None:
    """The entry point, the run directory and the report, as a user gets them."""
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow as tf\nw = tf.Variable(tf.ones([4, 4]))\n\n\n@tf.function\ndef step(x):\n"
        "    w.assign_sub(tf.matmul(x, w) * 0.1)\n    return tf.reduce_sum(w)\n\n\n"
        "for _ in range(5):\n    step(tf.ones([4, 4]))\n"
    )
    report = tmp_path / "report.json"
    asked = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "COLUMNS": "80"}
    tfperf, environment = warm_tfperf(asked)
    done = subprocess.run(
        [
            *tfperf,
            "run",
            "--probes",
            "ops",
            "--run-dir",
            str(tmp_path / "run"),
            "--json",
            str(report),
            str(script),
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    document = json.loads(report.read_text())
    (probe,) = document["probes"]
    assert probe["status"] == "ok"
    (function,) = probe["data"]["functions"]
    assert function["function"] == "step" and function["line"] == 5
    assert function["flops"] == 2 * 4 * 4 * 4 + 16 + 16 + 16  # product, scale, update, sum
    assert "step: where the work is" in done.stderr and document["findings"] == []
