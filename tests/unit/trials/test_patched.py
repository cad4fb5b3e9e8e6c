"""A finding's patch is tried first."""

from __future__ import annotations

from fixing_builder import finding_at

from tfperfkit.records.trials import place_of
from tfperfkit.trials.findings import rather_than_experiments
from tfperfkit.trials.judging import Variant

EAGER = finding_at("EAG001", (4, "train_step"))
LOAD = finding_at("INP002", (9, "load"))


def variant(text: str, finding: object, **fields: object) -> Variant:
    code, place = (finding.code, place_of(finding)) if finding is not None else ("", "")  # type: ignore[attr-defined, arg-type]
    return Variant(text=text, finding=code, place=place, **fields)  # type: ignore[arg-type]


def test_a_patch_stands_for_the_fixes_of_its_finding() -> None:
    experiments = [
        variant("once:load", LOAD),
        variant("graph:train_step", EAGER),
        variant("without:train_step", EAGER, keeps="ceiling"),
    ]
    patch = variant("patch:EAG001", EAGER, keeps="mathematics")
    found = rather_than_experiments([patch], experiments, [LOAD, EAGER])
    assert [item.text for item in found] == ["once:load", "patch:EAG001", "without:train_step"]


def test_another_place_keeps_its_own() -> None:
    other = finding_at("EAG001", (30, "evaluate"))
    experiments = [variant("graph:train_step", EAGER), variant("graph:evaluate", other)]
    found = rather_than_experiments([variant("patch:EAG001", EAGER)], experiments, [EAGER, other])
    assert [item.text for item in found] == ["patch:EAG001", "graph:evaluate"]


def test_a_patch_without_an_experiment_is_tried_too() -> None:
    patch = variant("patch:RET001", finding_at("RET001", (7, "")))
    assert rather_than_experiments([patch], [], [finding_at("RET001", (7, ""))]) == [patch]
