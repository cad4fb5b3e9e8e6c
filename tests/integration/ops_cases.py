"""The cases of ``ops_functions.py``: how one is declared, and how all are recorded and written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from tfperfkit_probes.ops.probe import OpsProbe
from tfperfkit_rules.graph import RULES

from tfperfkit.instruments.graphs import first_run
from tfperfkit.testing import FakeRecording, capture_of, check_result, evidence_of

CASES: dict[str, tuple[Callable[[], dict[str, Any]], dict[str, Any]]] = {}


def case(**options: Any) -> Callable[[Callable[[], dict[str, Any]]], Callable[[], dict[str, Any]]]:
    def add(function: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        CASES[function.__name__] = (function, options)
        return function

    return add


def histogram(function: Any) -> dict[str, int]:
    """The types of a function's operations and of the bodies it calls, from TensorFlow."""
    (concrete,) = function._list_all_concrete_functions()
    counted: Counter[str] = Counter()
    pending = [concrete.graph]
    while pending:
        graph = pending.pop()
        for operation in graph.get_operations():
            counted[operation.type] += 1
            for attribute in operation.node_def.attr.values():
                for held in (attribute.func, *attribute.list.func):
                    if held.name:
                        pending.append(graph._functions[held.name].graph)
    return dict(counted)


def main(out: Path) -> None:
    for name, (function, options) in CASES.items():
        recording = FakeRecording(out / f"{name}.run", options=options)
        with OpsProbe().record(recording):
            facts = function()
        facts["waiting_after"] = first_run.waiting()
        result = OpsProbe().analyze(capture_of(recording))
        check_result(result)
        sources = {file: "\n".join(line.rstrip("\r\n") for line in lines) for file, lines in recording.sources.items()}
        evidence = evidence_of(data={"ops": result.data}, sources=sources)
        findings = [finding for rule in RULES for finding in rule(evidence)]
        shown = msgspec.structs.replace(result, offers=())  # among them are the graphs themselves
        (out / f"{name}.json").write_bytes(msgspec.json.encode({"facts": facts, "result": shown, "findings": findings}))
