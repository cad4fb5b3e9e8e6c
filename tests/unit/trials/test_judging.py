"""Verdicts, and how results compare."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from tfperfkit.records.trials import Change, TrialEnd
from tfperfkit.report.proof import proof_words, shortfall
from tfperfkit.report.terminal import Screen
from tfperfkit.report.trials import detail_items, verdict_words
from tfperfkit.trials.judging import Variant, baseline, decided, measured
from tfperfkit.trials.outcome import Outcome


def outcome(ns: float, batch: int = 8, **fields: object) -> Outcome:
    return Outcome(unit="step", ns=ns, batch_size=batch, steps=40, minute=100.0, **fields)  # type: ignore[arg-type]


def with_weights(folder: Path, name: str, values: list[float], steps: int = 40) -> Outcome:
    file = folder / f"{name}.npy"
    array = np.asarray(values, np.float32)
    np.save(file, array)
    return outcome(10.0, end=TrialEnd(stopped=True, steps=steps, digest=str(array.tobytes())), weights=file)


def test_time_is_that_of_an_example() -> None:
    item = measured(Variant(text="batch=x4"), [outcome(10.0)] * 3, [outcome(20.0, batch=32)] * 3)
    assert item.speedup == pytest.approx(2.0)
    assert item.interval is not None and item.interval[0] < 2.0 < item.interval[1]
    assert item.verdict == "faster"


def test_processor_time_is_that_of_an_example_too() -> None:
    plain, changed = outcome(10.0, processor_ns=30.0), outcome(40.0, batch=32, processor_ns=60.0)
    assert measured(Variant(text="batch=x4"), [plain] * 2, [changed] * 2).processor == pytest.approx(2.0)
    unknown = outcome(10.0, batch=0, processor_ns=15.0)
    assert measured(Variant(text="jit"), [plain], [unknown]).processor == pytest.approx(2.0)  # by the step
    assert measured(Variant(text="jit"), [plain], [outcome(10.0)]).processor is None


def test_processor_time_has_an_interval_and_does_not_decide() -> None:
    plain = [outcome(ns, processor_ns=30.0) for ns in (10.0, 40.0, 15.0)]
    changed = [outcome(ns, processor_ns=used) for ns, used in ((30.0, 20.0), (5.0, 21.0), (10.0, 20.0))]
    item = measured(Variant(text="jit"), plain, changed)
    assert item.verdict == "no difference" and item.processor_interval is not None
    assert 1.3 < item.processor_interval[0] < 1.48 < item.processor_interval[1] < 1.6
    assert verdict_words(item) == "no significant difference, but less processor time"
    assert any("by processor time 1.48x (1.38x to" in words for words in detail_items(item, Screen(width=80)))


def test_steps_of_unknown_size_are_not_compared_across_batch_sizes() -> None:
    variant = Variant(text="batch=x4", changes_batch=True)
    item = measured(variant, [outcome(10.0, batch=0)] * 3, [outcome(20.0, batch=32)] * 3)
    assert item.verdict == "not applicable" and "examples" in item.reason


def test_the_first_minute_counts_the_same_in_both_runs() -> None:
    plain, known = outcome(10.0, batch=0), outcome(10.0, batch=32)
    known = msgspec.structs.replace(known, minute=plain.minute * 2 * 32)  # examples, where the size was seen
    assert measured(Variant(text="graph:f"), [plain] * 3, [known] * 3).first_minute == pytest.approx(2.0)
    compiled = msgspec.structs.replace(outcome(5.0), minute=80.0)  # twice as fast, and longer to start
    item = measured(Variant(text="jit"), [outcome(10.0)] * 3, [compiled] * 3)
    assert (item.speedup, item.first_minute) == (pytest.approx(2.0), pytest.approx(0.8))


def test_slower_and_no_difference() -> None:
    assert measured(Variant(text="a"), [outcome(10.0)] * 3, [outcome(12.0)] * 3).verdict == "slower"
    before, after = [outcome(v) for v in (10.0, 11.0, 9.0)], [outcome(v) for v in (10.5, 9.5, 10.0)]
    item = measured(Variant(text="a"), before, after)
    assert item.verdict == "no difference" and item.needed_pairs is not None


def test_memory_is_compared_where_both_runs_of_a_pair_tell_their_peak() -> None:
    """Kill a run before its end: its peak is unknown, which is no peak of 0 bytes."""
    plain = [outcome(1e6, memory_bytes=600e6), outcome(1e6, memory_bytes=600e6)]
    killed = outcome(1e6)
    assert measured(Variant(text="a"), plain[:1], [killed]).memory_bytes is None
    assert measured(Variant(text="a"), plain, [killed, outcome(1e6, memory_bytes=700e6)]).memory_bytes == 100e6
    base = baseline([killed, *plain])
    assert base is not None and base.memory_bytes == 600e6


def test_what_never_took_effect_is_not_applicable() -> None:
    variant = Variant(text="jit", changes=(Change("jit"),))
    idle = outcome(10.0, end=TrialEnd(stopped=True, applied={"jit": 0}, refused={"jit": "no function"}))
    assert measured(variant, [outcome(10.0)], [idle]).reason == "no function"
    worked = outcome(10.0, end=TrialEnd(stopped=True, applied={"jit": 2}))
    assert measured(variant, [outcome(10.0)], [worked]).verdict == "undecided"


def test_a_change_under_which_no_step_is_seen_has_failed() -> None:
    assert measured(Variant(text="a"), [outcome(10.0)], [Outcome(unit="run", ns=5.0)]).verdict == "failed"


def test_results(tmp_path: Path) -> None:
    plain = [with_weights(tmp_path, f"p{n}", [1.0, 2.0, 3.0]) for n in range(2)]
    cases = {
        "same bits": [1.0, 2.0, 3.0],
        "rounding": [1.0, 2.0, 3.00001],
        "differ": [1.0, 2.0, 3.5],
    }
    for expected, values in cases.items():
        changed = [with_weights(tmp_path, expected, values)]
        assert measured(Variant(text="a"), plain, changed).results == expected
    assert (
        measured(Variant(text="a"), plain, [with_weights(tmp_path, "s", [1.0, 2.0, 3.0], steps=39)]).results
        == "unknown"
    )
    assert measured(Variant(text="a", keeps="ceiling"), plain, plain).results == "unknown"


def test_results_of_a_script_that_differs_from_run_to_run(tmp_path: Path) -> None:
    plain = [with_weights(tmp_path, "a", [1.0, 2.0]), with_weights(tmp_path, "b", [1.1, 2.0])]
    item = measured(Variant(text="a"), plain, [with_weights(tmp_path, "c", [1.0, 2.1])])
    assert item.results == "within noise"
    assert item.own_distance is not None and item.own_distance > 0


def test_a_difference_that_rounding_alone_reaches_too_is_none(tmp_path: Path) -> None:
    plain = [with_weights(tmp_path, f"p{n}", [1.0, 2.0]) for n in range(2)]
    changed, rounded = with_weights(tmp_path, "c", [1.0, 2.1]), with_weights(tmp_path, "r", [1.08, 2.0])
    assert measured(Variant(text="a"), plain, [changed]).results == "differ"
    assert measured(Variant(text="a"), plain, [changed], [rounded]).results == "within noise"
    near = with_weights(tmp_path, "n", [1.0, 2.001])
    assert measured(Variant(text="a"), plain, [changed], [near]).results == "differ"


def test_a_script_whose_weights_were_nudged_measures_rounding_if_the_first_step_is_equal(tmp_path: Path) -> None:
    def begun(item: Outcome, name: str, first: list[float], nudged: int = 0) -> Outcome:
        file = tmp_path / f"first-{name}.npy"
        np.save(file, np.asarray(first, np.float32))
        end = msgspec.structs.replace(item.end, first_steps=1, nudged=nudged)
        return msgspec.structs.replace(item, first_weights=file, end=end)

    plain = begun(with_weights(tmp_path, "p", [1.0, 2.0]), "p", [1.0, 2.0])
    nudged = begun(with_weights(tmp_path, "n", [1.08, 2.0]), "n", [1.0, 2.0], nudged=3)
    changed = with_weights(tmp_path, "c", [1.0, 2.1])
    for first, expected in (([1.0, 2.000002], "within noise"), ([1.0, 2.01], "differ")):
        other = begun(changed, str(first), first)
        assert measured(Variant(text="a"), [plain], [other], [nudged]).results == expected
    assert measured(Variant(text="a"), [plain], [changed], [nudged]).results == "differ"


def test_steps_with_half_the_updates_count_half(tmp_path: Path) -> None:
    def updated(item: Outcome, updates: int) -> Outcome:
        return msgspec.structs.replace(item, end=msgspec.structs.replace(item.end, updates=updates))

    plain = [updated(with_weights(tmp_path, "p", [1.0, 2.0]), 80)] * 3
    changed = with_weights(tmp_path, "c", [1.0, 2.5])
    for updates, speedup, results in (
        (80, 1.0, "differ"),
        (40, 0.5, "unknown"),
        (0, 1.0, "differ"),
        (78, 1.0, "differ"),
    ):
        item = measured(Variant(text="a"), plain, [updated(changed, updates)] * 3)
        assert item.speedup == pytest.approx(speedup) and item.results == results


def test_the_plain_runs_as_one() -> None:
    base = baseline([outcome(1e6), outcome(2e6), Outcome(error="x")])
    assert base is not None and base.runs == 2 and base.ms == 1.5 and base.spread == 2.0
    assert baseline([Outcome(error="x")]) is None


def test_a_gain_that_is_sure_is_enough_where_its_size_does_not_matter() -> None:
    item = measured(Variant(text="jit"), [outcome(ns) for ns in (20.0, 26.0, 30.0)], [outcome(10.0)] * 3)
    assert item.verdict == "faster" and not decided(item, 3, 3) and decided(item, 3, 3, brief=True)
    little = measured(Variant(text="jit"), [outcome(ns) for ns in (10.2, 10.6, 12.5)], [outcome(10.0)] * 3)
    assert decided(little, 3, 3, brief=True) == decided(little, 3, 3)
    assert not decided(item, 2, 3, brief=True)


def test_processor_time_proves_a_gain_that_a_busy_machine_blurs() -> None:
    plain = [outcome(ns, processor_ns=30.0) for ns in (10.0, 40.0, 15.0)]
    changed = [outcome(ns, processor_ns=used) for ns, used in ((30.0, 20.0), (5.0, 21.0), (8.0, 20.0))]
    item = msgspec.structs.replace(measured(Variant(text="jit"), plain, changed), outputs="same")
    assert item.verdict == "no difference" and shortfall(item) == "" and "by processor time 1.4x" in proof_words(item)
    assert decided(item, 3, 3, brief=True)
    slow = msgspec.structs.replace(item, speedup=1.02)
    assert shortfall(slow) == "these runs show no gain" and not decided(slow, 3, 3, brief=True)
