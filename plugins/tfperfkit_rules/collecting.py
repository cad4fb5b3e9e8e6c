"""Collects a family's rules from its modules: a rule is registered by its file in the family's folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import isfunction
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from tfperfkit.rule import LastRule, Rule

#: The annotations of a rule that is a function.
_ANNOTATIONS = tuple({"evidence": "Evidence", "return": f"{kind}[Finding]"} for kind in ("Iterable", "Iterator"))


def collect_rules(family: str) -> tuple[Rule | LastRule, ...]:
    """Import all modules of a package and return the rules that they define, by module and line.

    A rule is a public function ``(evidence: Evidence) -> Iterator[Finding]``, a ``LastRule``, or a public class with a
    ``code``, of which an instance is the rule. Raises what the import of a module raises.
    """
    package = sys.modules[family]
    names = sorted(info.name for info in walk_packages(package.__path__, f"{family}."))
    return tuple(rule for name in names for rule in _list_rules(import_module(name)))


def _list_rules(module: ModuleType) -> Iterator[Rule | LastRule]:
    """Yield the rules that a module defines, not those that it imports."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
            continue
        if isinstance(value, LastRule) or (isfunction(value) and value.__annotations__ in _ANNOTATIONS):
            yield value
        elif _is_rule_class(value):
            yield value()


def _is_rule_class(value: Any) -> bool:
    return isinstance(value, type) and isinstance(vars(value).get("code"), str) and "__call__" in dir(value)
