"""The operations of XLA's kernels."""

from __future__ import annotations

from typing import Any

import pytest
from xspace_builder import SpaceBuilder

from tfperfkit.xplane import open_space
from tfperfkit.xplane.hlo import Module, read_modules
from tfperfkit.xplane.schema import message_class


class HloBuilder:
    def __init__(self, name: str = "a_inference_step_1__Xla") -> None:
        self.message = message_class("HloProto")()
        self.module = self.message.hlo_module
        self.module.name = name.encode()
        self._ids = 0

    def computation(self, number: int) -> Any:
        return self.module.computations.add(id=number, name=f"c{number}".encode())

    def add(
        self,
        computation: Any,
        name: str,
        opcode: str,
        shape: list[int],
        operation: str = "",
        operands: tuple[Any, ...] = (),
        calls: tuple[int, ...] = (),
        parameter: int = 0,
    ) -> Any:
        self._ids += 1
        item = computation.instructions.add(
            id=self._ids, name=name.encode(), opcode=opcode.encode(), parameter_number=parameter
        )
        item.shape.dimensions.extend(shape)
        item.metadata.op_name = operation.encode()
        item.operand_ids.extend(operand.id for operand in operands)
        item.called_computation_ids.extend(calls)
        return item


def test_a_named_instruction_is_its_operation() -> None:
    make = HloBuilder()
    entry = make.computation(1)
    make.add(entry, "dot.1", "dot", [4, 4], "MatMul")
    assert Module(make.module).parts("dot.1") == (("MatMul", 1.0),)
    assert Module(make.module).parts("unknown") == ()


def test_a_fusion_is_divided_by_work() -> None:
    make = HloBuilder()
    entry, fused = make.computation(1), make.computation(2)
    left = make.add(fused, "p0", "parameter", [10, 30])
    dot = make.add(fused, "dot.1", "dot", [10, 10], "MatMul", (left,))
    dot.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    make.add(fused, "add.1", "add", [10, 10], "Add", (dot,))
    make.add(entry, "fusion.1", "fusion", [10, 10], "Add", calls=(2,))
    parts = dict(Module(make.module).parts("fusion.1"))
    assert parts == {"MatMul": pytest.approx(60 / 61), "Add": pytest.approx(1 / 61)}


def test_an_instruction_without_a_name_serves_what_uses_it() -> None:
    make = HloBuilder()
    entry, fused = make.computation(1), make.computation(2)
    inner = make.add(fused, "p0", "parameter", [8])
    make.add(fused, "neg", "negate", [8], "gradient_tape/Conv2DBackpropFilter", (inner,))
    make.add(fused, "mul", "multiply", [8], "adam/Mul")
    copy = make.add(entry, "copy.1", "copy", [8])
    turned = make.add(entry, "transpose.1", "transpose", [8], operands=(copy,))
    make.add(entry, "fusion.1", "fusion", [8], "adam/Mul", (turned,), calls=(2,))
    module = Module(make.module)
    assert module.parts("copy.1") == (("gradient_tape/Conv2DBackpropFilter", 1.0),)


def test_a_last_instruction_without_a_name_takes_that_of_its_source() -> None:
    make = HloBuilder()
    entry = make.computation(1)
    source = make.add(entry, "rng", "custom-call", [8], "random/Uniform")
    make.add(entry, "copy.2", "copy", [8], operands=(source,))
    assert Module(make.module).parts("copy.2") == (("random/Uniform", 1.0),)


def test_loops_are_containers() -> None:
    make = HloBuilder()
    entry = make.computation(1)
    make.add(entry, "while.1", "while", [8], "while")
    make.add(entry, "dot.1", "dot", [8], "MatMul")
    module = Module(make.module)
    assert module.cost("while.1") is None and module.cost("dot.1") == 8.0
    assert module.cost("unknown") == 0.0


def test_modules_are_read_from_a_trace(tmp_path: Any) -> None:
    make = HloBuilder()
    make.add(make.computation(1), "dot.1", "dot", [8], "MatMul")
    space = SpaceBuilder()
    plane = space.plane("/host:metadata")
    for number, data in enumerate([make.message.SerializeToString(), b"\xff\xff"], 1):
        entry = plane.message.event_metadata.add(key=number)
        entry.value.id = number
        plane.stats(entry.value.stats, {"Hlo Proto": data})
    with open_space(space.write(tmp_path / "t.xplane.pb")) as opened:
        assert list(read_modules(opened)) == ["a_inference_step_1__Xla"]
