"""Scripts that configure TensorFlow, Python or Keras before they train, and those that use them in another way."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from harness import Program, assert_same
from training import COMMON, STEPS

#: TensorFlow 2.16 aborts where later ones raise.
OLDEST = version("tensorflow").startswith("2.16.")

CONFIG = (
    COMMON
    + """
c = tf.config
cpu = c.list_physical_devices('CPU')
print(cpu, c.list_physical_devices('GPU'), c.get_visible_devices())
c.set_soft_device_placement(False)
c.threading.set_intra_op_parallelism_threads(2); c.threading.set_inter_op_parallelism_threads(2)
c.set_visible_devices([], 'GPU')
c.set_logical_device_configuration(cpu[0], [c.LogicalDeviceConfiguration(), c.LogicalDeviceConfiguration()])
c.optimizer.set_experimental_options({'constant_folding': True, 'remapping': False})
c.experimental.set_synchronous_execution(True)
tf.debugging.set_log_device_placement(False)
print(c.get_soft_device_placement(), c.threading.get_intra_op_parallelism_threads())
print(c.optimizer.get_experimental_options())
for call in (lambda: c.experimental.set_memory_growth(cpu[0], True), lambda: c.set_visible_devices([], 'TPU'),
             lambda: c.experimental.get_memory_info('GPU:0')):
    try: print(call())
    except Exception as e: print(type(e).__name__, e)
strategy = tf.distribute.MirroredStrategy(['CPU:0', 'CPU:1'])
with strategy.scope():
    v = tf.Variable([1., 2.]); optimizer = tf.keras.optimizers.SGD(.1)
data = tf.data.Dataset.range(480).map(lambda x: tf.cast(x % 7, tf.float32)).batch(4)
data = strategy.experimental_distribute_dataset(data)
@tf.function
def step(x):
    def replica(x):
        with tf.GradientTape() as tape: loss = tf.reduce_sum((v - tf.reduce_mean(x)) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss
    return strategy.reduce('SUM', strategy.run(replica, (x,)), axis=None)
print(hexed([step(x) for x in data]), v.numpy(), c.list_logical_devices())
for call in (lambda: c.threading.set_intra_op_parallelism_threads(1), lambda: c.set_visible_devices([], 'CPU'),
             lambda: c.set_logical_device_configuration(cpu[0], [])):
    try: print(call())
    except Exception as e: print(type(e).__name__, e)
with tf.device('GPU:0'):
    tf.zeros([2]) + 1
"""
)

XLA_BEFORE = (
    "import os\nos.environ['TF_XLA_FLAGS'] = '--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit'\n"
    + STEPS.replace("@tf.function\n", "@tf.function(jit_compile=True)\n")
    + """
os.environ['XLA_FLAGS'] = '--xla_cpu_enable_fast_math=false --xla_dump_to=dump --xla_dump_hlo_module_re=nothing'
train(60)
print(compiled.experimental_get_tracing_count(), hexed(losses), os.environ['XLA_FLAGS'], os.path.exists('dump'))
tf.config.optimizer.set_jit(True); print(tf.config.optimizer.get_jit())
tf.config.run_functions_eagerly(True); train(40); tf.config.run_functions_eagerly(False); train(40)
tf.keras.mixed_precision.set_global_policy('mixed_float16'); tf.keras.backend.set_floatx('float16')
print(hexed(losses), tf.keras.mixed_precision.global_policy().name)
"""
)

XLA_WRONG = (
    STEPS.replace("@tf.function\n", "@tf.function(jit_compile=True)\n")
    + """
os.environ['XLA_FLAGS'] = '--xla_nosuch_flag=1'
print('set', flush=True)
train(3)
"""
)

DETERMINISTIC = (
    COMMON
    + """
tf.config.experimental.enable_op_determinism()
tf.keras.utils.set_random_seed(9)
try: tf.random.Generator.from_non_deterministic_state()
except Exception as e: print(type(e).__name__, e)
g = tf.random.Generator.from_seed(3)
x = tf.random.stateless_normal([400, 6], seed=(1, 2)).numpy()
data = tf.data.Dataset.from_tensor_slices(x).shuffle(100).map(lambda v: v + tf.random.uniform([]), num_parallel_calls=2)
data = data.batch(4).map(lambda v: (v, tf.reduce_sum(v, 1))).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dropout(.4),
                             tf.keras.layers.GaussianNoise(.1), tf.keras.layers.BatchNormalization(),
                             tf.keras.layers.Dense(1)])
