"""The purpose of a sampled moment of the run."""

from __future__ import annotations

import pytest
from evidence_builder import FILE
from run_builder import KERAS, stack

from tfperfkit.analysis.moments import Moments
from tfperfkit.records.samples import Frame, Stack

POOL = "multiprocessing.pool"
RETURNED = "keras.src.utils.traceback_utils:error_handler"


def part(what: Stack, source: str = "") -> str:
    return Moments({FILE: tuple(source.splitlines())}).find_moment(what).part


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (stack("python"), "data"),
        (stack("dispatch", "tensorflow.python.ops.math_ops:reduce_sum"), "tensorflow"),
        (stack("graph", "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"), "tensorflow"),
        (stack("tracing", "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"), "tracing"),
        (stack("input", "tensorflow.python.data.ops.iterator_ops:__next__"), "input"),
        (stack("eager_ops", "tensorflow.python.data.ops.dataset_ops:__iter__"), "input"),
        (stack("dispatch", "tensorflow.python.data.ops.dataset_ops:batch"), "building"),
        (stack("eager_ops", "keras.src.models.sequential:__init__"), "building"),
        (stack("dispatch", "keras.src.layers.layer:__call__", context="build"), "building"),
        (stack("eager_ops", "tensorflow.python.ops.resource_variable_ops:__init__"), "building"),
        (stack("eager_ops", "tensorflow.python.ops.resource_variable_ops:assign"), "tensorflow"),
        (stack("dispatch", "keras.src.layers.layer:__call__"), "tensorflow"),
        (stack("saving", "keras.src.saving.saving_api:load_model"), "saving"),
        (stack("tracing", "tensorflow.python.saved_model.save:save"), "saving"),
        (stack("dispatch", "tensorflow.python.saved_model.load:load"), "saving"),
        (stack("graph", "tensorflow.python.saved_model.load:_call_flat"), "tensorflow"),
        (stack("summary", "tensorflow.python.ops.summary_ops_v2:scalar"), "saving"),
        (stack("graph", f"{KERAS}:predict", context="evaluate"), "prediction"),
        (stack("graph", f"{KERAS}:evaluate", context="evaluate"), "validation"),
        (stack("graph", f"{KERAS}:fit", f"{KERAS}:evaluate", context="evaluate"), "validation"),
        (stack("graph", f"{KERAS}:predict_on_batch"), "prediction"),
        (stack("graph", "scikeras.wrappers:predict_proba", context="evaluate"), "prediction"),
        (stack("python", "numpy:__getattr__", "numpy.random:<module>"), "imports"),
        (stack("python", "subprocess:run", "subprocess:communicate"), "children"),
        (stack("python", "multiprocessing.process:join"), "children"),
        (stack("python", "imageio_ffmpeg._io:read_frames", "subprocess:wait"), "children"),
        (stack("python", "threading:join"), "data"),
        (stack("python", "multiprocessing.dummy:start"), "data"),
    ],
)
def test_by_what_was_called(what: Stack, expected: str) -> None:
    assert part(what) == expected


def at(source: str, call: str, *calls: str, library: str = "python") -> Stack:
    """Return a sample in ``call``, which is in the last line of ``source``."""
    lines = source.splitlines()
    begin = lines[-1].index(call)
    span = (len(lines), len(lines), begin, begin + len(call))
    return Stack((Frame(FILE, 1, "<module>", len(lines), span, calls),), library, "python")


@pytest.mark.parametrize(
    ("source", "call", "calls", "expected"),
    [
        ("import os\nos.waitpid(1, 0)", "os.waitpid(1, 0)", (), "children"),
        ("import os\nos.system('x')", "os.system('x')", (), "children"),
        ("import os\nos.getpid()", "os.getpid()", (), "data"),
        (
            "import multiprocessing as m\np = m.Pool()\np.map(f, x)",
            "p.map(f, x)",
            (f"{POOL}:map", f"{POOL}:get"),
            "children",
        ),
        (
            "from multiprocessing.pool import ThreadPool\np = ThreadPool()\np.map(f, x)",
            "p.map(f, x)",
            (f"{POOL}:map", f"{POOL}:get"),
            "data",
        ),
        (
            "import concurrent.futures as c\ne = c.ProcessPoolExecutor()\ne.submit(f).result()",
            "e.submit(f).result()",
            ("concurrent.futures._base:result",),
            "children",
        ),
        (
            "import concurrent.futures as c\ne = c.ThreadPoolExecutor()\ne.submit(f).result()",
            "e.submit(f).result()",
            ("concurrent.futures._base:result",),
            "data",
        ),
        (
            "import concurrent.futures as c\ne = c.ProcessPoolExecutor()\nfor job in jobs: job.result()",
            "job.result()",
            ("concurrent.futures._base:result",),
            "children",
        ),
        ("import os\nimport scipy.stats", "import scipy.stats", (), "imports"),
    ],
)
def test_by_the_source(source: str, call: str, calls: tuple[str, ...], expected: str) -> None:
    assert part(at(source, call, *calls), source) == expected


@pytest.mark.parametrize(("method", "expected"), [("predict", "prediction"), ("evaluate", "validation")])
def test_what_a_call_frees_as_it_returns_belongs_to_it(method: str, expected: str) -> None:
    source = f"import keras\nm = keras.Sequential()\nm.{method}(x)"
    assert part(at(source, f"m.{method}(x)", RETURNED, library="keras"), source) == expected


def test_a_method_of_another_library_is_not_taken_for_keras() -> None:
    source = "import sklearn.svm\nm = sklearn.svm.SVC()\nm.predict(x)"
    assert part(at(source, "m.predict(x)", "sklearn.svm._base:predict", library="sklearn"), source) == "data"
