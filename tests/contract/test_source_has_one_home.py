"""Questions about source code are answered in one place: outside of it nobody takes a syntax tree apart."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOMES = ("tfperfkit/syntax/", "tfperfkit/fixing/")
#: These compile changed source, so they change its tree. The list may only get shorter.
CHANGE_TREES = {"tfperfkit/launch/edited_main.py", "tfperfkit/magics.py"}
WALKS = ("walk", "NodeVisitor")


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


@pytest.mark.parametrize(
    "text", ["import ast\nast.walk(tree)", "from ast import walk", "import ast\nclass F(ast.NodeVisitor): ..."]
)
def test_a_walk_is_seen(text: str) -> None:
    assert walks(ast.parse(text)) != []
    assert imports_ast(ast.parse(text))
