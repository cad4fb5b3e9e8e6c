"""BAT002: told where most of a step does not grow with the batch, not where it computes or other things come first."""

from __future__ import annotations

import msgspec
import pytest
from computed_builder import compiled, ran
from eager_builder import site, sites
from evidence_builder import FILE, make_account
from tfperfkit_probes.ops.model import GraphLoop, Marks
from tfperfkit_rules.batch.larger import larger_batch
from tfperfkit_rules.measures.growth import growth
from tfprof_builder import brief, graphs

from tfperfkit.model import SourceSpan

FIT = "model.fit(x, y, batch_size=32)\n"
#: 100 GFLOP/s: a product that takes 0.2 ms of which 0.1 ms is arithmetic, and one at the machine's own rate.
WAITING, FAST = ran("MatMul", 0.2, flops=10e6), ran("MatMul", 20.0, flops=2000e6)
UPDATES = tuple(ran("Mul", 0.1, "update") for _ in range(10))


def records(line: int = 1) -> dict[str, list[object]]:
    return sites(site(1, "batch", line))


def test_a_step_of_updates_and_calls_has_room() -> None:
    (finding,) = larger_batch(compiled((WAITING, *UPDATES), source=FIT, records=records()))
    assert finding.headroom and finding.severity == "info" and finding.code == "BAT002"
    assert finding.where[0] == SourceSpan(FILE, 1)
    assert "batch_size=" in finding.advice and "updates weights" in finding.title
    assert finding.gain.bounds is not None
    lower, upper = finding.gain.bounds
    assert 1.25 < lower < upper <= 2.5 * lower


def test_a_step_at_the_machines_rate_has_none() -> None:
    assert not list(larger_batch(compiled((FAST,), source=FIT, records=records())))


def test_a_convolution_grows_as_it_is() -> None:
    slow = ran("Conv2D", 10.0, flops=50e6)
    assert not list(larger_batch(compiled((slow,), source=FIT, records=records())))


def test_what_python_does_beside_comes_first() -> None:
    given = compiled((WAITING, *UPDATES), source=FIT, records=records(), part="python", around_ms=3.0)
    assert not list(larger_batch(given))


def test_a_short_run_and_a_large_batch_are_left_in_peace() -> None:
    assert not list(larger_batch(compiled((WAITING, *UPDATES), steps=20, source=FIT, records=records())))
    assert not list(larger_batch(compiled((WAITING, *UPDATES), batch=1024, source=FIT, records=records())))


def test_without_the_operations_nothing_is_reported() -> None:
    given = compiled((), source=FIT, records=records())
    given._offers = type(given._offers)()
    assert growth(given) is None
    assert not list(larger_batch(given))


def test_the_gain_is_of_examples_and_grows_with_the_batch() -> None:
    found = growth(compiled((WAITING, *UPDATES)))
    assert found is not None
    two, four, eight = (found.middle(times) for times in (2, 4, 8))
    assert 1 < two < four < eight <= 8 * 1.35
    assert found.update_ms == pytest.approx(1.0)


def test_what_passes_between_steps_stays_for_each_example() -> None:
    parts = {"graph": 1.0, "dispatch": 1.0}
    plain = compiled((WAITING,), account=make_account(parts))
    between = compiled(
        (WAITING,), account=make_account(parts, between_ms={"eager_ops": 1.0, "waiting": 9.0}, between_total_ms=10.0)
    )
    known, with_epochs = growth(plain), growth(between)
    assert known is not None and with_epochs is not None
    assert with_epochs.between_ms == 1.0  # waiting while an iterator is freed comes by chance
    assert with_epochs.middle(8) < known.middle(8)


@pytest.mark.parametrize(("iterations", "fixed"), [(None, True), (50, True), (32, False)])
def test_what_the_runtime_does_for_a_turn_of_each_example_grows_with_them(iterations: int | None, fixed: bool) -> None:
    """``tf.map_fn`` over a batch of 32; next to it loops over time steps, and a loop whose iterations are unknown."""
    loop = GraphLoop(
        name="map/while",
        where=SourceSpan(FILE, 1),
        turns=iterations,
        goes=1.0,
        operations=9.0,
        flops=9.0,
        elements=9.0,
        measured=True,
    )
    function = msgspec.structs.replace(brief(), marks=Marks(loops=[loop]))
    given = compiled((WAITING,), idle_ms=9.0, source=FIT, records=records(), data={"ops": graphs(function)})
    grown = growth(given)
    assert grown is not None and (grown.fixed_share > 0.8) == fixed == (grown.middle(4) > 2)
