"""INP016: the pipeline's functions are called from Python since tf.data's debug mode is on."""

from __future__ import annotations

import msgspec
from evidence_builder import FILE, one
from input_builder import PREFETCH, evidence, pipeline, stage
from tfperfkit_rules.input.debug_mode import debug_mode

from tfperfkit.model import SourceSpan

SOURCE = """\
import tensorflow as tf
tf.data.experimental.enable_debug_mode()
def clean(row):
    return row - tf.reduce_mean(row)
"""
CALLED = stage("Map", 6, is_python=True, self_ms_per_output=9.0, mapped=SourceSpan(FILE, 3, "clean"))
SLOW = pipeline(PREFETCH, CALLED, bound_by=1, bound_ms_per_output=9.0)


def test_the_switch_is_named_at_its_line() -> None:
    found = one(debug_mode(evidence(SLOW, source=SOURCE, settings={"data_debug_mode": True})))
    assert (found.code, [place.line for place in found.where]) == ("INP016", [2, 3, 6])
    assert "INP005" in found.absorbs and found.gain.bounds is not None and found.gain.bounds[0] > 1


def test_it_is_silent_where_the_switch_is_off_or_the_pipeline_keeps_up() -> None:
    assert not list(debug_mode(evidence(SLOW, source=SOURCE, settings={"data_debug_mode": False})))
    assert not list(debug_mode(evidence(SLOW, source=SOURCE)))
    compiled = pipeline(PREFETCH, msgspec.structs.replace(CALLED, is_python=False), bound_by=1, bound_ms_per_output=9.0)
    assert not list(debug_mode(evidence(compiled, source=SOURCE, settings={"data_debug_mode": True})))
