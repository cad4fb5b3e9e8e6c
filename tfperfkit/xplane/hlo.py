"""Operations in an XLA kernel: from the name of an HLO instruction to its TensorFlow operations.

A fusion holds instructions of several operations: its time is divided over them by their floating-point operations,
an estimate. An instruction without an operation's name (a copy, a transposition that XLA put in) works for the one
that uses its result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from tfperfkit.errors import Unavailable
from tfperfkit.xplane import Space

#: Elementwise functions that take far longer than an addition (as XLA's cost analysis counts transcendentals).
_SLOW = frozenset(
    {
        "exponential",
        "exponential-minus-one",
        "log",
        "log-plus-one",
        "tanh",
        "power",
        "rsqrt",
        "sqrt",
        "cbrt",
        "logistic",
        "sine",
        "cosine",
        "divide",
        "erf",
        "atan2",
    }
)
_SLOW_FACTOR = 8.0
_FREE = frozenset({"parameter", "constant", "get-tuple-element", "tuple", "bitcast", "after-all"})
#: Instructions that run others: their own time is that of those others.
CONTAINERS = frozenset({"while", "conditional", "call", "async-start", "async-done"})
_REACH = 8


class Part(NamedTuple):
    """An operation's share (0 to 1) of an instruction."""

    operation: str
    share: float


class Module:
    """One compiled module."""

    def __init__(self, message: Any) -> None:
        self.name = _text(message.name)
        self._computations = {item.id: item for item in message.computations}
        self._instructions: dict[str, Any] = {}
        self._by_id: dict[int, Any] = {}
        self._users: dict[int, list[Any]] = {}
        for computation in message.computations:
            for instruction in computation.instructions:
                self._instructions[_text(instruction.name)] = instruction
                self._by_id[instruction.id] = instruction
                for operand in instruction.operand_ids:
                    self._users.setdefault(operand, []).append(instruction)
        self._costs: dict[str, float | None] = {}
        self._parts: dict[str, tuple[Part, ...]] = {}

    def cost(self, instruction: str) -> float | None:
        """Its floating-point operations; None for a container, 0 if it is not known."""
        if instruction not in self._costs:
            self._costs[instruction] = self._cost_of(self._instructions.get(instruction))
        return self._costs[instruction]

    def _cost_of(self, instruction: Any) -> float | None:
        if instruction is None:
            return 0.0
        kind = _text(instruction.opcode)
        if kind in CONTAINERS:
            return None
        if kind != "fusion":
            return max(self._cost(instruction), 1.0)
        inside = [item for item in self._list_computations(instruction) if _text(item.opcode) not in _FREE]
        return max(sum(self._cost(item) for item in inside), 1.0)

    def parts(self, instruction: str) -> tuple[Part, ...]:
        """Return the operations in an instruction with their shares; empty if none is known."""
        if instruction not in self._parts:
            found = self._instructions.get(instruction)
            self._parts[instruction] = self._divide(found) if found is not None else ()
        return self._parts[instruction]

    def source(self, instruction: str) -> str:
        """``file:line`` of the Python code that an instruction was traced from; "" if it is not known."""
        found = self._instructions.get(instruction)
        inside = [found, *self._list_computations(found)] if found is not None else []
        for each in inside:
            if each.metadata.source_file and each.metadata.source_line > 0:
                return f"{_text(each.metadata.source_file)}:{each.metadata.source_line}"
        return ""

    def bytes(self, instruction: str) -> float:
        """Return the bytes that an instruction at least reads and writes; 0 if it is not known, or a call of a
        library's function.
        """
        found = self._instructions.get(instruction)
        if found is None or _text(found.opcode) in CONTAINERS | {"custom-call"}:
            return 0.0
        operands = (self._operand(found, number) for number in range(len(found.operand_ids)))
        return _bytes(found.shape) + sum(_bytes(each.shape) for each in operands if each is not None)

    def _divide(self, instruction: Any) -> tuple[Part, ...]:
        own = _operation(instruction)
        weights: dict[str, float] = {}
        if _text(instruction.opcode) == "fusion":
            for inner in self._list_computations(instruction):
                name = _operation(inner)
                if name and _text(inner.opcode) not in _FREE:
                    weights[name] = weights.get(name, 0.0) + self._cost(inner)
        if len(weights) == 1 and not own:
            own = next(iter(weights))
        total = sum(weights.values())
        if total > 0 and len(weights) > 1:
            return tuple(Part(name, weight / total) for name, weight in weights.items())
        if not own:
            own = next(iter(weights), "") or self._served(instruction, 0) or self._made_of(instruction, 0)
        return (Part(own, 1.0),) if own else ()

    def _list_computations(self, instruction: Any) -> Iterator[Any]:
        for number in instruction.called_computation_ids:
            computation = self._computations.get(number)
            if computation is not None:
                yield from computation.instructions

    def _served(self, instruction: Any, depth: int) -> str:
        """Return the operation that uses the result of an instruction without a name."""
        if depth > _REACH:
            return ""
        for user in self._users.get(instruction.id, ()):
            name = ""
            if _text(user.opcode) == "fusion":
                numbers = [n for n, operand in enumerate(user.operand_ids) if operand == instruction.id]
                name = next((found for n in numbers if (found := self._through(user, n))), "")
            if name := name or _operation(user) or self._served(user, depth + 1):
                return name
        return ""

    def _made_of(self, instruction: Any, depth: int) -> str:
        """Return the operation whose result goes into an instruction that nothing with a name uses."""
        for number in range(len(instruction.operand_ids) if depth <= _REACH else 0):
            source = self._operand(instruction, number)
            if source is not None and (name := _operation(source) or self._made_of(source, depth + 1)):
                return name
        return ""

    def _through(self, fusion: Any, number: int) -> str:
        """Return the operation that uses a fusion's parameter first."""
        for inner in self._list_computations(fusion):
            if _text(inner.opcode) == "parameter" and inner.parameter_number == number:
                waiting, seen = list(self._users.get(inner.id, ())), 0
                while waiting and seen < 32:
                    user, seen = waiting.pop(0), seen + 1
                    if name := _operation(user):
                        return name
                    waiting += self._users.get(user.id, ())
        return ""

    def _cost(self, instruction: Any) -> float:
        """Floating-point operations, as XLA's cost analysis counts them; at least one for each value."""
        kind, size = _text(instruction.opcode), _size(instruction.shape)
        if kind == "dot":
            left = self._operand(instruction, 0)
            contracted = instruction.dot_dimension_numbers.lhs_contracting_dimensions
            if left is not None:
                return 2.0 * size * float(prod(left.shape.dimensions[i] for i in contracted))
        elif kind == "convolution":
            kernel = self._operand(instruction, 1)
            if kernel is not None and kernel.shape.dimensions:
                out = instruction.convolution_dimension_numbers.kernel_output_feature_dimension
                return 2.0 * size * _size(kernel.shape) / float(max(kernel.shape.dimensions[out], 1))
        elif kind in ("reduce", "reduce-window"):
            source = self._operand(instruction, 0)
            return max(size, _size(source.shape) if source is not None else 0.0)
        elif kind in _SLOW:
            return _SLOW_FACTOR * size
        return size

    def _operand(self, instruction: Any, number: int) -> Any:
        if number >= len(instruction.operand_ids):
            return None
        return self._by_id.get(instruction.operand_ids[number])


