"""Users read words: no figure of a finding has the name of a field."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

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


#: Titles of pages: of several codes, and of a rule that is a class.
_TITLES = ("TITLES", "title")
#: The words of ``Unit``. Titles of pages and sources of thresholds name the step by its usual name.
UNIT = re.compile(r"\b((the|a|each|every|per|of) step|the training loop)\b", re.IGNORECASE)


def texts(node: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts that a rule's module may put into a finding."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Threshold", "Measured"):
        return
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in _TITLES:
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    documents = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None
    for child in ast.iter_child_nodes(node):
        if not (documents and child is node.body[0]):  # type: ignore[attr-defined]
            yield from texts(child)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_rule_names_the_step_by_the_unit_of_its_evidence(path: Path) -> None:
    """It is asked about other loops and calls too, and then speaks of an iteration, or of the call."""
    found = [(text.lineno, text.value) for text in texts(ast.parse(path.read_text())) if UNIT.search(text.value)]
    assert found == [], "write evidence.unit.the, .a, .each, .every, .per or .loop"


def test_the_search_finds_the_words_of_the_unit() -> None:
    source = 'def rule(evidence):\n    """Of a step."""\n    return f"The step of {evidence.unit.a}", "every step"'
    assert [text.value for text in texts(ast.parse(source)) if UNIT.search(text.value)] == [
        "The step of ",
        "every step",
    ]
