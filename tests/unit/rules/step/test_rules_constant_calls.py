"""LIN001 where the function that takes the time makes the same of the same constants each time."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence, make_samples, one
from tfperfkit_rules.step import python_time

from tfperfkit.model import Finding
from tfperfkit.records.samples import Frame

SOURCE = """\
import random
import numpy as np
RATE = 16000.0
BANDS = 4 * 16
def to_mel(f):
    return 2595.0 * np.log10(1.0 + f / 700.0)
def bank(size, rate, top=2 ** 3):
    made = np.zeros((size, size))
    for k in range(size):
        made[k, 0] = to_mel(rate * k)
    return made
for clip in clips:
    train(clip, bank(BANDS, RATE))
"""


def found(source: str) -> Finding:
    frames = [Frame(FILE, 1, "<module>", 13), Frame(FILE, 7, "bank", 10)]
    parts = {"python": 60.0, "graph": 40.0}
    samples = make_samples([(60, "python", frames), (40, "graph", [Frame(FILE, 1, "<module>", 13)])])
    return one(python_time.hot_python(make_evidence(parts_ms=parts, samples=samples, source=source)))


def test_the_advice_is_to_call_it_once_and_all_of_it_goes() -> None:
    finding = found(SOURCE)
    assert "Call bank once" in finding.advice and "in line 13: its arguments are the same constants" in finding.advice
    assert finding.where[0].line == 10 and 13 in [place.line for place in finding.where]
    assert finding.gain.bounds and finding.gain.bounds[0] > 1.7  # half of it would be 1.3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("bank(BANDS, RATE)", "bank(BANDS, clip)"),  # an argument of the turn's
        ("BANDS = 4 * 16", "BANDS = len(clips)"),
        ("train(clip", "BANDS += 1; train(clip"),
        ("rate * k", "rate * random.random()"),
        ("rate * k", "rate * np.random.normal()"),
        ("rate * k", "rate * clip"),  # reads what the loop binds
        ("2595.0 *", "clip *"),  # so does what it calls
        ("top=2 ** 3", "top=[]"),
        ("def bank", "@cached\ndef bank"),
    ],
)
def test_what_may_differ_from_call_to_call_keeps_the_advice_for_its_kind(before: str, after: str) -> None:
    assert before in SOURCE
    assert "same constants" not in found(SOURCE.replace(before, after)).advice
