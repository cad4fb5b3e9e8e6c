"""Labels of measurements are read alone, in a table: a pronoun in one stands for nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRONOUN = re.compile(r"\b(it|them|they|those|theirs)\b|^(of|in) (it|its|their)\b|\bof that\b")


def labels() -> Iterator[tuple[str, str]]:
    """Yield the place and the words of each label that a rule or probe writes out."""
    for file in sorted((ROOT / "plugins").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "Measurement"
                and node.args
            ):
                texts = [part.value for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant)]
                yield f"{file.relative_to(ROOT)}:{node.lineno}", "".join(map(str, texts))


def test_no_label_has_a_pronoun() -> None:
    found = list(labels())
    assert len(found) > 300
    assert [item for item in found if PRONOUN.search(item[1])] == []