model.compile("rmsprop", "mse")
print(hexed(model.fit(data, epochs=3, verbose=0).history["loss"]))
print(g.normal([3]).numpy(), tf.random.uniform([2]).numpy(), np.random.rand(), random.random())
print(hexed(np.concatenate([w.ravel() for w in model.get_weights()])), fingerprint())
tf.random.set_global_generator(g)
losses = [model.train_on_batch(x[n:n + 4], x[n:n + 4].sum(1)) for n in range(0, 200, 2)]
print(hexed(losses), [model.layers[0].name, tf.keras.layers.Dense(1).name, tf.keras.backend.get_uid('x')])
"""
)

ABSL = (
    "import absl.app, absl.flags, absl.logging, sys\nflags = absl.flags\n"
    "flags.DEFINE_integer('steps', 5, 'How many.', lower_bound=1)\nflags.DEFINE_bool('verbose', False, '')\n"
    + STEPS
    + """
def main(argv):
    print(argv, flags.FLAGS.steps, sys.argv)
    absl.logging.set_stderrthreshold('error'); absl.logging.error('an error of its own')
    train(flags.FLAGS.steps)
    print(hexed(losses))
    if flags.FLAGS.verbose: raise RuntimeError('é in main')
    return 3
if __name__ == '__main__':
    absl.app.run(main)
"""
)

SESSIONS = (
    COMMON
    + """
tf1 = tf.compat.v1
tf1.disable_v2_behavior()
tf1.set_random_seed(4)
x = tf1.placeholder(tf.float32, [None, 3], name='x')
w = tf1.get_variable('w', [3, 1], initializer=tf1.ones_initializer())
loss = tf.reduce_mean((tf.matmul(tf.nn.dropout(x, .5), w) - 1) ** 2)
step = tf1.train.get_or_create_global_step()
train = tf1.train.AdamOptimizer(.1).minimize(loss, global_step=step)
with tf1.train.MonitoredTrainingSession(hooks=[tf1.train.StopAtStepHook(120)], log_step_count_steps=None) as session:
    losses = []
    while not session.should_stop():
        losses.append(session.run([loss, train], {x: np.ones((4, 3))})[0])
print(hexed(losses), len(losses))
with tf1.Session() as session:
    session.run(tf1.global_variables_initializer())
    print(session.run(w).ravel(), [op.name for op in tf1.get_default_graph().get_operations()][:9])
    session.run(loss, {x: np.ones((4, 2))})
"""
)

STRICT = (
    "import warnings\nimport tensorflow as tf\nwarnings.simplefilter('error')\n"
    + STEPS
    + """
def each(n):
    if n == 120: warnings.warn('now')
train(110, each)
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(1)])
model.compile('sgd', 'mse')
print(hexed(model.fit(np.ones((400, 6)), np.ones(400), batch_size=4, verbose=0).history['loss']))
print(hexed(losses), [str(f) for f in warnings.filters])
train(20, each)
"""
)

TALKATIVE = (
    STEPS
    + """
import gc, logging, warnings
logging.basicConfig(level=logging.DEBUG, format='%(name)s %(levelname)s %(message)s')
tf.get_logger().setLevel('DEBUG')
class Odd(tf.keras.layers.Layer):
    def call(self, x): tf.print('printed', tf.reduce_sum(x), output_stream=sys.stderr); return x
@tf.function
def retraced(n): return tf.constant(n)
def each(n):
    if n % 20 == 0: warnings.warn(f'at {n}', DeprecationWarning); retraced(n)
    if n in (30, 90): tf.print('from the step', n, losses[-1]); logging.info('step %s', n); open(__file__); gc.collect()
train(160, each)
for n in range(8): tf.function(lambda x: x + 1)(n)
model = tf.keras.Sequential([tf.keras.Input((6,)), Odd(), tf.keras.layers.Dense(1)])
model.compile('sgd', 'mse', metrics=['mae'])
model.fit(np.ones((20, 6)), np.ones(20), verbose=0)
model.fit(tf.data.Dataset.from_tensors((np.ones((4, 6)), np.ones(4))), steps_per_epoch=3, verbose=0)
print(hexed(losses))
"""
)

LATE = """
import threading, sys, time
out = []
def load_and_train():
    global np, tf, os, random
    exec(compile(SOURCE, __file__, 'exec'), globals())
    train(150)
    print(hexed(losses), threading.current_thread().name)
