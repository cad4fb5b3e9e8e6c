"""The explanation of a cache miss on stand-ins for TensorFlow's types."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from tfperfkit_probes.retrace.cause import compare
from tfperfkit_probes.tensor_types import MAX_LEAVES, Names, leaves


class Dims:
    def __init__(self, sizes: tuple[int | None, ...]) -> None:
        self.sizes = sizes

    def as_list(self) -> list[int | None]:
        return list(self.sizes)


@dataclasses.dataclass(frozen=True)
class Named:
    name: str


class TensorSpec:
    def __init__(self, *sizes: int | None, dtype: str = "float32") -> None:
        self.shape, self.dtype, self.sizes = Dims(sizes), Named(dtype), sizes

    def is_subtype_of(self, other: Any) -> bool:
        if not isinstance(other, TensorSpec) or self.dtype != other.dtype or len(self.sizes) != len(other.sizes):
            return False
        return all(b is None or a == b for a, b in zip(self.sizes, other.sizes, strict=True))


class Literal:
    def __init__(self, value: Any) -> None:
        self.value = value

    def is_subtype_of(self, other: Any) -> bool:
        return isinstance(other, Literal) and self.value == other.value


class Tuple:
    def __init__(self, *components: Any) -> None:
        self.components = components


class Dict:
    def __init__(self, **mapping: Any) -> None:
        self.mapping = mapping


class SomethingNew:
    def __repr__(self) -> str:
        return "new\ntype" * 30


@dataclasses.dataclass
class Entry:
    function_type: Any
    context: Any = None


@dataclasses.dataclass
class Parameter:
    type_constraint: Any
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD


class Type:
    def __init__(self, **parameters: Any) -> None:
        self.parameters = {name: Parameter(given) for name, given in parameters.items()}


def explain(before: list[Type], now: Type) -> tuple[int, list[tuple[str, str, str, str]]]:
    found = compare(now, None, [Entry(t) for t in before], Names())
    assert found is not None
    return found.index, [(d.path, d.before, d.after, d.way) for d in found.differences]


def test_the_closest_trace_is_the_one_with_the_fewest_differences() -> None:
    before = [
        Type(x=TensorSpec(32), flag=Literal(1)),
        Type(x=TensorSpec(8, 8), flag=Literal(2)),
        Type(x=TensorSpec(9), flag=Literal(3)),
    ]
    index, causes = explain(before, Type(x=TensorSpec(17), flag=Literal(1)))
    assert index == 0
    assert causes == [("x", "f32[32]", "f32[17]", "shape")]


def test_of_equally_close_ones_the_newest() -> None:
    index, _ = explain([Type(x=TensorSpec(1)), Type(x=TensorSpec(2))], Type(x=TensorSpec(3)))
    assert index == 1


def test_shapes_that_change_together_are_nearer_than_a_dtype() -> None:
    before = [
        Type(x=TensorSpec(None), y=TensorSpec(None)),
        Type(x=TensorSpec(5, dtype="float64"), y=TensorSpec(5)),
    ]
    index, causes = explain(before, Type(x=TensorSpec(6, dtype="float64"), y=TensorSpec(6)))
    assert index == 1
    assert [cause[3] for cause in causes] == ["shape", "shape"]


def test_an_open_dimension_serves_and_is_no_difference() -> None:
    _, causes = explain([Type(x=TensorSpec(None, 4), n=Literal(1))], Type(x=TensorSpec(9, 4), n=Literal(2)))
    assert causes == [("n", "1", "2", "value")]


def test_beneath_a_changed_container_nothing_more_is_said() -> None:
    before = Type(batch=Dict(a=TensorSpec(1), b=Tuple(Literal(1), Literal(2))))
    _, causes = explain([before], Type(batch=Dict(a=TensorSpec(2), b=Tuple(Literal(1)))))
    assert causes == [
        ('batch["a"]', "f32[1]", "f32[2]", "shape"),
        ('batch["b"]', "tuple of 2", "tuple of 1", "structure"),
    ]


def test_a_tensor_in_place_of_a_value() -> None:
    _, causes = explain([Type(mask=Literal(None))], Type(mask=TensorSpec(3, dtype="bool")))
    assert causes == [("mask", "None", "bool[3]", "type")]


def test_no_difference_is_said_to_be_unknown() -> None:
    _, causes = explain([Type(x=TensorSpec(3))], Type(x=TensorSpec(3)))
    assert [cause[3] for cause in causes] == ["unknown"]


def test_an_empty_cache_has_no_closest() -> None:
    assert compare(Type(x=TensorSpec(3)), None, [], Names()) is None


def test_unknown_types_are_shown_by_their_text_on_one_short_line() -> None:
    (leaf,) = leaves(Type(x=SomethingNew())).values()
    assert "\n" not in leaf.argument.text and len(leaf.argument.text) <= 80


def test_huge_arguments_are_cut() -> None:
    assert len(leaves(Type(x=Tuple(*(Literal(n) for n in range(5000)))))) == MAX_LEAVES