#: ``a_inference_step_60__.32(2195)``: the function, the number of its root instruction, the number of the program.
_PROGRAM = re.compile(r"(?P<function>.+?)(?:\.\d+)?\(\d+\)")


def count_programs(space: Space) -> dict[str, int]:
    """Count the programs that XLA had compiled when the trace ended, by function: one for each shape of its inputs.
    XLA gives the profiler every program that is still there (``XlaDebugInfoManager``)."""
    plane = space.plane("/host:metadata")
    names = map(plane.event_name, plane.event_metadata) if plane is not None else ()
    return dict(Counter(found["function"] for name in names if (found := _PROGRAM.fullmatch(name))))


def read_modules(space: Space) -> dict[str, Module]:
    """Return the modules of a trace by name; those that can't be decoded are left out."""
    plane = space.plane("/host:metadata")
    modules: dict[str, Module] = {}
    if plane is None:
        return modules
    for metadata in plane.event_metadata.values():
        for value in plane.resolve(metadata.stats).values():
            if not isinstance(value, bytes):
                continue
            try:
                module = Module(space.parse_bytes("HloProto", value).hlo_module)
            except Unavailable:
                continue
            modules[module.name] = module
    return modules


def _operation(instruction: Any) -> str:
    return _text(instruction.metadata.op_name)


#: Bytes of an element by ``xla.PrimitiveType`` (xla/xla_data.proto).
_ELEMENT = {
    1: 1,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    6: 1,
    7: 2,
    8: 4,
    9: 8,
    10: 2,
    11: 4,
    12: 8,
    15: 8,
    16: 2,
    18: 16,
    19: 1,
    20: 1,
}


def _bytes(shape: Any) -> float:
    if shape.tuple_shapes:
        return sum(_bytes(item) for item in shape.tuple_shapes)
    return float(prod(shape.dimensions)) * _ELEMENT.get(shape.element_type, 0)


def _size(shape: Any) -> float:
    if shape.tuple_shapes:
        return max(_size(item) for item in shape.tuple_shapes)
    return float(prod(shape.dimensions))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
