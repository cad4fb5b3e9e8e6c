"""Which argument of a call goes to which parameter."""

from __future__ import annotations

import ast

import pytest

from tfperfkit.syntax.call import bind_arguments


def bound(definition: str, call: str, skip: int = 0) -> dict[str, str] | None:
    function = ast.parse(f"def f({definition}): ...").body[0]
    expression = ast.parse(call, mode="eval").body
    assert isinstance(function, ast.FunctionDef) and isinstance(expression, ast.Call)
    found = bind_arguments(function.args, expression, skip=skip)
    if found is None:
        return None
    return {
        name: ", ".join(
            [
                *map(ast.unparse, given.values),
                *([f"={ast.unparse(given.default)}"] if given.default is not None else []),
                *([] if given.sure else ["?"]),
            ]
        )
        for name, given in found.items()
    }


@pytest.mark.parametrize(
    ("definition", "call", "expected"),
    [
        ("a, b", "f(1, 2)", {"a": "1", "b": "2"}),
        ("a, b", "f(b=1, a=2)", {"a": "2", "b": "1"}),
        ("a, b=3", "f(1)", {"a": "1", "b": "=3"}),
        ("a, *rest", "f(1, 2, 3)", {"a": "1", "rest": "2, 3"}),
        ("a, **rest", "f(1, b=2)", {"a": "1", "rest": "2"}),
        ("a, /, b, *, c=4", "f(1, b=2)", {"a": "1", "b": "2", "c": "=4"}),
        ("a, b, c=5", "f(1, *xs)", {"a": "1", "b": "*xs, ?", "c": "*xs, =5, ?"}),
        ("a, b=2", "f(1, **given)", {"a": "1", "b": "given, =2, ?"}),
    ],
)
def test_each_parameter_gets_its_argument(definition: str, call: str, expected: dict[str, str]) -> None:
    assert bound(definition, call) == expected


def test_a_method_has_its_object_already() -> None:
    assert bound("self, a", "f(1)", skip=1) == {"a": "1"}


@pytest.mark.parametrize(
    ("definition", "call"), [("a", "f()"), ("a", "f(1, 2)"), ("a", "f(1, b=2)"), ("a, /", "f(a=1)")]
)
def test_a_call_that_python_refuses_is_bound_to_nothing(definition: str, call: str) -> None:
    assert bound(definition, call) is None


def test_what_a_partial_adds_comes_before() -> None:
    function = ast.parse("def f(a, b, c): ...").body[0]
    call = ast.parse("g(3)", mode="eval").body
    assert isinstance(function, ast.FunctionDef) and isinstance(call, ast.Call)
    found = bind_arguments(function.args, call, before=[ast.Constant(1), ast.keyword("c", ast.Constant(9))])
    assert found is not None
    assert {name: [ast.unparse(item) for item in given.values] for name, given in found.items()} == {
        "a": ["1"],
        "b": ["3"],
        "c": ["9"],
    }
