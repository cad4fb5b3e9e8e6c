"""Every number that a rule uses is a ``Threshold``, with its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import tfperfkit_rules

from benchmarks.calibrate import modules
from benchmarks.calibrate import numbers as stated
from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold, table

ROOT = Path(tfperfkit_rules.__file__).parent
RULES = [path for path in sorted(ROOT.rglob("*.py")) if "calibration" not in path.relative_to(ROOT).parts]
THRESHOLDS = [pytest.param(record, id=name) for name, record in stated()]
#: None, one, a pair; per cent; thousands between units. They measure nothing.
PLAIN = {0, 1, 2, 100, 1_000, 1_000_000, 1_000_000_000}


def numbers(tree: ast.AST) -> Iterator[ast.Constant]:
    """The numbers of a module that decide something. Positions don't (``row[3]``, ``rows[:3]``, ``most_common(3)``: how
    many of a list are shown), nor does how a figure is written (``f"{x:.0f}" if x >= 10 else f"{x:.1f}"``), nor the
    shift of a unit (``1 << 20``) or the size of a cache. A number within a ``Threshold`` has its source."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in ("Threshold", "Measured"):
        return
    if isinstance(tree, ast.keyword) and tree.arg == "maxsize":  # of a cache
        return
    if isinstance(tree, ast.Subscript):
        yield from numbers(tree.value)
        if not isinstance(tree.slice, (ast.Constant, ast.Slice)):
            yield from numbers(tree.slice)
        return
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr == "most_common":
        yield from numbers(tree.func.value)
        return
    if isinstance(tree, ast.IfExp) and _writes(tree.body) and _writes(tree.orelse):
        return
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.LShift) and isinstance(tree.left, ast.Constant):
        if tree.left.value not in PLAIN:
            yield tree.left
        return
    if isinstance(tree, ast.Constant) and type(tree.value) in (int, float, complex) and tree.value not in PLAIN:
        yield tree
    for child in ast.iter_child_nodes(tree):
        yield from numbers(child)


def _writes(node: ast.AST) -> bool:
    """Text; the branch may be a choice of texts itself."""
    if isinstance(node, ast.IfExp):
        return _writes(node.body) and _writes(node.orelse)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


@pytest.mark.parametrize("path", RULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_number_stands_in_a_rule(path: Path) -> None:
    lines = path.read_text().splitlines()
    found = [
        f"{path.name}:{node.lineno}: {lines[node.lineno - 1].strip()}" for node in numbers(ast.parse("\n".join(lines)))
    ]
    assert not found, "a number of a rule is a Threshold, with its source:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("MIN = 0.05", [0.05]),
        ("MIN = Threshold(0.05, 'share', 'of the step', Chosen('a twentieth'))", []),
        ("def rule(share):\n    return min(share, 0.99) > 3 * 2", [0.99, 3]),
        ("def rule(many: int = 60): ...", [60]),
        ("rows[:3]; row[4]; seen.most_common(5); x / 1e6; 100 * share; 1 << 20", []),
        ("rows[key * 7]", [7]),
        ("text = f'{x:.0f} ms' if x >= 10 else f'{x:.1f} ms'", []),
        ("left = 0.5 if x >= 10 else 'all'", [10, 0.5]),
    ],
)
def test_the_search_finds_them(code: str, found: list[float]) -> None:
    assert [node.value for node in numbers(ast.parse(code))] == found


@pytest.mark.parametrize("record", THRESHOLDS)
def test_a_number_says_what_it_is_and_where_it_comes_from(record: Threshold) -> None:
    assert record.unit and record.says and type(record.value) in (int, float)
    source = record.source
    if isinstance(source, Measured):
        assert source.points != 0 and source.machine and source.found
    elif isinstance(source, Cited):
        assert source.text
    else:
        assert isinstance(source, Derived) and source.how or isinstance(source, Chosen) and source.why


def test_every_number_is_stated_once() -> None:
    """Show a number where it is stated, not in a module that only imports it."""
    names = [name for name, _ in stated()]
    assert len(names) == len(set(names))
    found = {id(record) for _, module in modules() for _, record in table(module)}
    assert {id(record) for _, record in stated()} == found


def test_every_number_of_a_rule_is_used() -> None:
    used = {name for path in ROOT.rglob("*.py") for name in re.findall(r"\b(\w+)\.value\b", path.read_text())}
    for _, module in modules():
        if module.__name__.startswith("tfperfkit_rules."):
            unused = [name for name, _ in table(module) if name not in used]
            assert not unused, f"{module.__name__}: used nowhere"