SOURCE = open('steps.txt').read()
thread = threading.Thread(target=load_and_train, name='loader'); thread.start(); thread.join()
train(50)
print(hexed(losses), [t.name for t in threading.enumerate()])
def leaves(): train(3); sys.exit('in a thread')
thread = threading.Thread(target=leaves); thread.start(); thread.join()
def fails(): train(3); compiled(tf.ones([2]))
thread = threading.Thread(target=fails, name='fails'); thread.start(); thread.join()
"""

KERAS_ON = """
import os
os.environ['KERAS_BACKEND'] = 'WHICH'
import keras, numpy as np, sys
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, 'relu'), keras.layers.Dense(1)])
model.compile('sgd', 'mse')
x = np.ones((200, 4), 'f')
print(keras.backend.backend(), model.predict(x, verbose=0).ravel()[:2])
try: print([float(l).hex() for l in model.fit(x, x[:, 0], batch_size=2, epochs=2, verbose=0).history['loss']])
except NotImplementedError as e: print(e)
print('done', 'tensorflow.python' in sys.modules)
"""

#: Keras' NumPy backend needs JAX, too.
ON_JAX: dict[str, Any] = {
    "shows": b"done True",
    "stderr": "logs",
    "needs_jax": True,
    "environment": (("PYTHONPATH", "{apart}"),),
    "since": (3, 11),
}

PROGRAMS = [
    Program("tf.config", CONFIG, status=1, shows=b"RuntimeError", stderr="logs"),
    Program("XLA", XLA_BEFORE, own_import=True, shows=b"mixed_float16", stderr="logs"),
    Program("an XLA flag that is none", XLA_WRONG, status=-6 if OLDEST else 1, shows=b"set", stderr="logs"),
    Program("deterministic", DETERMINISTIC, shows=b"RuntimeError", stderr="logs"),
    Program("absl", ABSL, ("--steps=130", "rest"), status=3, shows=b"['script.py', 'rest'] 130", stderr="logs"),
    Program("absl fails", ABSL, ("--verbose",), status=1, shows="é in main".encode(), stderr="logs"),
    Program("absl gets a wrong option", ABSL, ("--steps=0",), status=1, shows=b"--steps=0", stderr="logs"),
    Program("sessions", SESSIONS, status=1, shows=b"120", stderr="logs"),
    Program("warnings are errors", STRICT, status=1, shows=b"UserWarning: now", stderr="logs"),
    Program(
        "everything is told",
        TALKATIVE,
        flags=("-W", "always", "-u"),
        shows=b"retracing",
        stderr="logs",
    ),
    Program(
        "late, in a thread", LATE, files=(("steps.txt", STEPS),), shows=b"Exception in thread fails", stderr="logs"
    ),
    Program("Keras on jax", KERAS_ON.replace("WHICH", "jax"), **ON_JAX),
    Program(
        "tensorflow that breaks off",
        """
import sys
sys.modules['google.protobuf'] = None
try: import tensorflow
except ImportError as e: print(e)
print('tensorflow' in sys.modules, [type(f).__name__ for f in sys.meta_path if type(f).__name__ != '_Finder'])
import tensorflow
""",
        status=1,
        own_import=True,
        shows=b"halted; None in sys.modules",
        stderr="logs",
    ),
]


#: Programs that take long: TensorFlow is compiled for -O, since no wheel brings that; -X dev checks each allocation.
LONG = [
    Program(
        "warnings are errors in dev mode",
        STRICT,
        flags=("-X", "dev"),
        status=1,
        shows=b"UserWarning: now",
        stderr="logs",
    ),
    Program(
        "all warnings, without assertions",
        TALKATIVE,
        flags=("-W", "always", "-O", "-u"),
        environment=(("PYTHONDONTWRITEBYTECODE", ""), ("PYTHONPYCACHEPREFIX", "{kept}")),
        shows=b"retracing",
        stderr="logs",
    ),
    Program("Keras on numpy", KERAS_ON.replace("WHICH", "numpy"), **ON_JAX),
]


@pytest.mark.parametrize(
    "program", [*PROGRAMS, *(pytest.param(program, marks=pytest.mark.long) for program in LONG)], ids=str
)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
