"""INP005: the line that takes the time of what prepares batches, and whether it reads files, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE
from input_builder import PREFETCH, evidence, one, pipeline, ranged, stage
from tfperfkit_probes.input.model import KerasInput, Stage
from tfperfkit_rules.input.python_batches import python_input

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.samples import read_log

SOURCE = """\
import h5py
import keras
class Patches(keras.utils.PyDataset):
    def __init__(self, path):
        self.x = h5py.File(path)["patches"]
        self.order = [3, 1, 2]
    def __getitem__(self, index):
        rows = sorted(self.order[index : index + 8])
        x = self.x[rows]
        return augmented(x)
def augmented(x):
    return [flip(row) for row in x]
"""
TICK = 10_000_000  # ns
GET = "h5py._hl.dataset:__getitem__"
#: The two lines of ``__getitem__`` that read and hand over, and the function that it calls.
READ = [FILE, 7, "__getitem__", 9, [9, 9, 12, 24], GET]
HAND, FLIP = [FILE, 7, "__getitem__", 10, [10, 10, 15, 27]], [FILE, 11, "augmented", 12, [12, 12, 12, 21]]


def told(
    *stacks: tuple[int, list[list[Any]], str], source: str = SOURCE, records: Any = None, **fields: Any
) -> Finding:
    """Samples of (how many, the frames in the PyDataset, the activity), as the main thread made its first batches."""
    rows: list[Any] = []
    for number, (count, frames, activity) in enumerate(stacks, 1):
        rows.append(["stack", number, [[FILE, 1, "<module>", 20], *frames], "", activity])
        begin = sum(row[0] == "s" for row in rows)
        rows += [["s", (begin + index) * TICK, number] for index in range(count)]
    generator = stage("Generator", 33, by="keras", is_python=True, self_ms_per_output=9.0)
    made = pipeline(PREFETCH, generator, bound_by=1, bound_ms_per_output=9.0)
    given: dict[str, Any] = {
        "kind": "PyDataset",
        "way": "fit",
        "validation": False,
        "file": FILE,
        "line": 33,
        "function": "",
        "cls": "Patches",
        "place": SourceSpan(FILE, 7, "Patches.__getitem__"),
        "workers": 1,
        "use_multiprocessing": False,
        "pipeline": 0,
        **fields,
    }
    inputs = {"keras": (KerasInput(**given),)}
    return one(python_input(evidence(made, source=source, inputs=inputs, log=read_log(rows), records=records)))


def test_a_line_that_reads_comes_first() -> None:
    found = told((40, [READ], "python"), (10, [HAND, FLIP], "python"))
    assert [span.line for span in found.where] == [9, 7, 33]
    assert "reading and decompressing files" in found.title and "in Patches.__init__" in found.advice
    assert any(
        row.name.endswith("at this line") and row.value == pytest.approx(0.8, abs=0.02) for row in found.evidence
    )


def test_a_line_of_a_function_that_it_calls() -> None:
    found = told((5, [READ], "python"), (40, [HAND, FLIP], "python"))
    assert found.where[0] == SourceSpan(FILE, 12, "augmented") and "reading" not in found.title + found.advice


def test_with_few_samples_the_source_tells_what_stays_in_its_file() -> None:
    found = told((3, [READ], "python"))
    assert [span.line for span in found.where] == [7, 9, 33] and "Line 9 reads a file for each batch" in found.advice
    assert not any("samples" in row.name for row in found.evidence)
    apart = told((60, [HAND, FLIP], "python"), use_multiprocessing=True)
    assert apart.where[1].line == 9  # its processes are not sampled


@pytest.mark.parametrize(
    "found",
    [told(source=SOURCE.replace('["patches"]', '["patches"][:]')), told((60, [HAND, FLIP], "tracing"), source="")],
    ids=["in memory", "nothing known"],
)
def test_else_it_is_the_method(found: Finding) -> None:
    assert found.where[0].line == 7 and "reading" not in found.title


def make_rows(*lines: int, name: str = "__getitem__", first: int = 7) -> list[Any]:
    """Samples of a thread of tf.data's: one for each of these lines, 10 times."""
    rows: list[Any] = []
    for number, line in enumerate(lines, 1):
        rows.append(["stack", number, [[FILE, first, name, line]], "", "python"])
        rows += [["called", (10 * number + index) * TICK, number, 7] for index in range(10)]
    return rows


LISTS = (
    SOURCE
    + """\
import numpy, tensorflow as tf
class Pictures(keras.utils.PyDataset):
    def __getitem__(self, index):
        pictures = []
        for number in self.order:
            pictures.append(numpy.ones((9, 9)))
        return tf.convert_to_tensor(pictures)
"""
)
CONVERT = "tensorflow.python.framework.tensor_conversion:convert_to_tensor"


