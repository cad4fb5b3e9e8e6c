"""EAG017: ``evaluate`` and ``predict`` of the same data, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_evidence, make_steps, one
from tfperfkit_probes.input.model import InputData, PassedTwice
from tfperfkit_rules.eager.passed_twice import evaluated_and_predicted

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

SOURCE = """\
import keras
class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        loss, accuracy = self.model.evaluate(
            self.x, self.y, verbose=0
        )
        print(loss)
        scores = self.model.predict(self.x, verbose=0)[:, 0]
        self.rows.append(scores)
"""


def monitored(source: str = SOURCE, **fields: Any) -> Evidence:
    about = {"file": FILE, "line": 4, "function": "on_epoch_end", "other": SourceSpan(FILE, 8, "on_epoch_end")}
    times = {"calls": 3, "pairs": 3, "seconds": 2.0, "begin_ns": 300 * MS, "end_ns": 500 * MS}
    data = {"input": InputData(passed_twice=(PassedTwice(**{**about, **times, **fields}),))}
    return make_evidence(parts_ms={"graph": 10.0}, steps=make_steps(60), source=source, data=data, wall_s=10.0)


def test_a_callback_that_evaluates_and_predicts_the_same_data() -> None:
    found = one(evaluated_and_predicted(monitored()))
    assert (found.code, found.basis, found.share_of_step) == ("EAG017", "run", 0.2)
    assert found.title == "self.model.evaluate and self.model.predict go through the same data with the same weights"
    assert [place.line for place in found.where] == [4, 8]
    assert found.advice.startswith("Remove self.model.evaluate. Compute its loss and metrics from the result of")
    low, high = found.gain.bounds or (0, 0)
    assert 1.15 < low < high == pytest.approx(1.25)


@pytest.mark.parametrize(
    "evidence",
    [
        monitored(SOURCE.replace("print(loss)", "self.average.swap()")),
        monitored(SOURCE.replace("print(loss)", "self.model.set_weights(self.kept)")),
        monitored(
            SOURCE.replace("        scores =", "        if loss < 1:\n          scores =").replace("print(loss)", ""),
            other=SourceSpan(FILE, 9),
        ),
        monitored(seconds=0.2),
        monitored(pairs=1),
        monitored(begin_ns=900 * MS, end_ns=950 * MS),
    ],
    ids=["unknown in between", "other weights", "on a condition", "little", "mostly other data", "after the steps"],
)
def test_it_stays_silent(evidence: Evidence) -> None:
    assert not list(evaluated_and_predicted(evidence))
