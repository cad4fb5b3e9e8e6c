"""Objects that a script keeps and looks at after training: exports, pickles, methods, messages, what is freed."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same
from training import COMMON, STEPS

#: Byte for byte: graphs and their names, the order of nodes, weights. Left out is what holds times or random numbers.
EXPORTS = (
    COMMON
    + """
import contextlib, io, pathlib, re, zipfile
tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()
x = np.random.rand(640, 4).astype("float32")
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6, "relu"),
                             tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1)], name="net")
model.compile("adam", "mse")
class Save(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch in (1, 30, 75, 150): save(f"at{batch}")
def save(name):
    tf.saved_model.save(model, name)
    if name in ("at30", "at150"):  # it takes as long as all the rest, and prints ids
        with contextlib.redirect_stdout(io.StringIO()): model.export(name + "e")
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(name + "c/x")
    model.save(name + ".keras"); model.save_weights(name + ".weights.h5")
    with zipfile.ZipFile(name + ".keras") as kept:  # HDF5 keeps the time
        config = re.sub(r'"shared_object_id": \\d+', "", kept.read("config.json").decode())
        pathlib.Path(name + ".config").write_text(config)
    for item in pathlib.Path(".").rglob("fingerprint.pb"): item.unlink()
    for item in (name + ".keras", name + ".weights.h5"): os.remove(item)
print(hexed(model.fit(x, x.sum(1), epochs=1, batch_size=4, verbose=0, callbacks=[Save()]).history["loss"]))
save("last")
@tf.function(input_signature=[tf.TensorSpec([None, 4])])
def serve(v): return model(v, training=False) * 2
module = tf.Module(); module.serve, module.model = serve, model
tf.saved_model.save(module, "served", signatures=serve)
os.remove("served/fingerprint.pb")
graph = serve.get_concrete_function().graph
pathlib.Path("graph.pbtxt").write_text(str(graph.as_graph_def()))
pathlib.Path("trace.txt").write_text("\\n".join(str(op.traceback[-1]) for op in graph.get_operations() if op.traceback))
print(serve.get_concrete_function().name)
loaded = tf.saved_model.load("served"); print(loaded.serve(x[:2]).numpy().ravel())
print(sorted(str(p) for p in pathlib.Path(".").rglob("*") if p.is_file()))
"""
)

METHODS = (
    STEPS
    + """
import abc, copy, functools, gc, inspect, pickle, pydoc, types, weakref
class Mine(tf.keras.optimizers.SGD):
    def apply(self, grads, trainable_variables=None):
        stack.append([f.function for f in inspect.stack()[:6] if 'site-packages' not in f.filename])
        return super().apply(grads, trainable_variables)
stack, mine, w = [], Mine(.1), tf.Variable([1., 2.])
data = iter(tf.data.Dataset.range(400))
def look():
    Base = tf.keras.optimizers.Optimizer
    for owner, name in ((optimizer, 'apply'), (mine, 'apply'), (optimizer, 'apply_gradients'), (data, '__next__'),
                        (compiled, '__call__'), (Base, 'apply'), (type(data), '__next__'), (mine.__class__, 'apply')):
        m = getattr(owner, name)
        print(name, m.__name__, m.__qualname__, m.__module__, inspect.signature(m), (m.__doc__ or '')[:20], callable(m))
        print(inspect.isfunction(m), inspect.ismethod(m), isinstance(m, types.MethodType), type(m).__name__)
        print(m == getattr(owner, name), hash(m) == hash(getattr(owner, name)), getattr(m, '__self__', None) is owner)
        print(inspect.unwrap(m).__code__.co_name, getattr(m, '__func__', None) is not None, hasattr(m, '__wrapped__'))
        if isinstance(owner, type): print(inspect.getsourcefile(m)[-12:], inspect.getsourcelines(m)[1] > 0)
def each(n):
    next(data)
    mine.apply([tf.constant([.1, .2])], [w])
    if n in (30, 90): look()
train(110, each)
apply = optimizer.apply  # kept, wrapped, patched, as people do
kept = [functools.partial(optimizer.apply), functools.wraps(apply)(lambda *a: apply(*a))]
optimizer.apply = lambda grads, variables=None: (counted.append(1), apply(grads, variables))[1]
counted = []
train(20)
del optimizer.apply
train(20)
apply([tf.constant([.1] * 6)], [v]); kept[1]([tf.constant([.1] * 6)], [v])
print(len(counted), kept[1].__name__, stack[50], len(stack), w.numpy())
print(copy.deepcopy(np.asarray(v)), len(pydoc.render_doc(Mine.apply)), sorted(vars(optimizer))[:9])
print(mine.get_config() == Mine.from_config(mine.get_config()).get_config())
print(optimizer.iterations.numpy(), hexed(losses))
print(sorted(set(dir(optimizer)) ^ set(dir(tf.keras.optimizers.Adam(.1)))))
"""
)

FREED = (
    STEPS
    + """
import gc, pickle, weakref
gc.disable()
def made():
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])
    model.compile('adam', 'mse')
    dataset = tf.data.Dataset.from_tensor_slices((np.ones((60, 3), 'f'), np.ones(60, 'f'))).batch(2)
    model.fit(dataset, epochs=2, verbose=0)
    iterator = iter(dataset); next(iterator)
    function = tf.function(lambda x: x * 2); function(1.)
    names = 'model', 'dataset', 'iterator', 'function', 'optimizer', 'variable'
    values = model, dataset, iterator, function, model.optimizer, model.trainable_variables[0]
    return [weakref.ref(value, lambda _, name=name: freed.append(name)) for name, value in zip(names, values)]
