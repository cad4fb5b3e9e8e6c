"""EAG004 of a model that is called with one row in each iteration of the loop that the work is."""

from __future__ import annotations

import pytest
from defined_names import with_definitions
from evidence_builder import FILE, one
from tfperfkit_rules.eager import work
from work_builder import frame, sampled, work_evidence

from tfperfkit.gain import Range
from tfperfkit.model import Finding, SourceSpan

LAYER = "keras.src.layers.layer:__call__"


def found(given: str, before: str = "pass") -> Finding:
    source = f"import numpy as np\nimport tensorflow as tf\nfor x in xs:\n    {before}\n    rows.append(m({given}))\n"
    leaf = frame(5, LAYER, span=(len("    rows.append("), len(f"    rows.append(m({given})")))
    stacks = [sampled(80, "eager_ops", leaf), sampled(20, "dispatch", leaf)]
    return one(work.eager_work(work_evidence(with_definitions(source), stacks, loop=3)))


@pytest.mark.parametrize(
    ("given", "before"),
    [
        ("x[None]", "pass"),
        ("x[np.newaxis, ...]", "pass"),
        ("tf.constant([x])", "pass"),
        ("tf.cast(np.array([x]), tf.float32)", "pass"),
        ("xs[i:i + 1]", "pass"),
        ("tf.expand_dims(x, 0)", "pass"),
        ("row", "row = x.reshape(1, -1).astype('float32')"),
    ],
)
def test_one_row_in_each_turn_can_be_one_batch(given: str, before: str) -> None:
    finding = found(given, before)
    assert finding.title == "m called in each iteration of line 3"
    assert (finding.where[0], type(finding.gain)) == (SourceSpan(FILE, 5), Range)


@pytest.mark.parametrize(
    ("given", "before"),
    [
        ("x", "pass"),
        ("tf.constant([x, y])", "pass"),
        ("tf.stack(x)", "pass"),
        ("xs[i:i + 64]", "pass"),
        ("row", "row = tf.cast(x, tf.float32)"),
    ],
)
def test_what_may_be_a_batch_is_only_compiled(given: str, before: str) -> None:
    finding = found(given, before)
    assert finding.title == "m called eagerly in the loop at train.py:3"
    assert isinstance(finding.gain, Range)


def test_a_model_in_training_mode_may_change_from_row_to_row() -> None:
    """Batch normalization keeps averages of its inputs and normalizes each batch by itself."""
    assert "in each iteration of line" not in found("x[None], training=True").title
