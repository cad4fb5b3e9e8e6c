"""Every figure of a finding says in which window it was measured, in the words that docs/writing-a-rule.md lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from eager_builder import eager_evidence
from evidence_builder import FILE, make_account, make_evidence, make_samples
from tfperfkit_rules.eager import step
from tfperfkit_rules.measures import step_shares

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

ROOT = Path(__file__).resolve().parents[3]
SOURCES = sorted((ROOT / "plugins").glob("tfperfkit_*/**/*.py"))


def words() -> set[str]:
    """The first column of the table of windows."""
    page = (ROOT / "docs" / "writing-a-rule.md").read_text(encoding="utf-8")
    table = page.partition("| window |")[2].partition("\n\n")[0]
    return {word for row in table.splitlines()[2:] for word in re.findall(r"`([^`]+)`", row.split("|")[1])}


def windows(path: Path) -> Iterator[tuple[int, str]]:
    """(line, word) of each window that a module gives to a ``Measurement``, as far as it is written there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in ast.walk(tree):
        # Another class of that name is given names only.
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Measurement" and call.args:
            assert len(call.args) == 4, f"{path.name}:{call.lineno} names no window"
            for word in _strings(call.args[3], tree):
                yield call.lineno, word


def _strings(node: ast.expr, tree: ast.Module) -> Iterable[str]:
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.IfExp):
        return [*_strings(node.body, tree), *_strings(node.orelse, tree)]
    if isinstance(node, ast.Name):
        given = (item for item in tree.body if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == node.id)
        return [word for item in given for word in _strings(item.value, tree)]
    return []  # a call: what it returns is tested below


def test_the_documented_words() -> None:
    assert {
        "run",
        "baseline",
        "samples",
        "breakdown",
        "after the run",
        "advice",
        "lines",
        "tfprof",
        "devices",
        "trace",
        "accelerators",
    } == words()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "plugins")))
def test_every_measurement_names_a_documented_window(path: Path) -> None:
    unknown = [(line, word) for line, word in windows(path) if word not in words()]
    assert not unknown


def test_most_windows_are_seen_by_this_test() -> None:
    assert sum(1 for path in SOURCES for _ in windows(path)) > 100


def test_parts_of_the_account_are_told_apart_from_what_was_counted_in_the_trace() -> None:
    (finding,) = step.eager_step(eager_evidence())
    found = {item.name: item.window for item in finding.evidence}
    assert found["eager operations per step"] == "tfprof" and found["time in eager operations"] == "breakdown"
    assert found["mean step"] == "baseline"


def sampled(**fields: object) -> Evidence:
    account = make_account({"python": 5.0, "graph": 5.0}, **fields)
    return make_evidence(account=account, samples=make_samples([(60, "python", [Frame(FILE, 1, "f", 2)])]))


def test_a_line_s_share_is_the_samples_own_where_the_account_has_no_parts() -> None:
    assert step_shares.window(sampled()) == "breakdown"
    assert step_shares.window(sampled(windows=("samples",))) == "breakdown"
    assert step_shares.window(make_evidence()) == "samples"
    assert {step_shares.window(make_evidence()), step_shares.window(sampled())} <= words()
