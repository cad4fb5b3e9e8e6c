"""GRF010 on: wasted work with its share, forward and backward; silent where it is small or most would be left."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from computed_builder import compiled, ran
from evidence_builder import FILE, make_evidence, make_samples, make_steps
from graph_causes import offer_causes
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_rules.graph import RULES
from tfperfkit_rules.graph.all_differences import Differences
from tfperfkit_rules.graph.all_positions import ComputedPositions
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.copied_variable import CopiedRows, SummedTable
from tfperfkit_rules.graph.dense_mask import Mask
from tfperfkit_rules.graph.factorised_again import FactorisedMatrix
from tfperfkit_rules.graph.flattened import FlattenedLayer
from tfperfkit_rules.graph.growing_argument import GrownArgument
from tfperfkit_rules.graph.jacobian_diagonal import DiagonalJacobian
from tfperfkit_rules.graph.matmul_order import CostlyOrder
from tfperfkit_rules.graph.picked_branch import PickedBranches
from tfperfkit_rules.graph.repeated_rows import EnlargedPicture, RepeatedRows
from tfperfkit_rules.graph.same_in_each import NeverChanging, SameArgument
from tfperfkit_rules.graph.same_matrix import StayingMatrix
from tfperfkit_rules.graph.same_rows import StackedRows
from tfperfkit_rules.graph.separable_kernel import SeparableConvolution
from tfperfkit_rules.graph.sparse_as_dense import ZeroMatrix
from tfperfkit_rules.graph.weight_averages import AveragedWeights
from tfperfkit_rules.graph.whole_penalty import PenalisedTable
from tfperfkit_rules.graph.whole_shuffle import ShuffledRows
from tfperfkit_rules.graph.whole_sort import SortedRow
from tfperfkit_rules.graph.whole_table import ComputedTable
from tfprof_builder import brief, graphs, op
from work_builder import frame, sampled, work_evidence

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedStep, FixedWork, FunctionCalls, RanOperation, RanOperations

HERE = SourceSpan("train.py", 3, "loss")
CODES = {
    "stacked": "GRF023",
}


#: By their codes (CODES has others), causes that a ``GraphRule`` finds.
CAUSES: dict[str, Cause] = {
    "GRF013": SortedRow(where=HERE, operations=["sort/TopKV2"], left=0.1, length=24_000, used=120, rows=8),
    "GRF010": Mask(
        where=HERE,
        operations=["sort/TopKV2"],
        left=0.1,
        numbers=9_000_000,
        indices=768,
        one_hot=True,
        multiplied=True,
    ),
    "GRF011": CostlyOrder(
        where=HERE, operations=["sort/TopKV2"], left=0.1, arithmetic=2e9, needed=2e7, made=30_000_000, between=1000
    ),
    "GRF014": ComputedTable(where=HERE, operations=["sort/TopKV2"], left=0.1, rows=60_000, taken=1024),
    "GRF021": ZeroMatrix(where=HERE, operations=["sort/TopKV2"], left=0.1, numbers=16_000_000, filled=0.0012),
    "GRF012": Differences(
        where=HERE, operations=["sort/TopKV2"], left=0.1, differences=70_000_000, distances=6_000_000, numbers=1_000_000
    ),
    "GRF019": CopiedRows(
        where=HERE,
        operations=["sort/TopKV2"],
        left=0.1,
        rows=120_000,
        written=64,
        table_bytes=60_000_000,
        numbers=7_680_000,
        numbers_written=4096,
        queue=False,
    ),
    "GRF016": StayingMatrix(where=HERE, operations=["sort/TopKV2"], left=0.1, size=480, columns=4, in_loop=True),
    "GRF033": SeparableConvolution(where=HERE, operations=["sort/TopKV2"], left=0.1, sides=(53, 53), channels=1),
    "stacked": StackedRows(where=HERE, operations=["sort/TopKV2"], left=0.1, same=2, rows=3, variables=30),
    "GRF020": DiagonalJacobian(where=HERE, operations=["sort/TopKV2"], left=0.1, examples=96, zeros=False),
    "GRF023": SameArgument(
        where=HERE, operations=["sort/TopKV2"], left=0.1, names=["article"], idle=False, calls=33, times=16.5
    ),
    "GRF025": FactorisedMatrix(
        where=HERE, operations=["sort/TopKV2"], left=0.1, size=480, times=2, determinant=True, inverse=True
    ),
    "GRF017": PickedBranches(where=HERE, operations=["sort/TopKV2"], left=0.1, branches=12),
    "GRF027": ComputedPositions(where=HERE, operations=["sort/TopKV2"], left=0.1, positions=32, used=1, named=0),
    "GRF015": RepeatedRows(where=HERE, operations=["sort/TopKV2"], left=0.1, rows=50, times=1500),
    "GRF028": PenalisedTable(where=HERE, operations=["sort/TopKV2"], left=0.1, rows=90_000, taken=512),
    "GRF026": ShuffledRows(where=HERE, operations=["sort/TopKV2"], left=0.1, rows=1_000_000, used=64),
}


#: Other kinds of GRF023, GRF015 and GRF019.
FIXED = NeverChanging(where=HERE, operations=["sort/TopKV2"], left=0.1, names=[], idle=False)
GROWN = GrownArgument(where=HERE, operations=["sort/TopKV2"], left=0.1, names=["article"], calls=33)
ENLARGED = EnlargedPicture(where=HERE, operations=["sort/TopKV2"], left=0.1, times=256, before=256, after=12)
SUMMED = SummedTable(
    where=HERE, operations=["sort/TopKV2"], left=0.1, rows=500_000, written=512, table_bytes=64_000_000
)


def waste(kind: str = "GRF013", **fields: Any) -> Any:
    return msgspec.structs.replace(CAUSES[kind], **fields)


def step(
    *causes: Cause,
    ms: float = 4.0,
    calls: float = 1.0,
    offers: tuple[Any, ...] = (),
    source: dict[str, str] | None = None,
    layer: str = "",
    direct: bool = False,
    **fields: Any,
) -> Any:
    graphs_ = offer_causes("__inference_step_1", *causes)
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    function = msgspec.structs.replace(function, **fields)
    forward = msgspec.structs.replace(ran("TopKV2", ms), of="sort/TopKV2", layer=layer, direct=direct)
    backward = msgspec.structs.replace(ran("ScatterNd", ms / 2, "backward"), of="sort/TopKV2")
    others = (ran("MatMul", 4.0, flops=1e6), msgspec.structs.replace(ran("Mul", 1.0, "update"), of="sort/TopKV2"))
    calls_ = FunctionCalls(per_step={"__inference_step_1": calls} if calls else {})
    more = (calls_, OpsData(functions=[], all=(function,)), graphs_, *offers)
    return compiled((forward, backward, *others), more=more, source=source or "")


def told(evidence: Any) -> list[Finding]:
    return [finding for rule in RULES for finding in rule(evidence)]


@pytest.mark.parametrize("kind", [*CAUSES])
def test_each_kind_has_its_code_place_and_words(kind: str) -> None:
    (finding,) = told(step(waste(kind)))
    assert (finding.code, finding.where[0]) == (CODES.get(kind, kind), HERE)
    assert finding.share_of_step == pytest.approx(6.0 / 12.14, abs=0.01)
    backward = next(row for row in finding.evidence if row.name == "share of the wasted time in the backward pass")
    assert backward.value == pytest.approx(1 / 3)


def test_what_follows_from_no_argument_has_words_of_its_own() -> None:
    (finding,) = told(step(FIXED))
    assert (finding.code, finding.where[0]) == ("GRF023", HERE)
    assert finding.title == "Loop-invariant computation repeated in every call of train_step"


def test_an_enlarged_picture_has_words_of_its_own() -> None:
    (finding,) = told(step(ENLARGED))
    assert (finding.code, finding.where[0]) == ("GRF015", HERE)
    assert finding.title == "Image resize by 256x before a 1 x 1 convolution"


def test_a_table_that_is_summed_has_words_of_its_own() -> None:
    (finding,) = told(step(SUMMED))
    assert (finding.code, finding.where[0]) == ("GRF019", HERE)
    assert finding.title.startswith("Whole tf.Variable of 500,000 rows updated to add 512")


def test_what_the_update_takes_goes_with_it() -> None:
    without, with_it = (told(step(waste("GRF028", updates=names)))[0] for names in ([], ["sort/TopKV2"]))
    assert with_it.share_of_step - without.share_of_step == pytest.approx(1.0 / 12.14, abs=0.01)
    backward = [
        next(row for row in one.evidence if row.name == "share of the wasted time in the backward pass").value
        for one in (without, with_it)
    ]
    assert backward[1] == pytest.approx(backward[0] * without.share_of_step / with_it.share_of_step)


def test_the_layer_that_is_given_the_penalty_is_the_first_place() -> None:
    text = "from tensorflow.keras import layers\n\nvectors = layers.Embedding(9, 2, embeddings_regularizer='l2')\n"
    (finding,) = told(step(waste("GRF028"), source={"model.py": text}))
    assert [(place.file, place.line) for place in finding.where[:2]] == [("model.py", 3), (HERE.file, HERE.line)]
    assert "activity_regularizer" in finding.advice
    assert "activity_regularizer" not in told(step(waste("GRF028")))[0].advice


@pytest.mark.parametrize("direct", [False, True])
def test_the_layer_that_computes_all_positions_is_named_where_it_gets_its_name(direct: bool) -> None:
    text = "from keras import layers\n\nh = layers.Dense(900, name='scores')(h)\n"
    (finding,) = told(step(waste("GRF027"), source={"model.py": text}, layer="net/scores", direct=direct))
    named = [(place.file, place.line) for place in finding.where][0] == ("model.py", 3)
    assert named is not direct and ("scores(h[:, -1])" in finding.advice) is not direct


@pytest.mark.parametrize("only_last", [True, False])
def test_a_recurrent_layer_returns_one_output_only_if_the_last_position_is_used(only_last: bool) -> None:
    (finding,) = told(step(waste("GRF027", only_last=only_last)))
    assert ("return_sequences=False" in finding.advice) is only_last


@pytest.mark.parametrize(
    "line",
    ["tf.norm(flat[:, None, :] - self.codes[None, :, :], axis=-1)", "tf.square(self.codes[None] - flat[:, None])"],
)
def test_the_points_of_all_differences_are_named_as_in_the_script(line: str) -> None:
    text = f"import tensorflow as tf\n\ndistances = {line}\n"
    (finding,) = told(step(waste("GRF012"), source={HERE.file: text}))
    assert (
        "tf.reduce_sum(self.codes * self.codes, -1) - 2 * tf.matmul(flat, self.codes, transpose_b=True)"
        in finding.advice
    )
    (unknown,) = told(step(waste("GRF012"), source={HERE.file: text.replace(line, "far(x)")}))
    assert "2 * tf.matmul(a, b, transpose_b=True)" in unknown.advice


def test_the_gain_is_what_is_not_left() -> None:
    (finding,) = told(step(waste()))
    assert finding.gain.bounds is not None and finding.gain.likely is not None
    assert 1.3 < finding.gain.bounds[0] < finding.gain.likely < finding.gain.bounds[1] < 2.2
    (less,) = told(step(waste(left=0.4)))
    assert less.gain.likely is not None and less.gain.likely < finding.gain.likely


def test_what_would_do_is_priced_by_its_arithmetic_and_memory() -> None:
    (cheap,) = told(step(waste("GRF011", left=None, flops=1e6, bytes=1e5)))
    (dear,) = told(step(waste("GRF011", left=None, flops=1e8, bytes=1e5)))
    assert cheap.gain.bounds is not None and dear.gain.bounds is not None
    assert dear.gain.bounds[0] < cheap.gain.bounds[0]
    assert not told(step(waste("GRF011", left=None, flops=1e9, bytes=1e5)))  # takes as long


@pytest.mark.parametrize(
    "evidence",
    [
        step(),
        step(waste(), ms=0.3),
        step(waste(left=0.7)),
        step(waste(), calls=0.0),
        step(waste(), jit_compile=True),
        step(waste(), first_execution_ms=None),
    ],
    ids=["none", "small", "most is left", "not in the step", "compiled by XLA", "never run by itself"],
)
def test_others_are_left_in_peace(evidence: Any) -> None:
    assert not told(evidence)


def test_one_line_in_two_functions_is_reported_once() -> None:
    assert len(told(step(waste(), waste()))) == 1


def test_operations_of_the_same_name_in_another_function_do_not_count() -> None:
    evidence = step(waste())
    data = evidence.offer(ComputedStep)
    rows = tuple(msgspec.structs.replace(row, file="train.py", line=40) if row.of else row for row in data.operations)
    graphs_ = offer_causes("__inference_step_1", waste())
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    more = (FunctionCalls(per_step={"__inference_step_1": 1.0}), OpsData(functions=[], all=(function,)), graphs_)
    assert told(compiled(data.operations, more=more))
    assert not told(compiled(rows, more=more))


def test_a_variable_that_the_step_assigns_to_beside_its_function_may_be_the_matrix() -> None:
    of_a_variable = waste("GRF016", of_variables=True)
    (finding,) = told(step(of_a_variable))
    assert "nothing changes" in finding.detail
    row = RanOperation(name="AssignVariableOp", type="AssignVariableOp", count=10, self_ms=0.1, where="eager")
    ran_ = RanOperations(steps=10, rows=(row,))
    assert not told(step(of_a_variable, offers=(ran_,)))
    assert told(step(waste("GRF016"), offers=(ran_,)))


def test_a_queue_becomes_a_ring_and_a_scatter_is_done_in_place() -> None:
    (scatter,) = told(step(waste("GRF019")))
    assert "scatter_nd_update(indices, rows)" in scatter.advice
    (cells,) = told(step(waste("GRF019", written=0.2, numbers=4_000_000, numbers_written=400)))
    assert cells.title == "Whole tf.Variable of 4 million numbers copied to write 400"
    (ring,) = told(step(waste("GRF019", queue=True)))
    assert "oldest" in ring.advice


def test_gradients_that_are_made_at_once_go_by_their_own_names() -> None:
    at_once = waste("GRF020", operations=["gradient_tape/net/Tanh/pfor/mul"])
    evidence = step(at_once)
    assert not told(evidence)
    data = evidence.offer(ComputedStep)
    name = "StatefulPartitionedCall/gradient_tape/net/Tanh/pfor/mul"
    rows = (*data.operations, msgspec.structs.replace(ran("Mul", 6.0, "backward"), name=name, of="net/Tanh"))
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    calls = FunctionCalls(per_step={"__inference_step_1": 1.0})
    more = (calls, OpsData(functions=[], all=(function,)), offer_causes("__inference_step_1", at_once))
    (finding,) = told(compiled(rows, more=more))
    assert finding.code == "GRF020"


def test_what_a_loop_computes_in_each_turn_is_reported_as_such() -> None:
    in_loop = waste("GRF023", calls=0, names=[])
    (finding,) = told(step(in_loop))
    assert "iteration" in finding.title and "before the loop" in finding.advice


def test_a_network_whose_weights_may_be_assigned_to_beside_the_function_is_left_out() -> None:
    row = RanOperation(name="AssignSubVariableOp", type="AssignSubVariableOp", count=20, self_ms=0.1, where="eager")
    few = RanOperations(steps=10, rows=(row,))
    many = RanOperations(steps=10, rows=(msgspec.structs.replace(row, count=300),))
    assert told(step(waste("stacked"), offers=(few,))) and not told(step(waste("stacked"), offers=(many,)))


def test_variables_that_training_changes_do_not_stay_in_training() -> None:
    assert not told(step(waste("GRF023", idle=True)))
    assert not told(step(GROWN))


def test_variables_that_can_be_trained_stay_where_one_function_trains_and_leaves_them() -> None:
    """Compare images with one network, next to the network that is trained."""
    idle = msgspec.structs.replace(FIXED, idle=True)
    alone = FixedWork(functions=(), writers=0)
    (found,) = told(step(idle, offers=(alone,), gradient_operations=50))
    assert found.title == "Loop-invariant computation repeated in every call of train_step"
    assert not told(step(idle, offers=(FixedWork(functions=(), writers=1),), gradient_operations=50))
    assert not told(step(idle, offers=(alone,), gradient_operations=0)), "what trains is not known"


def test_a_table_that_can_be_trained_stays_where_nothing_trains() -> None:
    """Each search normalises it."""
    idle = msgspec.structs.replace(FIXED, idle=True)

    source = "@tf.function\ndef search(query):\n    return top(query)\nfor query in queries:\n    search(query)\n"
    stacks = [sampled(400, "graph", frame(5))]
    rows = [op("Mul", 1400.0, count=400, name="sort/TopKV2"), op("MatMul", 400.0, count=400)]

    def search(trained: int = 0, first_ms: float = 100.0, traced: int = 1) -> list[Finding]:
        function = msgspec.structs.replace(brief(first_execution_ms=first_ms), function="search")
        function = msgspec.structs.replace(function, callers=[SourceSpan(FILE, 5)], gradient_operations=trained)
        others = [
            msgspec.structs.replace(function, graph=f"__inference_search_{n}", operations=1) for n in range(1, traced)
        ]
        found = offer_causes(function.graph, idle)
        functions, offers = graphs(function, *others), {"ops": [found]}
        return told(work_evidence(source, stacks, loop=4, iterations=400, ops=rows, functions=functions, offers=offers))

    assert [item.code for item in search()] == ["GRF023"]
    assert not search(trained=50), "what follows from it may be trained"
    assert not search(first_ms=1e5), "it was called once"
    assert not search(traced=400), "each iteration defines it again"


AVERAGES = AveragedWeights(where=HERE, operations=["sort/TopKV2"], left=0.1, variables=3, numbers=9)


@pytest.mark.parametrize(("kind", "told_of"), [("GRF027", 1), ("average", 0)])
def test_a_step_that_no_trace_timed_is_priced_by_its_graph(kind: str, told_of: int) -> None:
    """If the run ended before its trace did: not by the number of small operations."""
    mine = waste(kind) if kind == "GRF027" else AVERAGES
    graphs_ = offer_causes(brief().graph, msgspec.structs.replace(mine, takes_flops=3e8, whole_flops=9e8))
    given = {"callers": [SourceSpan(FILE, 5)], "first_execution_ms": 5.0}
    function = msgspec.structs.replace(brief(), gradient_operations=50, **given)
    evidence = make_evidence(
        parts_ms={"graph": 99.0, "dispatch": 1.0},
        steps=make_steps(8, 100.0),
        samples=make_samples([(90, "graph", (frame(5),))]),
        offers={"lines": (FunctionCalls(per_step={}), OpsData(functions=[], all=(function,)), graphs_)},
        machine_gflops=100.0,
    )
    findings = told(evidence)
    assert len(findings) == told_of
    assert all(0.3 < item.share_of_step < 0.35 and item.gain.low for item in findings)


FLAT = FlattenedLayer(
    where=HERE,
    operations=["dense/MatMul"],
    places_of_example=2025,
    axes=2,
    channels=32,
    numbers=64_800,
    units=256,
    kernel_bytes=66_000_000,
)


def flattened(ms: float = 4.0, trained: int = 70_000_000) -> Any:
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    function = msgspec.structs.replace(function, parameter_bytes=trained)
    product = msgspec.structs.replace(ran("MatMul", ms), of="dense/MatMul")
    update = msgspec.structs.replace(ran("Mul", ms, "update"), shapes="64800×256, 1 → 64800×256")
    other = msgspec.structs.replace(ran("Mul", 1.0, "update"), shapes="3×3×16×32, 1 → 3×3×16×32")
    calls = FunctionCalls(per_step={"__inference_step_1": 1.0})
    more = (calls, OpsData(functions=[], all=(function,)), offer_causes("__inference_step_1", FLAT))
    return compiled((product, update, other, ran("Conv2D", 4.0)), more=more)


def test_a_dense_layer_on_whole_pictures_is_reported_with_its_updates() -> None:
    (finding,) = told(flattened())
    assert (finding.code, finding.where[0]) == ("GRF022", HERE)
    assert finding.share_of_step == pytest.approx(8.0 / 13.14, abs=0.06)
    assert finding.gain.low is not None and 1.5 < finding.gain.low < 1 / (1 - finding.share_of_step)
    assert "64,800" in finding.title and "GlobalAveragePooling2D" in finding.advice


def test_a_dense_layer_that_is_quick_or_a_small_part_of_the_weights_is_left_in_peace() -> None:
    assert not told(flattened(ms=0.5))
    assert not told(flattened(trained=700_000_000))


def beside(width: float, alone_ms: float | None) -> Finding:
    """Waste that shares half of its time with one thread of what else runs, which is ``width`` threads elsewhere."""
    graphs_ = offer_causes("__inference_step_1", waste("GRF010", left=0.0))
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    sort = msgspec.structs.replace(ran("TopKV2", 6.0), of="sort/TopKV2", busy_ms=9.0, alone_ms=alone_ms)
    other = msgspec.structs.replace(ran("MatMul", 6.0), busy_ms=6.0 + 3.0 * width, alone_ms=3.0 if width == 1 else 0.0)
    more = (FunctionCalls(per_step={"__inference_step_1": 1.0}), OpsData(functions=[], all=(function,)), graphs_)
    (found,) = told(compiled((sort, other), more=more))
    return found


def test_what_runs_beside_stays_unless_it_can_take_the_place() -> None:
    serial, wide, unknown = beside(1, 3.0), beside(2, 3.0), beside(1, None)
    lower = [each.gain.bounds[0] for each in (serial, wide, unknown) if each.gain.bounds]
    assert lower[0] < lower[1] == pytest.approx(lower[2], rel=0.05)
    upper = [each.gain.bounds[1] for each in (serial, wide, unknown) if each.gain.bounds]
    assert upper == pytest.approx([upper[0]] * 3)


def test_operations_beyond_the_caches_slow_the_rest() -> None:
    small, large = (
        told(compiled((row, ran("MatMul", 6.0)), more=more))[0] for row, more in (_of_bytes(1e6), _of_bytes(1e8))
    )
    assert small.gain.bounds and large.gain.bounds
    assert large.gain.bounds[0] == small.gain.bounds[0] and large.gain.bounds[1] > small.gain.bounds[1]


def _of_bytes(moved: float) -> Any:
    graphs_ = offer_causes("__inference_step_1", waste("GRF010", left=0.0))
    function = brief(graph="__inference_step_1", first_execution_ms=5.0)
    row = msgspec.structs.replace(ran("TopKV2", 4.0), of="sort/TopKV2", bytes=moved)
    return row, (FunctionCalls(per_step={"__inference_step_1": 1.0}), OpsData(functions=[], all=(function,)), graphs_)
