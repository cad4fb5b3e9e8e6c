"""INP005: the line that takes the time of what prepares batches, and whether it reads files, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE
from input_builder import PREFETCH, evidence, one, pipeline, stage
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
        rows += [["s", 1000 * number + index, number] for index in range(count)]
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
    assert "by reading and decompressing files" in found.title and "in Patches.__init__" in found.advice
    assert any(row.name.endswith("at this line") and row.value == pytest.approx(0.8) for row in found.evidence)


def test_a_line_of_a_function_that_it_calls() -> None:
    found = told((5, [READ], "python"), (40, [HAND, FLIP], "python"))
    assert found.where[0] == SourceSpan(FILE, 12, "augmented") and "reading" not in found.title + found.advice


def test_with_few_samples_the_source_tells_what_stays_in_its_file() -> None:
    found = told((3, [READ], "python"))
    assert [span.line for span in found.where] == [7, 9, 33] and "Line 9 reads a file each time" in found.advice
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


def called(*lines: int, name: str = "__getitem__", first: int = 7) -> list[Any]:
    """Samples of a thread of tf.data's: one for each of these lines, 10 times."""
    rows: list[Any] = []
    for number, line in enumerate(lines, 1):
        rows.append(["stack", number, [[FILE, first, name, line]], "", "python"])
        rows += [["called", 1000 * number + index, number, 7] for index in range(10)]
    return rows


def test_batches_made_on_a_thread_of_tf_data_are_sampled_too() -> None:
    found = told(records={"samples": called(10, 10, 9)})
    assert found.where[0].line == 10
    assert any(row.name.endswith("at this line") and row.value == pytest.approx(2 / 3) for row in found.evidence)
    apart = told(records={"samples": called(10, 10, 9)}, use_multiprocessing=True, workers=2)
    assert not any(row.name.endswith("at this line") for row in apart.evidence)


def through(rows: list[Any], *others: Stage) -> Finding:
    """A map that calls ``augmented`` through ``py_function``."""
    at = SourceSpan(FILE, 3, "load")
    mapped = stage("ParallelMap", 33, is_python=True, self_ms_per_output=9.0, mapped=at)
    made = pipeline(PREFETCH, mapped, *others, bound_by=1, bound_ms_per_output=9.0)
    return one(python_input(evidence(made, source=SOURCE, records={"samples": rows})))


def test_the_line_of_a_function_that_a_map_calls() -> None:
    rows = called(12, 12, 12, name="augmented", first=11)
    assert through(rows).where[0] == SourceSpan(FILE, 12, "augmented")
    assert through(rows[:8]).where[0] == SourceSpan(FILE, 3, "load")  # too few samples
    other = stage("Generator", 20, is_python=True, mapped=SourceSpan(FILE, 4, "rows"))
    assert through(rows, other).where[0] == SourceSpan(FILE, 3, "load")  # whose they are is not known
