"""GRF005 and GRF037 in the function of the stage that the steps wait for, and healthy functions like these."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import traced
from evidence_builder import FILE
from graph_causes import causes_in, offer_causes
from input_builder import evidence, mapped, pipeline, stage
from ops_builder import Builder
from tfperfkit_probes.ops.model import GraphLoop, MappedGraphs, Marks
from tfperfkit_rules.graph.cropped_decode import CroppedDecode, CroppedImage
from tfperfkit_rules.graph.mapped_functions import in_mapped_function
from tfperfkit_rules.input.waiting import waits
from tfprof_builder import brief, op

from tfperfkit.graph.recorded import RecordedFunction, RecordedGraphs
from tfperfkit.graph.tracebacks import common_frames
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.graph_contents import Traceback
from tfperfkit.rule import Evidence

GRAPH = "__inference_Dataset_map_load_9"
SOURCE = """import tensorflow as tf
def load(rows):
    return tf.map_fn(scale, rows)



data = data.map(load, num_parallel_calls=2)
"""
LOOP = GraphLoop(
    name="map/while",
    where=SourceSpan(FILE, 3, "load"),
    turns=2000,
    goes=1.0,
    operations=10.0,
    flops=300.0,
    elements=400.0,
    measured=True,
    whole_flops=6e5,
)
CROP = CroppedImage(where=SourceSpan(FILE, 3, "load"), operations=["DecodeJpeg"], left=0.25, pixels=4096)


def waiting_for(
    *loops: GraphLoop,
    causes: Any = (),
    ops: Any = (),
    source: str = SOURCE,
    kept_up: bool = False,
    recorded: Any = None,
) -> Evidence:
    """Return a step of 10 ms that waits 6 ms for a map on two threads, whose function has these loops."""
    function = brief(
        graph=GRAPH,
        function="Dataset_map_load",
        owner="tf.data",
        first_execution_ms=None,
        flops=7e5,
        operations=20,
        callers=[SourceSpan(FILE, 7, "<module>"), SourceSpan(FILE, 1, "<module>")],
        marks=Marks(loops=list(loops)),
    )
    slow = mapped("ParallelMap", own_ms=18.0, parallelism=2.0, parameters={"num_parallel_calls": 2})
    made = pipeline(stage("Prefetch", 9), slow, stage("Range"), bound_by=1, bound_ms_per_output=9.0)
    trace = traced({}, (), steps=10, wall_ms=100.0)
    return evidence(
        made,
        source=source,
        data={"tfprof": msgspec.structs.replace(trace, input_ops=tuple(ops))},
        offers={"ops": [MappedGraphs(functions=(function,)), recorded or offer_causes(GRAPH, *causes)]},
        **({"parts_ms": {"graph": 10.0}} if kept_up else {}),
    )


def found(*loops: GraphLoop, **given: Any) -> list[Finding]:
    return list(in_mapped_function(waiting_for(*loops, **given)))


def test_a_loop_over_the_rows_of_a_batch_explains_the_wait() -> None:
    (finding,) = found(LOOP)
    assert finding.code == "GRF005" and "INP001" in finding.absorbs
    assert [span.line for span in finding.where] == [3, 2, 7]
    assert finding.title == "tf.map_fn in load runs 2,000 tiny iterations"
    assert 0.4 < finding.share_of_step <= 0.6, "of the wait, not of the step"


@pytest.mark.parametrize(
    ("loop", "given"),
    [
        (LOOP, {"kept_up": True}),
        (msgspec.structs.replace(LOOP, flops=3.3e7), {}),  # a product of 256 x 256
        (LOOP, {"source": SOURCE.replace("tf.map_fn", "tf.scan")}),  # an iteration needs the one before
        (LOOP, {"source": SOURCE.replace("num_parallel_calls=2", "").replace("tf.map_fn", "other.map_fn")}),
    ],
)
def test_silent_on_a_loop_that_must_be_one(loop: GraphLoop, given: dict[str, Any]) -> None:
    assert found(loop, **given) == []


def decoding(ms: float) -> Any:
    """Two hundred images, decoded on two threads."""
    return [op("DecodeJpeg", 200 * ms, count=200, where="input"), op("Cast", 2.0, count=200, where="input")]


def test_a_large_image_that_is_decoded_for_a_small_crop() -> None:
    (finding,) = found(causes=[CROP], ops=decoding(20.0))
    assert finding.code == "GRF037" and "INP001" in finding.absorbs
    assert "decode_and_crop_jpeg" in finding.advice
    assert {row.value for row in finding.evidence} >= {4096, 20.0}


def test_silent_on_a_crop_that_uses_much_of_a_small_image() -> None:
    assert found(causes=[CROP], ops=decoding(0.5)) == []
    assert found(causes=[CROP]) == [], "without a trace nobody knows the size"


def test_the_wait_names_the_operations_that_take_the_time() -> None:
    graph = Builder(GRAPH)
    for kind in ("DecodeJpeg", "Cast"):
        graph.add(kind, kind)
    seen = waiting_for(ops=decoding(20.0), recorded=RecordedGraphs({GRAPH: RecordedFunction(graph.graph())}))
    (finding,) = waits(seen)
    assert "Most of its operations' time is in DecodeJpeg (100 %)." in finding.advice
    (finding,) = waits(waiting_for(ops=decoding(20.0)))
    assert "smaller images" in finding.advice, "the graph is not known"


def crops(*, also: str = "", size: str = "uint8[1,64,64,3]", kind: str = "DecodeJpeg") -> list[CroppedImage]:
    """Return the rule's causes where an image is cropped as ``tf.image.crop_to_bounding_box`` does it."""
    graph = Builder(GRAPH)
    contents = graph.add("Placeholder", "contents", (), "string[]")
    corner = graph.add("Placeholder", "corner", (), "int32[4]")
    image = graph.add(kind, "image", (contents,), "uint8[?,?,3]".replace("?", "None"))
    graph.add("Shape", "shape", (image,), "int32[3]")
    axis = graph.add("Const", "axis", (), "int32[]")
    batch = graph.add("ExpandDims", "batch", (image, axis), "uint8[1,None,None,3]")
    sizes = graph.add("Const", "sizes", (), "int32[4]")
    crop = graph.add("Slice", "crop", (batch, corner, sizes), size)
    if also:
        graph.results.append(graph.add(also, "also", (image, sizes), "float32[1,96,96,3]"))
    graph.results.append(graph.add("Identity", "result", (crop,), size))
    return [cause for cause in causes_in(graph.graph()) if isinstance(cause, CroppedImage)]


