"""Rules say what they ask for, and what experiments and fixers wait for is stated by a rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from remedies import stated

from tfperfkit import registry
from tfperfkit.fixing import fixers
from tfperfkit.fixing.lookup import find_fixers, is_mechanical
from tfperfkit.remedy import Hoist, Remedy, Rewrite, Setting, is_one_of

STATED = [remedy for _, remedy in stated()]


def test_most_codes_state_a_remedy() -> None:
    assert len({code for code, _ in stated()}) > 85


@pytest.mark.parametrize("name", sorted(registry.experiments()))
def test_every_remedy_that_an_experiment_imitates_is_stated(name: str) -> None:
    wanted: tuple[Remedy | type[Remedy], ...] = getattr(registry.load_experiment(name), "remedies", ())
    assert [each for each in wanted if not any(is_one_of(remedy, (each,)) for remedy in STATED)] == []


def test_every_fixer_carries_out_a_remedy_that_is_stated() -> None:
    found = {fixer.fix.__module__.rpartition(".")[2] for remedy in STATED for fixer in find_fixers(remedy)}
    (folder,) = fixers.__path__
    assert found == {path.stem for path in Path(folder).glob("[!_]*.py")}
    assert all(any(find_fixers(remedy)) for remedy in STATED if is_mechanical(remedy))


@pytest.mark.parametrize(
    ("wanted", "is_it"),
    [
        ((Hoist,), True),
        ((Hoist("value"), Hoist("file")), True),
        ((Hoist("value"), Rewrite), False),
        ((), False),
    ],
)
def test_a_remedy_is_found_by_its_kind_or_its_value(wanted: tuple[Remedy | type[Remedy], ...], is_it: bool) -> None:
    assert is_one_of(Hoist("file"), wanted) == is_it


def test_a_setting_without_a_value_stands_for_any() -> None:
    assert is_one_of(Setting("threads", ""), (Setting("threads"),))
    assert not is_one_of(Setting("threads"), (Setting("threads", ""),))
