"""Probes measure, rules find: no first-party probe makes a finding, and no rule runs another."""

from __future__ import annotations

import ast
from importlib.metadata import entry_points
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
PROBES = sorted((PLUGINS / "tfperfkit_probes").rglob("*.py"))
RULES = {
    rule.__name__: rule.__module__
    for point in entry_points(group="tfperfkit.rules")
    if point.value.startswith("tfperfkit_rules.")
    for rule in point.load()
}


def names(path: Path) -> set[str]:
    """Return the names that a module imports, and the keywords of its calls."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    given = {f"{word.arg}=" for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords}
    return imported | given


@pytest.mark.parametrize("path", PROBES, ids=lambda path: str(path.relative_to(PLUGINS)))
def test_a_probe_makes_no_finding(path: Path) -> None:
    assert not names(path) & {"Finding", "findings="}


def test_rules_are_only_called_by_whoever_has_the_list() -> None:
    assert len(RULES) > 30
    called = []
    for path in sorted((PLUGINS / "tfperfkit_rules").rglob("*.py")):
        module = ".".join(path.relative_to(PLUGINS).with_suffix("").parts)
        if path.name == "__init__.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        for node in ast.walk(tree):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if name in RULES and (RULES[name] == module or name in imports):
                called.append(f"{path.name}:{node.lineno} calls {name}")
    assert called == []
