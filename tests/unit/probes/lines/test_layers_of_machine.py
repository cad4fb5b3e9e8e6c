"""The layers' rate stands beside what the machine reaches, where that is known."""

from __future__ import annotations

from tfperfkit_probes.lines.graph.data import GraphFunction, LayerRow
from tfperfkit_probes.lines.graph.tables import layers_table


def layer(name: str, gflop_per_s: float | None) -> LayerRow:
    times = {"forward_ms": 1.0, "backward_ms": 1.0, "update_ms": 0.0}
    return LayerRow(layer=name, kind="Dense", shape="8", share=0.4, gflop=0.1, gflop_per_s=gflop_per_s, **times)


FUNCTION = GraphFunction(
    function="step", file="train.py", line=3, ms_per_step=5.0, layers=(layer("a", 50.0), layer("b", None))
)


def test_the_share_of_the_machine_is_told() -> None:
    table = layers_table(FUNCTION, 200.0)
    assert table is not None
    assert [row[-1] for row in table.rows] == [0.25, None]
    assert table.columns[-1].name == "of machine" and "200" in table.note


def test_without_the_machines_rate_there_is_no_column() -> None:
    table = layers_table(FUNCTION)
    assert table is not None
    assert table.columns[-1].name == "GFLOP/s"
    assert all(len(row) == len(table.columns) for row in table.rows)