freed = []
for at in (10, 40, 70):
    train(at); refs = made(); print(sorted(freed), [ref() is None for ref in refs]); gc.collect()
    print(sorted(freed), [ref() is None for ref in refs]); freed.clear()
def count(): gc.collect(); return sum(1 for o in gc.get_objects() if type(o).__name__ == 'ResourceVariable')
before = count()
kept = [tf.Variable(1.) for _ in range(5)]; print(count() - before); kept.clear(); print(count() - before)
class Config:
    def __init__(self): self.values = [float(losses[-1])]
data = pickle.dumps([Config(), train, np.asarray(v), type(optimizer)])
print(type(pickle.loads(data)[0]), pickle.loads(data)[1] is train, len(data))
print(sys.getrefcount(optimizer), sys.getrefcount(train), len(gc.garbage))
gc.enable(); train(30)
print(hexed(losses), hexed(pickle.loads(data)[0].values))
"""
)

ERRORS = (
    COMMON
    + """
import re, traceback
def shown(call):
    try: call()
    except Exception as e:
        print(type(e).__name__, re.sub(r'_\\d+\\]', ']', str(e)), sep='\\n')  # functions are numbered, by all threads
        print([(f.name, f.filename[-30:]) for f in traceback.extract_tb(e.__traceback__) if '__auto' not in f.filename])
v = tf.Variable([1., 2.])
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)]); model.compile('sgd', 'mse')
def bad(x): raise LookupError('in the pipeline é')
def pipeline():
    for x in tf.data.Dataset.range(9).map(lambda x: tf.py_function(bad, [x], tf.int64)): pass
@tf.function
def nan(x):
    y = tf.math.log(x - 5.)
    return tf.debugging.check_numerics(y, 'bad numbers')
@tf.function
def asserts(x):
    if tf.reduce_sum(x) > 0: tf.debugging.assert_less(x, 1., 'too large')
    return tf.gather(x, [1])
def graph(): nan(v)
def apply(): model.optimizer.apply([tf.ones([3])], [v])
def fit_wrong(): model.fit(np.ones((80, 3)), np.ones(80), verbose=0)
def data_fails():
    def rows():
        for n in range(70): yield np.ones(2, 'f'), np.float32(1)
        raise OSError(5, 'disk é')
    types = tf.TensorSpec([2]), tf.TensorSpec([])
    model.fit(tf.data.Dataset.from_generator(rows, output_signature=types).batch(1), verbose=0)
class Fails(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch == 35: raise ArithmeticError('in a callback')
def callback(): model.fit(np.ones((80, 2)), np.ones(80), batch_size=1, verbose=0, callbacks=[Fails()])
def exhausted():
    data = iter(tf.data.Dataset.range(1)); next(data); next(data)
def deep(n=0): return deep(n + 1) + float(v.assign_add(v)[0] * 0)
for call in (pipeline, graph, lambda: asserts(v), apply, fit_wrong, data_fails, callback, exhausted): shown(call)
for n in range(150):
    with tf.GradientTape() as tape: loss = tf.reduce_sum(v * v)
    model.optimizer.learning_rate = .01
    v.assign_sub(.01 * tape.gradient(loss, v))
for call in (graph, lambda: asserts(v), apply, callback): shown(call)
try: deep()
except RecursionError as e: print(str(e)[:32])
tf.debugging.enable_traceback_filtering() ; tf.debugging.disable_traceback_filtering()
tf.debugging.enable_check_numerics()
shown(graph)
apply()
"""
)

PROGRAMS = [
    Program(  # what Keras' export writes differs from one run to the next under plain Python too
        "exports",
        EXPORTS,
        shows=b"served/saved_model.pb",
        stderr="logs",
        ignored=("*e/saved_model.pb", "*e/variables/*"),
    ),
    Program("methods looked at", METHODS, shows=b"True", stderr="logs"),
    Program("what is freed", FREED, shows=b"'dataset'", stderr="logs"),
    Program("errors out of TensorFlow", ERRORS, status=1, shows=b"maximum recursion depth", stderr="logs"),
    Program(
        "a module with relative imports",
        command=("-m", "jobs.train"),
        files=(
            ("jobs/__init__.py", ""),
            ("jobs/steps.py", STEPS),
            (
                "jobs/train.py",
                "from .steps import *\n"
                "train(150)\nprint(__name__, __package__, hexed(losses), __spec__.name)\nraise SystemExit(__file__)",
            ),
        ),
        status=1,
        shows=b"__main__ jobs",
        stderr="logs",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