def converted(activity: str, *, source: str = LISTS) -> Finding:
    """Twelve batches: of each two samples in Python and one behind a call that kept the lock for 300 ms."""
    frames = [[FILE, 15, "__getitem__", 18], [FILE, 15, "__getitem__", 19, [19, 19, 15, 45], CONVERT]]
    rows: list[Any] = [["stack", 1, frames[:1], "", "python"], ["stack", 2, frames[1:], "tensorflow", "dispatch"]]
    rows.append(["stack", 3, [[FILE, 1, "<module>", 33]], "tensorflow", activity])
    for batch in range(12):
        for at, stack in ((1, 1), (2, 1), (32, 2)):
            when = (32 * batch + at) * TICK
            rows += [["s", when, 3], ["called", when, stack, 7]]
    return told(source=source, records={"samples": [["rate", 0, TICK], *rows]},
                cls="Pictures", place=SourceSpan(FILE, 15, "Pictures.__getitem__"))  # fmt: skip


def test_a_call_that_starves_the_sampler_has_the_time_until_its_sample() -> None:
    found = converted("graph")
    assert found.where[0].line == 19 and found.title.endswith(", tf.convert_to_tensor of a list)")
    assert "numpy.stack(rows)" in found.advice
    assert any(row.name == "share of batch preparation at this line" and row.value > 0.9 for row in found.evidence)


def test_where_the_training_thread_may_have_held_the_lock_a_gap_tells_nothing() -> None:
    found = converted("python")
    # The method: its numpy.ones attracts samples, so no line of it is named.
    assert found.where[0].line == 15 and "of a list" not in found.title


def test_an_array_is_converted_as_a_whole() -> None:
    array = LISTS.replace("convert_to_tensor(pictures)", "convert_to_tensor(picture1)")
    assert "of a list" not in converted("graph", source=array).title


def test_batches_made_on_a_thread_of_tf_data_are_sampled_too() -> None:
    found = told(records={"samples": make_rows(10, 10, 9)})
    assert found.where[0].line == 10
    assert any(
        row.name.endswith("at this line") and row.value == pytest.approx(2 / 3, abs=0.02) for row in found.evidence
    )
    apart = told(records={"samples": make_rows(10, 10, 9)}, use_multiprocessing=True, workers=2)
    assert not any(row.name.endswith("at this line") for row in apart.evidence)


def through(rows: list[Any], *others: Stage) -> Finding:
    """Return a map that calls ``augmented`` through ``py_function``."""
    at = SourceSpan(FILE, 3, "load")
    mapped = stage("ParallelMap", 33, is_python=True, self_ms_per_output=9.0, mapped=at)
    made = pipeline(PREFETCH, mapped, *others, bound_by=1, bound_ms_per_output=9.0)
    return one(python_input(evidence(made, source=SOURCE, records={"samples": rows})))


def test_the_line_of_a_function_that_a_map_calls() -> None:
    rows = make_rows(12, 12, 12, name="augmented", first=11)
    assert through(rows).where[0] == SourceSpan(FILE, 12, "augmented")
    assert through(rows[:6]).where[0] == SourceSpan(FILE, 3, "load")  # too few samples
    other = stage("Generator", 20, is_python=True, mapped=SourceSpan(FILE, 4, "rows"))
    assert through(rows, other).where[0] == SourceSpan(FILE, 3, "load")  # whose they are is not known


FEATURES = (
    SOURCE
    + """\
import numpy as np
def features(wave):
    frames = [part * np.hanning(256) for part in wave]
    scaled = [scale(part) for part in frames]
    return np.log(frames)
"""
)


def features(*lines: int, name: str = "features") -> Finding:
    """Samples of these lines of ``features``, on a thread that TensorFlow calls. ``name``: of the sampled code."""
    at = SourceSpan(FILE, 3, "load")
    mapped = stage("ParallelMap", 33, is_python=True, self_ms_per_output=9.0, mapped=at)
    made = pipeline(PREFETCH, mapped, bound_by=1, bound_ms_per_output=9.0)
    rows: list[Any] = []
    for number, line in enumerate(lines, 1):
        span = [line, line, 11, len(FEATURES.splitlines()[line - 1])]
        rows.append(["stack", number, [[FILE, 14, name, line, span]], "", "python"])
        rows += [["called", (10 * number + index) * TICK, number, 7] for index in range(10)]
    return one(python_input(evidence(made, source=FEATURES, records={"samples": rows})))


