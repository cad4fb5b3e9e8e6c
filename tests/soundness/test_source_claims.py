"""Claims about loops in source hold when the programs run: no generated program refutes one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_claims import check, check_seeds
from source_programs import Chance, make_program
from tally import Tally

from tfperfkit.syntax.flow.iteration import Iteration

#: Programs of one test, and tests.
EACH, TESTS = (500, 200) if os.environ.get("TFPERF_LONG") else (50, 4)
LONG = bool(os.environ.get("TFPERF_LONG"))
#: Programs that refuted a claim once.
REFUTED = sorted((Path(__file__).parent / "refuted").iterdir())


@pytest.mark.parametrize("number", range(TESTS))
def test_no_claim_is_refuted(number: int) -> None:
    tally = check_seeds(range(number * EACH, (number + 1) * EACH))
    assert tally.programs > EACH / 2
    assert tally.examples == []
    print({kind: f"{tally.claims[kind]} of {tally.true[kind]}" for kind in tally.true})


@pytest.mark.parametrize("program", REFUTED, ids=lambda path: path.stem)
def test_no_claim_is_refuted_that_was_refuted_once(program: Path) -> None:
    tally = check(program.read_text(encoding="utf-8"))
    assert tally.programs == 1 and tally.examples == []


programs = st.randoms(use_true_random=False).map(lambda random: make_program(Chance(random)))


@given(programs)
@settings(max_examples=1000 if LONG else 50)
def test_no_claim_is_refuted_of_programs_that_hypothesis_makes(source: str) -> None:
    assert check(source).examples == []


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch) -> Tally:
    """Return the refuted claims if the analysis takes every loop for one with independent iterations."""
    monkeypatch.setattr(Iteration, "dependence", lambda self, draws: "")
    monkeypatch.setattr(Iteration, "varies", lambda self, node: False)
    return check_seeds(range(40))


def test_a_wrong_claim_is_refuted(tally: Tally) -> None:
    """The check itself can fail."""
    assert tally.refuted["same"] > 20 and tally.refuted["independent"] > 1


def test_values_that_grow_again_and_again_end_a_program() -> None:
    """Noting the values of each of these took minutes."""
    assert check_seeds([50_000_862, 60_002_933, 60_003_862]).failed == 3
