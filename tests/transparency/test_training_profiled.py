"""Scripts that use TensorFlow's own profiler, its summaries and callbacks, inside our windows and across them."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same
from training import COMMON, STEPS

#: Functions are named, so that the window of lines opens whatever the samples of so short a run have seen.
WINDOWS = (
    "--lines",
    "work,one_step,train",
    "--window",
    "lines=20:20",
    "--window",
    "devices=45:5",
    "--window",
    "tfprof=55:40",
)

#: The files of a session: how many of which kind, and whether the trace has the script's own marks in it.
LEFT = """
import pathlib, shutil
def left(folder):
    files = [p for p in pathlib.Path(folder).rglob('*') if p.is_file()]
    traces = b''.join(p.read_bytes() for p in files if p.suffix == '.pb')
    shutil.rmtree(folder, ignore_errors=True)
    # Which operations a trace holds is a matter of buffers and threads, its own marks are not.
    return sorted({p.suffix for p in files}), b'my mark' in traces, b'tfperf' in traces
"""

PROFILER = (
    STEPS
    + LEFT
    + """
profiler = tf.profiler.experimental
def attempt(call, *arguments):
    try: call(*arguments); return 'done'
    except Exception as e: return type(e).__name__, str(e)
def each(n):
    if n == 10: print(attempt(profiler.stop))
    if n in (12, 58): profiler.start(f'own{n}'); print(attempt(profiler.start, 'second'))
    if n in (25, 70): profiler.stop(); print(n, attempt(profiler.stop), left(f'own{n - 13 if n == 25 else 58}'))
    if n == 80:
        with profiler.Profile('context', options=profiler.ProfilerOptions(host_tracer_level=2)):
            with profiler.Trace('my mark', step_num=n, _r=1): work(n)
        print(left('context'))
    with profiler.Trace('my mark', step_num=n): pass
train(90, each)
profiler.start('long'); train(30, each); profiler.stop(); print(left('long'))
print(hexed(losses))
"""
)

IN_WINDOW = (
    STEPS
    + LEFT
    + """
profiler = tf.profiler.experimental
def each(n):
    if n == 60:  # ours runs: the script's own functions must not know
        try: profiler.stop()
        except Exception as e: print(type(e).__name__, e)
    if n == 90: profiler.start('across')
    if n == 100: profiler.stop(); print(left('across'))
train(120, each)
writer = tf.summary.create_file_writer('logs')
with writer.as_default(step=1):
    tf.summary.trace_on(graph=True, profiler=True, profiler_outdir='logs')
    compiled(tf.ones([6])); tf.summary.trace_export('trace')
    tf.summary.trace_on(graph=True); train(3); tf.summary.trace_export('again', step=2)
    tf.summary.trace_on(); tf.summary.trace_off(); tf.summary.scalar('loss', losses[-1])
writer.close()
events = [e for p in sorted(pathlib.Path('logs').glob('events*')) for e in tf.compat.v1.train.summary_iterator(str(p))]
print([(e.step, [v.tag for v in e.summary.value], len(e.graph_def) > 0) for e in events])
print(left('logs'), hexed(losses))
"""
)

TENSORBOARD = (
    COMMON
    + LEFT
    + """
tf.keras.utils.set_random_seed(1)
x = np.random.rand(480, 4).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
callbacks = [tf.keras.callbacks.TensorBoard("logs", histogram_freq=1, write_graph=True, update_freq=10,
                                            profile_batch=(62, 70)),
             tf.keras.callbacks.CSVLogger("log.csv"), tf.keras.callbacks.ReduceLROnPlateau(monitor="loss"),
             tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, hexed(logs.values()))),
             tf.keras.callbacks.ModelCheckpoint("best.weights.h5", save_weights_only=True)]
history = model.fit(x, x.sum(1), epochs=2, batch_size=4, verbose=0, callbacks=callbacks, validation_split=.2)
print(hexed(history.history["val_loss"]), [type(c).__name__ for c in callbacks])
def tags(path):
    return [(e.step, v.tag) for e in tf.compat.v1.train.summary_iterator(str(path)) for v in e.summary.value]
print([tags(p) for p in sorted(pathlib.Path("logs").rglob("events*"))])
print(left("logs")[0], fingerprint())
"""
)

PROGRAMS = [
    Program("the profiler", PROFILER, options=WINDOWS, shows=b"AlreadyExistsError", stderr="logs"),
    Program("the profiler, while ours runs", IN_WINDOW, options=WINDOWS, shows=b"UnavailableError", stderr="logs"),
    Program(
        "TensorBoard's callback", TENSORBOARD, ignored=("*.h5",), options=WINDOWS, shows=b"batch_70", stderr="logs"
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