def test_an_image_of_which_only_a_slice_is_used() -> None:
    (cause,) = crops()
    assert cause.pixels == 4096 and cause.operations == ["image"]


@pytest.mark.parametrize(
    "given",
    [
        {"also": "ResizeBilinear"},  # a small picture of the whole
        {"size": "uint8[1,None,None,3]"},  # of unknown size
        {"size": "uint8[1,64,1,3]"},  # a column
        {"kind": "DecodePng"},
    ],
)
def test_silent_on_images_that_are_used_otherwise(given: dict[str, Any]) -> None:
    assert crops(**given) == []


def test_a_function_that_no_pipeline_calls_is_left_to_the_rule_itself() -> None:
    assert list(CroppedDecode()(waiting_for(causes=[CROP], ops=decoding(20.0)))) == []


def test_the_lines_below_which_a_function_was_traced() -> None:
    contents = msgspec.structs.replace(
        Builder(GRAPH).contents(),
        stacks=[0, 1, -1, 2, 1],
        files=["train.py", "keras.py"],
        frames=[(0, 40, "<module>"), (0, 7, "main"), (0, 2, "load"), (0, 3, "load")],
        tracebacks=[Traceback([0, 1, 2]), Traceback([0, 1, 3]), Traceback([3], foreign=True), Traceback([0])],
    )
    assert common_frames(contents) == [("train.py", 40, "<module>"), ("train.py", 7, "main")]
