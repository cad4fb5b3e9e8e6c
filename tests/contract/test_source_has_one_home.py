"""Questions about source code are answered in one place: outside of it nobody walks a syntax tree."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOMES = ("tfperfkit/syntax/", "tfperfkit/fixing/")
WALKS = ("walk", "NodeVisitor")


def modules() -> list[str]:
    paths = (
        path.relative_to(ROOT).as_posix() for top in ("tfperfkit", "plugins") for path in (ROOT / top).rglob("*.py")
    )
    return sorted(path for path in paths if not path.startswith(HOMES))


def walks(tree: ast.Module) -> list[int]:
    """The lines that walk a tree by Python's own means, however these were imported."""
    reached = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in WALKS]
    lines = [node.lineno for node in reached if isinstance(node.value, ast.Name) and node.value.id == "ast"]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "ast"]
    return lines + [node.lineno for node in imports if any(item.name in WALKS for item in node.names)]


def test_no_module_walks_a_syntax_tree() -> None:
    found = {path: walks(ast.parse((ROOT / path).read_text(encoding="utf-8"))) for path in modules()}
    assert len(found) > 500
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text", ["import ast\nast.walk(tree)", "from ast import walk", "import ast\nclass F(ast.NodeVisitor): ..."]
)
def test_a_walk_is_seen(text: str) -> None:
    assert walks(ast.parse(text)) != []
