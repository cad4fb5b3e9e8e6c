"""When a patch is proven, and what is said when it is not."""

from __future__ import annotations

import pytest

from tfperfkit.model import Measured
from tfperfkit.report.proof import measured_words, proof_words, shortfall


def measured(**fields: object) -> Measured:
    made = {"verdict": "faster", "speedup": 2.0, "interval": (1.8, 2.2), "pairs": 3, "results": "same bits", **fields}
    return Measured(experiment="patch:INP003", keeps="results", **made)  # type: ignore[arg-type]


def test_a_faster_patch_with_the_same_results_is_proven() -> None:
    item = measured(outputs="same")
    assert shortfall(item) == ""
    assert proof_words(item) == "the same results, bit for bit, prints and writes the same"
    assert measured_words(item) == "measured 2.0x (95 %: 1.8x to 2.2x, 3 pairs)"
    assert shortfall(measured(results="rounding")) == ""
    assert shortfall(measured(results="unknown", outputs="same")) == ""


@pytest.mark.parametrize(
    "fields, said",
    [
        ({"results": "differ"}, "results differ"),
        ({"outputs": "differ", "outputs_differ": "it prints '3' instead of '4'"}, "'3' instead of '4'"),
        ({"verdict": "slower", "speedup": 0.5}, "slower"),
        ({"verdict": "no difference"}, "no gain"),
        ({"verdict": "undecided"}, "longer --time-limit"),
        ({"verdict": "failed", "reason": "NameError: x"}, "fails: NameError: x"),
        ({"results": "unknown"}, "could be compared"),
    ],
)
def test_all_others_are_not(fields: dict[str, object], said: str) -> None:
    assert said in shortfall(measured(**fields))


def test_without_trials_it_is_not() -> None:
    assert shortfall(None) == "it was not measured" and measured_words(None) == "not measured"
