"""The blind batches are whole: each fault has its script, its mended twin, its lines and a measured gain.

What the report says of them was judged once, at first sight (``docs/blind-trials.md``); nothing here repeats that.
"""

from __future__ import annotations

import ast
from typing import Any

import pytest

from benchmarks.blind import ROOT, anchored, entries

BATCHES = sorted(path.parent for path in ROOT.glob("*/manifest.toml"))
ENTRIES = [pytest.param(entry, id=f"{batch.name}-{entry['name']}") for batch in BATCHES for entry in entries(batch)]


def test_there_are_batches() -> None:
    assert BATCHES


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_script_is_whole(entry: dict[str, Any]) -> None:
    ast.parse(entry["path"].read_text(encoding="utf-8"))
    if "cause" not in entry:
        assert entry["path"].parent.name == "healthy"
        return
    assert anchored(entry) and entry["gain"] >= 1.3
    ast.parse(entry["path"].with_name(f"{entry['name']}_fixed.py").read_text(encoding="utf-8"))
