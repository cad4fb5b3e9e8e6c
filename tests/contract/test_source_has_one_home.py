"""Knowledge has one home: outside of it nobody takes a syntax tree apart, or lists TensorFlow's operations."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tfperfkit.graph import optable

ROOT = Path(__file__).parents[2]
HOMES = ("tfperfkit/syntax/", "tfperfkit/fixing/")
#: These compile changed source, so they change its tree. The list may only get shorter.
CHANGE_TREES = {"tfperfkit/launch/edited_main.py", "tfperfkit/magics.py"}
WALKS = ("walk", "NodeVisitor")
#: A constant of a module with at least this many names of operations is a list of operations.
MANY = 3


def modules() -> list[str]:
    paths = (
        path.relative_to(ROOT).as_posix() for top in ("tfperfkit", "plugins") for path in (ROOT / top).rglob("*.py")
    )
    return sorted(path for path in paths if not path.startswith(HOMES))


def parse(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def imports_ast(tree: ast.Module) -> bool:
    named = [item.name for node in ast.walk(tree) if isinstance(node, ast.Import) for item in node.names]
    return "ast" in named or any(isinstance(node, ast.ImportFrom) and node.module == "ast" for node in ast.walk(tree))


def walks(tree: ast.Module) -> list[int]:
    """The lines that walk a tree by Python's own means, however these were imported."""
    reached = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in WALKS]
    lines = [node.lineno for node in reached if isinstance(node.value, ast.Name) and node.value.id == "ast"]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "ast"]
    return lines + [node.lineno for node in imports if any(item.name in WALKS for item in node.names)]


def test_no_module_imports_ast() -> None:
    paths = modules()
    assert len(paths) > 500
    assert {path for path in paths if imports_ast(parse(path))} == CHANGE_TREES


def test_no_module_walks_a_syntax_tree() -> None:
    assert {path: lines for path in modules() if (lines := walks(parse(path)))} == {}


def list_operations(tree: ast.Module) -> list[int]:
    """Return the lines of a module's constants that name several operations of TensorFlow's registry; those that begin
    with an underscore are the runtime's own."""
    known = {name for name in optable.names() if not name.startswith("_")}
    return [
        node.lineno
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        if sum(isinstance(each, ast.Constant) and each.value in known for each in ast.walk(node.value)) >= MANY
    ]


def test_only_the_table_lists_operations() -> None:
    table = {path for path in modules() if path.startswith("tfperfkit/graph/optable")}
    assert table
    assert {path: lines for path in modules() if path not in table and (lines := list_operations(parse(path)))} == {}


def test_a_list_of_operations_is_seen() -> None:
    assert list_operations(ast.parse('ADDS = {"Add", "AddV2"} | {"Sub"}')) == [1]
    assert list_operations(ast.parse('ADDS = optable.names(trait="shifts")')) == []


@pytest.mark.parametrize(
    "text", ["import ast\nast.walk(tree)", "from ast import walk", "import ast\nclass F(ast.NodeVisitor): ..."]
)
def test_a_walk_is_seen(text: str) -> None:
    assert walks(ast.parse(text)) != []
    assert imports_ast(ast.parse(text))
