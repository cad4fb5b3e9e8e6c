"""The layers' rate is next to the machine's rate, if that is known."""

from __future__ import annotations

import msgspec
from tfperfkit_probes.lines.graph.data import GraphFunction, LayerRow
from tfperfkit_probes.lines.graph.limits import Limit, layer_limits
from tfperfkit_probes.lines.graph.origin import Owner
from tfperfkit_probes.lines.graph.tables import layers_table
from tfperfkit_probes.lines.graph.tree import FunctionTime, Ran

from tfperfkit.graph.bounds import AtHand, Machine


def layer(name: str, gflop_per_s: float | None) -> LayerRow:
    times = {"forward_ms": 1.0, "backward_ms": 1.0, "update_ms": 0.0}
    return LayerRow(layer=name, kind="Dense", shape="8", share=0.4, gflop=0.1, gflop_per_s=gflop_per_s, **times)


FUNCTION = GraphFunction(
    function="step", file="train.py", line=3, ms_per_step=5.0, layers=(layer("a", 50.0), layer("b", None))
)


def test_the_share_of_the_machine_is_reported() -> None:
    table = layers_table(FUNCTION, 200.0)
    assert table is not None
    assert [row[-1] for row in table.rows] == [0.25, None]
    assert table.columns[-1].name == "of machine" and "200" in table.note


def test_without_the_machines_rate_there_is_no_column() -> None:
    table = layers_table(FUNCTION)
    assert table is not None
    assert table.columns[-1].name == "GFLOP/s"
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_a_machine_that_its_own_layers_outrun_was_busy_when_it_was_measured() -> None:
    table = layers_table(FUNCTION, 20.0)
    assert table is not None
    assert table.columns[-1].name == "GFLOP/s" and "was busy when its own speed was measured" in table.note
    close = layers_table(FUNCTION, 40.0)
    assert close is not None and close.columns[-1].name == "of machine"


def test_what_bounds_a_layer_is_reported_where_it_is_known() -> None:
    row = msgspec.structs.replace(layer("c", 10.0), bound="memory, 3 B/FLOP")
    table = layers_table(msgspec.structs.replace(FUNCTION, layers=(row, layer("d", 1.0))), 200.0)
    assert table is not None
    assert table.columns[-1].name == "bound by" and [each[-1] for each in table.rows] == ["memory, 3 B/FLOP", None]


def test_a_layer_is_bound_by_what_most_of_its_time_is() -> None:
    product = Ran(wall=4e9, busy=4e9, runs=1, flops=2e8, moved=1e6, shapes="1000×100, 100×1000 → 1000×1000")
    small = Ran(wall=1e9, busy=1e9, runs=50, moved=4e3)
    function = FunctionTime(Owner("t.py", 1, "step"))
    function.ran = {("f", "a", "_MklMatMul", "net/dense"): product, ("f", "b", "Mul", "net/dense"): small}
    function.ran |= {("f", "c", "Mul", "net/tiny"): small, ("u", "d", "Mul", ""): small}
    found = layer_limits(function, AtHand(Machine(100.0, 10.0)), 1)
    assert found["net/dense"] == Limit("arithmetic", "MatMul 1000×100, 100×1000 → 1000×1000", 1e6 + 4e3)
    assert found["net/tiny"].words == "50 small ops"
    assert set(found) == {"net/dense", "net/tiny"}
