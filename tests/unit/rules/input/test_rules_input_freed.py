"""The rule about seconds in which an iterator is freed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE, MS
from input_builder import PREFETCH, evidence, one, pipeline
from tfperfkit_rules.input.freed import freed

from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.rule import Evidence

HERE = (Frame(FILE, 1, "main", 12),)
STACKS = {
    1: Stack(HERE, "keras", "dispatch"),
    2: Stack(HERE, "keras", "waiting"),
    3: Stack(HERE, "tensorflow", "graph"),
    4: Stack((Frame(FILE, 1, "main", 30),), "python", "waiting"),
}


def sampled(*runs: tuple[int, int], pause_ms: int = 50, begin_ms: int = 0, **fields: Any) -> Evidence:
    """``runs``: (stack, how many samples)."""
    numbers = [number for number, count in runs for _ in range(count)]
    taken = [((begin_ms + index * pause_ms) * MS, number) for index, number in enumerate(numbers)]
    return evidence(pipeline(PREFETCH, **fields), log=SampleLog(STACKS, taken))


def test_a_wait_after_the_last_step() -> None:
    given = sampled((3, 100), (1, 1), (2, 192), begin_ms=10**6)
    finding = one(freed(given))
    assert (finding.code, finding.basis, finding.where[0].line) == ("INP013", "run", 12)
    assert finding.title == "Destroying a tf.data iterator blocks for 9.6 s after the last step"
    assert {item.name: item.value for item in finding.evidence}["waits for an iterator"] == 1
    assert finding.share_of_step == pytest.approx(9.6 / given.run.wall_s)


def test_waits_at_two_lines_and_the_longer_first() -> None:
    finding = one(freed(sampled((3, 9), (2, 20), (3, 9), (4, 40))))
    assert [place.line for place in finding.where] == [30, 12] and "waits for an iterator" in {
        item.name for item in finding.evidence
    }
    assert finding.evidence[1].value == 2


def test_short_waits_that_come_back_count_together() -> None:
    given = sampled(*[(3, 1), (2, 8)] * 20, (3, 500))
    finding = one(freed(given))
    assert finding.title == "Destroying tf.data iterators blocks for 8.0 s, 20 times"
    for wall_s, severity in ((25.0, "low"), (35.0, "low"), (70.0, "low"), (90.0, "info")):
        given.run = msgspec.structs.replace(given.run, wall_s=wall_s)
        finding = one(freed(given))
        assert finding.severity == severity and finding.share_of_step == pytest.approx(8.0 / wall_s)
        assert (finding.gain.low or 1.0) == pytest.approx(1 / (1 - 4.0 / wall_s) if wall_s == 25.0 else 1.0)
    assert "TensorFlow race condition" in finding.detail and "also without tfperf" in finding.detail


def test_one_long_wait_is_never_loud() -> None:
    given = sampled((3, 100), (1, 1), (2, 192))
    waited = one(freed(given)).evidence[0].value
    for wall_s, severity in ((1.9 * waited, "low"), (9.9 * waited, "low"), (10.1 * waited, "info")):
        given.run = msgspec.structs.replace(given.run, wall_s=wall_s)
        assert one(freed(given)).severity == severity


def test_what_keras_made_of_arrays_is_to_be_a_dataset_with_options() -> None:
    given = evidence(
        pipeline(msgspec.structs.replace(PREFETCH, by="keras")),
        log=SampleLog(STACKS, [(index * 50 * MS, number) for index, number in enumerate([3, *[2] * 192] * 3)]),
    )
    given.run = msgspec.structs.replace(given.run, wall_s=30.0)
    finding = one(freed(given))
    assert finding.gain.surely > 0 and finding.advice.startswith("Give Keras a tf.data.Dataset")
    mine = sampled(*[(3, 1), (2, 192)] * 3)
    mine.run = given.run
    assert one(freed(mine)).gain.surely > 0
    given.run = mine.run = msgspec.structs.replace(given.run, wall_s=110.0)
    assert [one(freed(each)).severity for each in (given, mine)] == ["info", "low"], "no option would help"


@pytest.mark.parametrize(
    "given",
    [
        sampled((3, 100), (2, 9)),  # half a second at most
        sampled((1, 100), (3, 10)),  # it works
        sampled(*[(3, 1), (2, 1)] * 20),  # 50 ms each
        sampled((2, 5), pause_ms=1500),  # samples that far apart belong to different moments
        sampled((3, 20), (2, 100), in_graph="train"),  # no iterator was there to be freed
    ],
    ids=["short", "work", "many short", "sparse", "no iterator"],
)
def test_no_wait(given: Evidence) -> None:
    assert not list(freed(given))
