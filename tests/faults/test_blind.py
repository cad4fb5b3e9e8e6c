"""The corpus of blind scripts is complete: each fault has its script, its fixed twin, its lines and a measured gain.

The reports about them were judged once, at first sight (``results/blind-trials.md``); nothing here repeats that.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from benchmarks.blind import ROOT, anchored, batches, entries

if not ROOT.exists():  # the source distribution is without it
    pytest.skip("the corpus is not here", allow_module_level=True)


def scripts(entry: dict[str, Any]) -> list[Path]:
    """List the files of an entry: the script, and the twin of one with a fault."""
    path: Path = entry["path"]
    return [path, path.with_name(f"{path.stem}_fixed.py")] if "cause" in entry else [path]


@pytest.mark.parametrize("batch", batches())
def test_a_batch_is_complete(batch: str) -> None:
    found = [path for entry in entries(batch) for path in scripts(entry)]
    assert sorted(found) == sorted((ROOT / batch).rglob("*.py"))
    for path in found:
        ast.parse(path.read_text(encoding="utf-8"), str(path))


@pytest.mark.parametrize("batch", batches())
def test_each_fault_has_its_lines_and_a_gain(batch: str) -> None:
    faults = [entry for entry in entries(batch) if "cause" in entry]
    assert faults
    assert [entry["name"] for entry in faults if not anchored(entry)] == []
    assert [entry["name"] for entry in faults if not entry["gain"] >= 1.3] == []
