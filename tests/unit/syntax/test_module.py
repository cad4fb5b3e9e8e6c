"""A file is described by its functions and loops, whatever it contains."""

from __future__ import annotations

import ast

import pytest

from tfperfkit.syntax.module import Syntax, parse
from tfperfkit.syntax.nodes import find_own_nodes

SOURCE = """\
import tensorflow as tf

class Agent:
    @tf.function(jit_compile=True)
    def act(self, state, /, noise=0, *rest, seed):
        def inner(x):
            return x + 1
        if noise:
            return
        return inner(state)

for epoch, rows in enumerate(data):
    while rows:
        total = [each for each in rows for _ in each]
        step = lambda x: [y for y in x]
"""


def read(text: str) -> Syntax:
    found = parse(tuple(text.splitlines(keepends=True)))
    assert found is not None
    return found


def test_functions() -> None:
    syntax = read(SOURCE)
    act, inner = syntax.functions
    assert (act.name, act.line, act.first, act.last, act.owner) == ("act", 5, 4, 10, "Agent")
    assert (inner.name, inner.owner) == ("inner", "")
    assert act.parameters == ["self", "state", "noise"]
    assert [item.api for item in act.decorators] == ["tensorflow.function"]
    assert [item and item.text for item in act.returned] == [None, "inner(state)"]
    assert [item.text for item in syntax.lambdas[0].returned if item] == ["[y for y in x]"]
    assert syntax.find_function(4) == syntax.find_function(9) == act
    assert syntax.find_function(7) == syntax.find_only_function("inner") == inner
    assert syntax.find_function(12) is None and syntax.find_only_function("outer") is None
    assert [call.line for call in syntax.find_calls("inner")] == [10]


def test_loops() -> None:
    syntax = read(SOURCE)
    assert [(loop.line, loop.last, loop.over, loop.targets) for loop in syntax.find_loops(14)] == [
        (12, 15, "enumerate(data)", ("epoch", "rows")),
        (13, 15, "", ()),
        (14, 14, "rows", ("each",)),
    ]
    assert syntax.find_loops(7) == ()


def test_names_of_an_expression() -> None:
    item = read("total[i], last = rows(i), model.fit").assignments[0]
    assert [(part.bound_names, part.read_names) for part in (item.targets[0], item.value)] == [
        ({"last"}, {"total", "i"}),
        (set(), {"rows", "i", "model"}),
    ]
    assert [part.last_name for part in item.value.parts] == ["", "", "fit", "rows", "i", "model"]


@pytest.mark.parametrize(("text", "values", "expected"), [("1", (1,), True), ("True", (1,), False), ("x", (1,), False)])
def test_constants(text: str, values: tuple[object, ...], expected: bool) -> None:
    assert read(f"f({text})").calls[0].arguments[0].is_constant(*values) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("f(1, axis=2)", "2"), ("f(1, 3)", "3"), ("f(1)", None), ("f(*x, 3)", None), ("f(1, **x)", None)],
)
def test_an_argument(text: str, expected: str | None) -> None:
    found = read(text).calls[0].get_argument("axis", 1)
    assert (found.text if found is not None else None) == expected


def test_what_an_expression_is_made_of() -> None:
    syntax = read("a.b[0, -1] = x if a.b[2:] in y else [n + 1 for n in range(3)]")
    item = syntax.assignments[0]
    (target,) = item.targets
    assert (target.kind, target.owner and target.owner.dotted, [index.value for index in target.indices]) == (
        "subscript",
        "a.b",
        [0, -1],
    )
    (comparison,), (made,) = syntax.find_expressions("comparison"), syntax.find_expressions("comprehension")
    assert (comparison.operator, [side.text for side in comparison.operands]) == ("in", ["a.b[2:]", "y"])
    assert made.element is not None and (made.element.operator, made.element.parent) == ("+", made)
    assert [(name.text, over.text) for name, over in made.generators] == [("n", "range(3)")]
    (cut,) = syntax.find_expressions("slice")
    assert [end and end.text for end in cut.bounds] == ["2", None]
    assert made.owner is None and made.items == [] and made.operator == "" and not target.is_read


def test_what_a_call_gives_for_a_parameter() -> None:
    syntax = read("class A:\n    def f(self, x, n=1): ...\na.f(2, n=3)\na.f(*y)\n")
    (function,), calls = syntax.functions, syntax.find_calls("f")
    found = [[function.find_given(call, name) for name in ("x", "n")] for call in calls]
    assert [[each and each.text for each in row] for row in found] == [["2", "3"], [None, None]]


def test_a_loop_evaluates_its_body_but_not_its_iterable() -> None:
    syntax = read("for x in f(y):\n    g(x)\nh = [k(x) for x in z]\n")
    around = {call.function.text: [loop.evaluates(call) for loop in syntax.loops] for call in syntax.calls}
    assert around == {"f": [False, False], "g": [True, False], "k": [False, True]}


def test_nodes_of_its_own() -> None:
    act = read(SOURCE).functions[0]
    assert [type(node) for node in find_own_nodes(act.node, ast.FunctionDef, ast.Return)] == [
        ast.FunctionDef,
        ast.Return,
        ast.Return,
    ]


@pytest.mark.parametrize(
    "deep", ["+".join(["model(x)"] * 450), f"model{'.f(1)' * 200}", "(lambda: " * 80 + "1" + ")" * 80]
)
def test_an_expression_that_is_nested_too_deeply(deep: str) -> None:
    """The code around it is known, and it can be written."""
    syntax = read(f"import numpy as np\ndef f():\n    for x in {deep}:\n        np.load(x)\n")
    assert syntax.find_function(4) is not None
    assert [loop.line for loop in syntax.find_loops(4)] == [3]
    assert syntax.find_loops(4)[0].over
    assert [call.name for call in syntax.find_line_calls(4)] == ["numpy.load"]


def test_a_statement_that_is_nested_too_deeply() -> None:
    """The functions and loops of such a file are known, its names are not."""
    branches = "".join(f"    elif n == {n}:\n        n = f({n})\n" for n in range(700))
    syntax = read(f"import numpy as np\ndef f(n):\n    if n:\n        np.load(n)\n{branches}")
    assert syntax.find_function(1_404) is not None
    assert [call.name for call in syntax.find_line_calls(4)] == [""]


def test_twenty_thousand_lines() -> None:
    text = "".join(f"def f{n}(x):\n    for y in x:\n        g(y)\n    return x\n" for n in range(5_000))
    syntax = read(text)
    assert len(syntax.functions) == 5_000
    assert [loop.line for loop in syntax.find_loops(19_999)] == [19_998]
