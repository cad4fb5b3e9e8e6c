"""The check that figures of a report agree, on made reports: it must see what it is there for."""

from __future__ import annotations

from typing import Any

import msgspec
from sums import disagreements

from tfperfkit.model import Finding

WHERE = {"file": "/home/ann/train.py", "line": 5, "function": "main"}


def a_report(**finding: Any) -> dict[str, Any]:
    """Ten seconds of training, steps of 100 ms, 40 of them in operations called one by one and in Python for them."""
    account = {"mean_ms": 100.0, "parts_ms": {"graph": 60.0, "eager_ops": 10.0, "dispatch": 30.0}}
    given = {"code": "EAG001", "family": "eager", "title": "", "severity": "high", "share_of_step": 0.4, **finding}
    made = Finding(where=(), evidence=(), advice="", **given)
    return {
        "steps": {"account": account},
        "work": [{"where": WHERE, "steps": {"account": None}}],
        "run_account": {
            "total_s": 10.0,
            "parts_s": {"training": 9.0, "imports": 1.0},
            "lines": {"training": [{"where": WHERE, "seconds": 9.0}]},
        },
        "findings": [msgspec.to_builtins(made)],
    }


def test_figures_that_agree() -> None:
    assert disagreements(a_report()) == []


def test_a_finding_that_costs_more_than_its_parts() -> None:
    named = a_report(parts=("eager_ops", "dispatch"), share_of_step=0.54)
    assert disagreements(named) == ["EAG001: costs 0.540, its parts are 0.400 of a step"]
    assert disagreements({**named, "findings": a_report(share_of_step=0.54)["findings"]}) == []  # of its family's parts


def test_a_part_or_a_second_that_is_missing() -> None:
    report = a_report()
    report["steps"]["account"]["parts_ms"]["graph"] = 50.0
    report["run_account"]["parts_s"]["imports"] = 0.2
    report["run_account"]["lines"]["training"][0]["seconds"] = 9.6
    assert disagreements(report) == [
        "the run: parts 9.20 s, whole 10.00 s",
        "a step: parts 90.00 ms, mean 100.00 ms",
        "training of the run: a line 9.60 s, the part 9.00 s",
    ]
