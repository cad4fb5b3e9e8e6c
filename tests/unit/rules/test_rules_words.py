"""What a person reads is words: no name of a field stands in a figure of a finding."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3] / "plugins" / "tfperfkit_rules"
MAKERS = ("Measurement", "counted")


def names() -> list[tuple[str, str]]:
    """(file, name) of each figure whose name is written out where it is made."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.append((path.name, first.value))
    return found


def test_no_figure_is_called_by_a_field() -> None:
    known = names()
    assert len(known) > 100
    assert [item for item in known if "_" in item[1] and " " not in item[1]] == []
