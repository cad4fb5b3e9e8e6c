"""The core knows no plugin: no name of a probe, of its streams or of its records' fields is in ``tfperfkit``.

Some names are also ordinary words of the field ("input" is a part of a step); where such a word stands as a text of its
own it must be in a module that is listed here.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import tfperfkit_probes

import tfperfkit
from tfperfkit import registry
from tfperfkit.analysis.step_account import PARTS

ROOT = Path(tfperfkit.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
NAMES = sorted(name for name, point in registry.available().items() if point.value.startswith("tfperfkit_probes."))
#: Names that mean something else, and where: families of findings, parts of a step and activities of a stack, facts of
#: the machine, controllers of Linux' groups.
ORDINARY = {
    "input": {
        "analysis/moments",
        "analysis/gather",
        "analysis/step_account",
        "analysis/warm_up",
        "checking/counts",
        "diagnosis/headline",
        "fixing/traceable",
        "graph/graphdef",
        "instruments/stacks/activity",
        "ledger/explained_parts",
        "ledger/ownership",
        "model",
        "offers/late_rank",
        "offers/recorded_trace",
        "offers/trace",
        "pricing/run_time",
        "reading/headline",
        "reading/host",
        "records/epoch_starts",
        "records/parts",
        "records/stated_gains",
        "report/bar",
        "report/children",
        "report/html/colors",
    },
    "lines": {"launch/child", "launch/child_stacks", "syntax/flow/apis", "xplane/reader", "xplane/schema"},
    "retrace": {"model", "pricing/run_time", "ledger/explained_parts", "records/stated_gains"},
    "memory": {
        "checking/counts",
        "comparing/causes",
        "comparing/result",
        "fixing/traceable",
        "instruments/memory/process",
        "ledger/explained_parts",
        "pricing/costs",
        "model",
        "reading/machine",
        "records/stated_gains",
        "graph/bounds",
        "xplane/names",
    },
    "devices": {
        "analysis/gather",
        "analysis/run_status",
        "comparing/setups",
        "recording/environment",
        "rule",
        "testing/fakes",
    },
}


@functools.cache
def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def texts(module: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that are no documentation, with their lines."""
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree(module))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


def name_module(module: Path) -> str:
    return module.relative_to(ROOT).with_suffix("").as_posix()


def fields() -> set[str]:
    """The fields of the first-party probes' records that are no word of English."""
    found: set[str] = set()
    for info in pkgutil.walk_packages(tfperfkit_probes.__path__, "tfperfkit_probes."):
        for _, kind in inspect.getmembers(importlib.import_module(info.name), inspect.isclass):
            if issubclass(kind, msgspec.Struct) and kind.__module__.startswith("tfperfkit_probes."):
                found |= {field.encode_name for field in msgspec.structs.fields(kind)}
    return {name for name in found if "_" in name}


def our_own() -> set[str]:
    """The names that records, attributes and parameters of the core have."""
    nodes = [node for module in MODULES for node in ast.walk(tree(module))]
    named = {n.target.id for n in nodes if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    return named | {n.arg for n in nodes if isinstance(n, (ast.arg, ast.keyword)) and n.arg}


def test_there_is_something_to_look_for() -> None:
    assert {"lines", "tfprof", "memory"} <= set(NAMES)
    assert {"top_ops", "graph_functions", "limit_source"} <= fields() - our_own()


@pytest.mark.parametrize("module", MODULES, ids=name_module)
def test_no_probe_is_called_by_its_name(module: Path) -> None:
    source = module.read_text(encoding="utf-8")
    names = "|".join(NAMES)
    assert re.findall(rf"probes? ``?(?:{names})\b|\bprobes/(?:{names})\b|--(?:probes )?(?:{names})\b", source) == []
    assert "tfprof" not in source  # no word of English
    strings = [(line, text) for line, text in texts(module) if text in NAMES]
    found = [item for item in strings if name_module(module) not in ORDINARY.get(item[1], ())]
    assert found == [], (
        f"{name_module(module)} has a probe's name; if it means something else there, list it in ORDINARY"
    )


def test_no_field_of_a_probes_record_is_read_by_name() -> None:
    """Probes are made from instruments, which name what they give first."""
    theirs = fields() - our_own() - set(PARTS)
    found = [
        (name_module(module), line, text)
        for module in MODULES
        if not name_module(module).startswith("instruments/")
        for line, text in texts(module)
        if text in theirs
    ]
    assert found == []


def test_no_code_of_a_finding_stands_in_the_core() -> None:
    """The core asks for what a finding says of itself: its family, severity, parts, remedies."""
    found = [
        (name_module(module), line, text)
        for module in MODULES
        for line, text in texts(module)
        if re.fullmatch(r"[A-Z]{3}\d{3}", text)
    ]
    assert found == []
