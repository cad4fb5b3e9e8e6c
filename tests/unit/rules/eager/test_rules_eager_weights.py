"""EAG007 on made-up evidence: weights that go through NumPy in each step."""

from __future__ import annotations

from evidence_builder import FILE, make_evidence, make_samples
from tfperfkit_rules.eager.weight_copies import weights_through_numpy

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

SOURCE = """\
def update_target(target, model):
    weights = target.get_weights()
    for i, b in enumerate(model.get_weights()):
        weights[i] = 0.9 * weights[i] + 0.1 * b
    target.set_weights(weights)

for batch in data:
    learn(batch)
    update_target(target, model)
"""


def given(copied: int, source: str = SOURCE) -> Evidence:
    """Samples of which ``copied`` fall on each of the two calls and half as many on the NumPy between them."""
    outer = Frame(FILE, 1, "<module>", 9)
    inner = [(copied, "dispatch", 5), (copied, "host_sync", 2), (copied // 2, "python", 4)]
    stacks = [(count, doing, (outer, Frame(FILE, 1, "update_target", line))) for count, doing, line in inner]
    left = 200 - sum(count for count, _, _ in stacks)
    samples = make_samples([*stacks, (left, "graph", (Frame(FILE, 1, "<module>", 8),))])
    parts = {"dispatch": copied / 20, "host_sync": copied / 20, "python": copied / 40, "graph": left / 20}
    return make_evidence(parts_ms=parts, samples=samples, source=source)


def test_copies_in_each_step_are_reported_with_the_numpy_between() -> None:
    (finding,) = weights_through_numpy(given(40))
    assert finding.where[0].line in (2, 5) and SourceSpan(FILE, 9) in finding.where
    assert round(finding.share_of_step, 2) == 0.5
    assert finding.gain.bounds and 1.2 < finding.gain.bounds[0] < 34.7 / 20.7 < finding.gain.bounds[1]


def test_rare_copies_and_other_lines_are_left_in_peace() -> None:
    assert not list(weights_through_numpy(given(1)))
    assert not list(weights_through_numpy(given(40, SOURCE.replace("_weights(", "_state("))))


def test_what_numpy_does_with_weights_that_are_only_read_is_no_copying() -> None:
    assert not list(weights_through_numpy(given(4, SOURCE.replace("target.set_weights(weights)", "watch(weights)"))))


def test_weights_that_are_only_read_have_advice_of_their_own() -> None:
    """Read a table whole for a few rows: nothing goes back, and there is nothing to assign."""
    (read,) = weights_through_numpy(given(40, SOURCE.replace("target.set_weights(weights)", "watch(weights)")))
    assert read.title == "get_weights copies weights to NumPy in each step"
    assert "Call get_weights once" in read.advice and "tf.gather" in read.advice and "set_weights" not in read.detail


def test_weights_that_nothing_changes_are_copied_once_and_no_more() -> None:
    """40 of 200 samples are copies: all of them go. If something trains, rows have to be read each time."""
    reads = SOURCE.replace("target.set_weights(weights)", "watch(weights)")
    (once,) = weights_through_numpy(given(40, reads))
    (each,) = weights_through_numpy(given(40, reads.replace("learn(batch)", "model.fit(batch)")))
    assert once.gain.bounds and each.gain.bounds
    low, high = once.gain.bounds
    assert low > each.gain.bounds[0] and high > each.gain.bounds[1] and low < 1 / (1 - 0.2) < high


def test_values_from_elsewhere_have_advice_of_their_own() -> None:
    """As an optimizer of SciPy's hands them over: there is no second model to copy from."""
    (between,) = weights_through_numpy(given(40))
    (alone,) = weights_through_numpy(given(40, SOURCE.replace("model.get_weights()", "target.get_weights()")))
    assert "in update_target and put @tf.function on it" in between.advice
    named = given(
        40, SOURCE.replace("(target, model)", "(slow, net)").replace("target.", "slow.").replace("model.", "net.")
    )
    (between,) = weights_through_numpy(named)
    assert "zip(slow.weights, net.weights)" in between.advice
    assert "zip(target.weights, values)" in alone.advice


def read_one_by_one(over: str, *, numpy: int = 20, read: str = "w") -> Evidence:
    """Return a callback that reads each variable by itself; so many samples are in NumPy on that line."""
    line = f"        shadow[i] = 0.9 * shadow[i] + {read}.numpy()\n"
    source = f"def blend(model):\n    for i, w in enumerate({over}):\n{line}"
    called = ("keras.src.backend.tensorflow.core:numpy", "tensorflow.python.ops.resource_variable_ops:numpy")
    here = Frame(FILE, 1, "blend", 3, (3, 3, 38, 46 + len(read)), called)
    samples = make_samples(
        [
            (40, "eager_ops", (here,)),
            (numpy, "python", (Frame(FILE, 1, "blend", 3, None, ()),)),
            (140 - numpy, "graph", (Frame(FILE, 9, "<module>", 9),)),
        ]
    )
    parts = {"eager_ops": 4.0, "python": numpy / 10, "graph": 14 - numpy / 10}
    return make_evidence(parts_ms=parts, samples=samples, source=source)


def test_variables_that_are_read_one_by_one() -> None:
    (found,) = weights_through_numpy(read_one_by_one("model.trainable_weights"))
    assert found.where[0] == SourceSpan(FILE, 3, "blend") and "use_ema=True" in found.advice
    assert round(found.share_of_step, 2) == 0.33
    (other,) = weights_through_numpy(read_one_by_one("model.trainable_weights", numpy=100))
    assert round(other.share_of_step, 2) == 0.22, "NumPy's work is more than the copying: the rest does not count"


def test_one_variable_that_is_read_in_a_loop_over_data_is_no_network() -> None:
    assert not list(weights_through_numpy(read_one_by_one("batches", read="count")))
