"""The probe tfprof on real TensorFlow: each test runs a script in a process of its own and reads its trace here."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from tfperfkit_probes.tfprof.probe import TfprofProbe
from warm import run_warm

from tfperfkit.model import ProbeResult
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.testing import FakeRecording, capture_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)
ROOT = Path(__file__).resolve().parents[2]
PREAMBLE = """
import json, os, sys, threading, time
from pathlib import Path
import numpy as np
import tensorflow as tf
from tfperfkit.errors import Unavailable
from tfperfkit.testing import FakeRecording
from tfperfkit_probes.tfprof.probe import TfprofProbe
FOLDER = Path(sys.argv[1])
FACTS = {}

def window(name, steps, body, **options):
    recording = FakeRecording(FOLDER / name, planned_steps=steps, options=options)
    recording.step = 1
    try:
        with TfprofProbe().record(recording):
            for number in range(1, steps + 1):
                if number > 1:
                    recording.begin_step(number)
                body(number)
            recording.begin_step(steps + 1)
        recording.flush()
    except Unavailable as reason:
        FACTS[name + ".unavailable"] = str(reason)
    FACTS[name + ".notes"] = recording.notes
    return recording

def done():
    from tensorflow.python.profiler import profiler_v2
    FACTS["restored"] = type(profiler_v2._pywrap_profiler).__name__
    FACTS["threads"] = threading.active_count()
    FACTS["profile_function"] = sys.getprofile() is not None
    (FOLDER / "facts.json").write_text(json.dumps(FACTS))
"""


def run(folder: Path, script: str, log_level: str | None = None) -> dict[str, Any]:
    """Run a script after PREAMBLE; gives what it left in FACTS."""
    code = PREAMBLE + textwrap.dedent(script) + "\ndone()\n"
    if log_level is None:
        ran = run_warm(code, folder, folder, environment={"KERAS_BACKEND": "tensorflow"})
    else:  # TensorFlow asks for it once
        path = folder / "script.py"
        path.write_text(code)
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": log_level, "CUDA_VISIBLE_DEVICES": "-1"}
        ran = subprocess.run(
            [sys.executable, str(path), str(folder)], env=environment, capture_output=True, text=True, timeout=120
        )
    assert ran.returncode == 0, ran.stderr[-4000:]
    assert not re.search(r"profiler_session\.cc|save_profile\.cc", ran.stderr), "the script would not have shown that"
    facts: dict[str, Any] = json.loads((folder / "facts.json").read_text())
    assert facts["restored"] == "module", "the profiler's module was not put back"
    assert facts["threads"] == 1
    assert not facts["profile_function"]
    return facts


def analyze(folder: Path, steps: StepTable | None = None, **options: object) -> ProbeResult:
    return TfprofProbe().analyze(capture_of(FakeRecording(folder, options=options), steps=steps))


def counts(result: ProbeResult) -> dict[tuple[str, str, str], int]:
    return {(op.name, op.type, op.where): op.count for op in result.data.top_ops}


def test_the_profilers_log_stays_out_of_the_terminal(tmp_path: Path) -> None:
    run(tmp_path, "window('quiet', 2, lambda number: tf.add(number, 1))", log_level="0")
    log = (tmp_path / "quiet" / "trace" / "profiler.log").read_text()
    assert "profiler_session.cc" in log


def test_counts_are_exact(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        x = tf.random.normal((64, 64))
        @tf.function
        def compiled(x):
            for _ in range(3):
                x = tf.linalg.matmul(x, x, name="inside")
            return tf.reduce_sum(x)
        @tf.function(jit_compile=True)
        def fused(x):
            return tf.reduce_sum(tf.matmul(tf.matmul(x, x), x))
        batches = iter(tf.data.Dataset.from_tensors(np.ones((8, 8), "f4")).repeat().prefetch(1))
        def body(number):
            next(batches)
            for _ in range(5):
                tf.linalg.matmul(x, x)
            tf.nn.relu(x)
            compiled(x)
            fused(x)
            time.sleep(0.004)
        body(0)
        window("counts", 7, body)
        window("python", 2, body, python=True)
        """,
    )
    result = analyze(tmp_path / "counts")
    assert result.status == "ok", result.reason
    data = result.data
    assert data.steps == 7
    assert (data.first_step, data.last_step) == (1, 7)
    found = counts(result)
    assert found["MatMul", "MatMul", "eager"] == 5 * 7
    assert found["Relu", "Relu", "eager"] == 7
    inside = {name: count for (name, op, where), count in found.items() if where == "graph" and "MatMul" in op}
    assert sum(inside.values()) == 3 * 7, found
    thunks = {name: count for (name, op, where), count in found.items() if where == "xla"}
    assert thunks and all(count % 7 == 0 for count in thunks.values()), found
    assert {(op.name, op.count) for op in data.input_ops} >= {("IteratorGetNext", 7)}
    parts = data.breakdown_ms
    assert sum(parts.values()) == pytest.approx(data.step_ms)
    assert parts["python"] >= 4.0, parts  # the sleep
    assert parts["eager_ops"] > 0
    assert parts["graph"] > 0
    assert not data.python_tracer
    assert (tmp_path / "counts" / "trace" / data.trace_file).is_file()
    assert all(row for table in result.tables for row in table.rows)

    traced = analyze(tmp_path / "python", python=True)
    assert traced.data.python_tracer
    assert counts(traced)["MatMul", "MatMul", "eager"] == 5 * 2
    # The last step's end was not seen, says the table: it is left out.
    table = StepTable(steps=(Step(1, 0, int(data.step_ms * 1e6)),), source="custom")
    cut = analyze(tmp_path / "python", steps=table)
    assert cut.data.steps == 1
    assert any("last traced step left out" in note for note in cut.notes)