def test_a_line_that_releases_the_lock_attracts_samples_so_its_function_is_named() -> None:
    """np.log had 48 % of the samples of a function of which it takes 4 %."""
    shared = features(17, 17, 15, 16)
    assert shared.where[0] == SourceSpan(FILE, 14, "features")
    (share,) = [row for row in shared.evidence if row.name == "share of batch preparation in this function"]
    assert share.value == pytest.approx(1.0)
    assert shared.title.endswith(", lines 15-17 in features)") and "measured together" in shared.detail
    assert shared.advice.startswith("Rewrite load and features with TensorFlow operations")
    comprehension = features(17, 17, 15, 16, name="<listcomp>")
    assert comprehension.title == shared.title, "a comprehension is a function of its own before Python 3.12"
    assert "lines" not in features(16, 16, 16, 15).title
    assert features(17, 17, 17, 17).where[0] == SourceSpan(FILE, 17, "features"), "nothing else was sampled"
    assert features(16, 16, 16, 15).where[0] == SourceSpan(FILE, 16, "features"), "Python of its own keeps the lock"


WAITING = """\
import subprocess, threading, time, urllib.request
import h5py
def load(key):
    return tf.numpy_function(fetch, [key], tf.uint8)
def fetch(key):
    return key
def rows():
    yield fetch(1)
"""
SLEEP, ASK = (
    [FILE, 5, "fetch", 6, [6, 6, 4, 14], "time:sleep"],
    [FILE, 5, "fetch", 6, [6, 6, 4, 14], "urllib.request:urlopen", "socket:readinto"],
)
RUN = [FILE, 5, "fetch", 6, [6, 6, 4, 14], "subprocess:run"]
LOCK = [FILE, 5, "fetch", 6, [6, 6, 4, 14], "threading:wait"]
COMPUTE = [FILE, 5, "fetch", 6]


def fetched(*frames: list[Any], threads: int = 1, kind: str = "Map", line: int = 3, waits_ms: float = 9.8) -> Finding:
    """Return a stage that takes 9.8 of 10 ms. Each frame is sampled 60 times, on so many threads."""
    at = SourceSpan(FILE, line, "load" if line == 3 else "rows")
    made = stage(kind, 33, is_python=True, self_ms_per_output=waits_ms, mapped=at)
    given = pipeline(made, bound_by=0, bound_ms_per_output=waits_ms)
    above = [[FILE, 7, "rows", 8]] if line == 7 else []
    rows: list[Any] = []
    for number, frame in enumerate(frames, 1):
        rows.append(["stack", number, [*above, frame], "", "python"])
        for index in range(60):
            rows += [["called", (60 * number + index) * TICK, number, thread] for thread in range(threads)]
    parts = {"input": waits_ms, "graph": 10.0 - waits_ms}
    return one(python_input(evidence(given, source=WAITING, parts_ms=parts, records={"samples": rows})))


@pytest.mark.parametrize(
    ("frame", "words"), [(SLEEP, "sleeping"), (ASK, "waiting for the network or a database"), (RUN, "running other")]
)
def test_calls_that_wait_in_turn_can_wait_together(frame: list[Any], words: str) -> None:
    found = fetched(frame, frame, COMPUTE)
    assert "waits for one at a time" in found.title and words in found.title
    assert "num_parallel_calls=16" in found.advice or frame is RUN
    assert "private_threadpool_size" in found.advice and "several threads" in found.advice
    assert "Rewrite" not in found.advice
    assert found.where[0] == SourceSpan(FILE, 6, "fetch")


def test_a_program_needs_a_core_so_it_gains_less_than_a_pause() -> None:
    assert ranged(fetched(RUN))[1] < ranged(fetched(SLEEP))[1]


def test_the_more_calls_wait_together_already_the_less_is_left_to_gain() -> None:
    few = fetched(SLEEP, threads=4, kind="ParallelMap")
    assert "few at a time" in few.title and ranged(few)[1] < ranged(fetched(SLEEP))[1]
    assert "num_parallel_calls=16" in fetched(SLEEP, threads=8).advice


def test_a_generator_fetches_with_threads_of_its_own() -> None:
    found = fetched(SLEEP, kind="Generator", line=7)
    assert "ThreadPoolExecutor(16)" in found.advice and "waits for one at a time" in found.title


@pytest.mark.parametrize(
    "frames", [(LOCK,), (COMPUTE, COMPUTE, SLEEP)], ids=["a lock may be another call's", "mostly computes"]
)
def test_other_python_is_to_be_rewritten(frames: tuple[list[Any], ...]) -> None:
    assert "Rewrite" in fetched(*frames).advice