def test_input_share_of_fit_and_of_an_eager_loop(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        import keras
        def slow():
            while True:
                time.sleep(0.15)
                yield np.ones((32, 64), "f4"), np.zeros((32,), "i4")
        kinds = (tf.TensorSpec((32, 64)), tf.TensorSpec((32,), tf.int32))
        bound = tf.data.Dataset.from_generator(slow, output_signature=kinds).prefetch(1)
        ready = tf.data.Dataset.from_tensors((np.ones((512, 64), "f4"), np.zeros((512,), "i4"))).repeat().prefetch(2)
        class Steps(keras.callbacks.Callback):
            async_safe = True
            def __init__(self, name):
                super().__init__()
                self.recording = FakeRecording(FOLDER / name, planned_steps=8)
            def on_train_batch_begin(self, batch, logs=None):
                number = batch + 1
                self.recording.begin_step(number)
                if number == 5:
                    self.context = TfprofProbe().record(self.recording)
                    self.context.__enter__()
                if number == 13:
                    self.context.__exit__(None, None, None)
                    self.recording.flush()
        layers = [keras.layers.Dense(1024, activation="relu") for _ in range(3)]
        model = keras.Sequential([*layers, keras.layers.Dense(10)])
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(bound, steps_per_epoch=14, verbose=0, callbacks=[Steps("fit_bound")])
        model.fit(ready, steps_per_epoch=14, verbose=0, callbacks=[Steps("fit_ready")])
        w = tf.Variable(tf.ones((64, 10)))
        step = tf.function(lambda x: tf.reduce_sum(tf.matmul(x, w)))
        batches = iter(bound)
        step(next(batches)[0])
        window("loop_bound", 6, lambda number: step(next(batches)[0]))
        done()
        # TensorFlow 2.21 on Python 3.13 now and then hangs at exit while a generator feeds a dataset, without us too.
        os._exit(0)
        """,
    )
    bound, ready, loop = (analyze(tmp_path / name) for name in ("fit_bound", "fit_ready", "loop_bound"))
    assert bound.data.steps == ready.data.steps == 8
    # Some 150 ms of waiting for each batch; the step's own work overlaps with some of it.
    for result in (bound, loop):
        assert result.data.input_share > 0.2, result.data.breakdown_ms
        assert any(op.type == "PyFunc" for op in result.data.input_ops)
        assert not any(op.type == "PyFunc" for op in result.data.top_ops)
    # On a loaded machine anything can wait; that a healthy pipeline does not wait is tested on made traces.
    assert ready.data.input_share < bound.data.input_share
    for result in (bound, ready):
        assert sum(result.data.breakdown_ms.values()) == pytest.approx(result.data.step_ms)
        dense = [op for op in result.data.top_ops if "MatMul" in op.type and op.where == "graph"]
        assert dense and all(op.count == 8 for op in dense)


def test_a_script_that_profiles_itself_is_left_alone(tmp_path: Path) -> None:
    facts = run(
        tmp_path,
        """
        import keras
        profiler = tf.profiler.experimental
        x = tf.ones((64, 64))
        step = tf.function(lambda: tf.reduce_sum(tf.matmul(x, x)))
        step()
        def own(name):
            return [path.stat().st_size for path in (FOLDER / name).rglob("*.xplane.pb")]
        # Running before our window opens.
        profiler.start(str(FOLDER / "own_before"))
        window("before", 3, lambda number: step())
        step()
        profiler.stop()
        FACTS["own_before"] = own("own_before")
        # Started within our window, and ended in it.
        def start_within(number):
            if number == 3:
                profiler.start(str(FOLDER / "own_within"))
            step()
            if number == 4:
                profiler.stop()
        window("within", 6, start_within)
        FACTS["own_within"] = own("own_within")
        # A stop without a start raises as ever and does not end ours.
        def stop_only(number):
            if number == 2:
                try:
                    profiler.stop()
                except tf.errors.UnavailableError:
                    FACTS["stop_raised"] = True
            step()
        window("stop_only", 4, stop_only)
        # Keras.
        data = tf.data.Dataset.from_tensors((np.ones((8, 4), "f4"), np.zeros((8, 1), "f4"))).repeat()
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        recording = FakeRecording(FOLDER / "keras", planned_steps=12)
        class Steps(keras.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                recording.begin_step(batch + 1)
                if batch == 2:
                    self.context = TfprofProbe().record(recording)
                    self.context.__enter__()
                if batch == 14:
                    self.context.__exit__(None, None, None)
        board = keras.callbacks.TensorBoard(str(FOLDER / "own_keras"), profile_batch=(6, 8))
        model.fit(data, steps_per_epoch=16, verbose=0, callbacks=[Steps(), board])
        recording.flush()
        FACTS["own_keras"] = own("own_keras")
        FACTS["keras.notes"] = recording.notes
        from tfperfkit.instruments.profiler import script_profiled_itself
        FACTS["remembered"] = script_profiled_itself()
        window("after", 3, lambda number: step())
        """,
    )
    assert "the script runs the TF Profiler itself" in facts["before.unavailable"]
    for name in ("own_before", "own_within", "own_keras"):
        assert len(facts[name]) == 1 and facts[name][0] > 1000, (name, facts[name])
    own = FakeRecording(tmp_path / "check")
    for name, lower in (("own_before", 1), ("own_within", 2), ("own_keras", 2)):
        # Their traces hold their steps' operations and none of our markers.
        (trace,) = (tmp_path / name).rglob("*.xplane.pb")
        probe_view = analyze_logdir(own, trace.parents[3])
        assert probe_view.data.steps == 0
        matmuls = sum(op.count for op in probe_view.data.top_ops if "MatMul" in op.type)
        assert matmuls >= lower, (name, probe_view.data.top_ops)
    assert any("started a profiler session" in note for note in facts["within.notes"])
    assert any("started a profiler session" in note for note in facts["keras.notes"])
    assert "started a profiler session" in facts["remembered"]
    within = analyze(tmp_path / "within")
    assert within.status == "cut"
    assert within.data.steps == 2  # the step in which the script took over is not counted
    assert analyze(tmp_path / "keras").data.steps >= 1
    assert facts["stop_raised"]
    assert analyze(tmp_path / "stop_only").data.steps == 4
    assert analyze(tmp_path / "after").data.steps == 3


def analyze_logdir(recording: FakeRecording, logdir: Path) -> ProbeResult:
    class Elsewhere(FakeRecording):
        @property
        def trace_dir(self) -> Path:
            return logdir

    return TfprofProbe().analyze(capture_of(Elsewhere(recording.directory.parent)))


def test_a_window_is_bounded(tmp_path: Path) -> None:
    facts = run(
        tmp_path,
        """
        import shutil
        from tfperfkit_probes.tfprof import record
        x = tf.ones((64, 64))
        step = tf.function(lambda: tf.reduce_sum(tf.matmul(x, x)))
        step()
        def until_ended(name, planned):
            recording = FakeRecording(FOLDER / name, planned_steps=planned)
            context = TfprofProbe().record(recording)
            with context:
                number = 0
                until = time.monotonic() + 200
                while context._open and time.monotonic() < until:
                    step()
                    if planned:
                        number += 1
                        recording.begin_step(number)
                for _ in range(3):
                    step()
            recording.flush()
            FACTS[name + ".notes"] = recording.notes
        record.MAX_SECONDS = 0.5
        until_ended("time", None)
        record.MAX_SECONDS, record.MAX_GROWTH_BYTES = 30, 8 * 1024 * 1024
        until_ended("memory", 100000)
        # A folder that can't be written.
        record.MAX_GROWTH_BYTES = 1 << 30
        recording = FakeRecording(FOLDER / "unwritable", planned_steps=2)
        with TfprofProbe().record(recording):
            step()
            shutil.rmtree(FOLDER / "unwritable" / "trace")
            (FOLDER / "unwritable" / "trace").write_text("a file in its place")
        recording.flush()
        """,
    )
    timed = analyze(tmp_path / "time")
    assert (timed.status, timed.data.steps, timed.data.ended) == ("cut", 0, "time")
    assert timed.data.breakdown_ms is None
    assert timed.data.top_ops
    assert any("ended after" in note for note in facts["time.notes"])
    grown = analyze(tmp_path / "memory")
    assert (grown.status, grown.data.ended) == ("cut", "memory")
    assert grown.data.steps > 10
    assert any("ended early" in note for note in facts["memory.notes"])
    (tmp_path / "unwritable" / "trace").unlink()
    lost = analyze(tmp_path / "unwritable")
    assert lost.status == "failed"
    assert lost.reason == "the run directory is gone"


def test_reading_needs_no_tensorflow(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['tensorflow'] = None\n"
        "import tfperfkit_probes.tfprof.result, tfperfkit.xplane.schema as schema\n"
        "schema.message_class('XSpace')\n"
        "assert not [name for name in sys.modules if name.startswith('tensorflow.')]\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")])}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=200)
