"""Experiments that change what is traced, with real TensorFlow: what they keep, and where they leave things alone."""

from __future__ import annotations

from pathlib import Path

from experiment_pieces import BEGIN
from warm import run_warm

ARRAYS = """
install = changing("captured-arrays")
large, small = rng.random((600, 500)).astype("float32"), rng.random((5, 500)).astype("float32")

def look():
    @tf.function
    def up(rows): return tf.gather(large, rows) + tf.gather(small, rows)
    constants = [op for op in up.get_concrete_function(tf.constant([1])).graph.get_operations() if op.type == "Const"]
    biggest = max((len(op.get_attr("value").tensor_content) for op in constants), default=0)
    return up(tf.constant([1, 4])).numpy(), np.int64(biggest >= 1 << 20)

plain, changed, count = both(install, look, True)
assert count == 2 and plain[1] == 1 and changed[1] == 0, (count, plain[1], changed[1])
same(plain[0], changed[0])
"""

DEVICES = """
install = changing("present-devices")

def placed():
    @tf.function
    def step(x):
        with tf.device("/GPU:7"):
            x = tf.nn.relu(x)
        with tf.device("/CPU:0"):
            return x * 2.0
    graph = step.get_concrete_function(tf.constant([1.0])).graph
    asked = sorted({op.device for op in graph.get_operations() if op.type in ("Relu", "Mul")})
    return step(tf.constant([-1.0, 2.0])).numpy(), np.int64(sum("GPU:7" in device for device in asked))

plain, changed, count = both(install, placed, True)
assert count >= 1 and plain[1] == 1 and changed[1] == 0, (count, plain, changed)
same(plain[0], changed[0])
"""

REPLICAS = """
dense, rows = changing("dense-gradients"), changing("row-gradients")
words, wanted = rng.integers(0, 50, (8, 4)), rng.random((8, 3)).astype("float32")

def trained(convert, strategy):
    keras.utils.set_random_seed(3)
    with strategy.scope():
        model = keras.Sequential([keras.Input((4,), dtype="int32"), keras.layers.Embedding(50, 3),
                                  keras.layers.GlobalAveragePooling1D()])
        optimizer = keras.optimizers.SGD(0.5)
        optimizer.build(model.trainable_variables)
    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(model(x) - y))
        grads = tape.gradient(loss, model.trainable_variables)
        if convert:
            grads = [tf.convert_to_tensor(grad) for grad in grads]
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss
    step = tf.function(lambda x, y: strategy.run(replica, (x, y)))
    for _ in range(2):
        step(words, wanted)
    return model.get_weights()[0]

two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
for install, convert, strategy, expected in (
    (dense, False, two, True), (dense, False, tf.distribute.get_strategy(), False), (rows, True, two, True),
):
    plain, changed, count = both(install, lambda: trained(convert, strategy))
    assert (count > 0) == expected, (install, convert, count)
    near(plain, changed)
"""

PASSES = """
decorate = decorating("one-pass:losses")
images = tf.constant(rng.random((16, 6)), tf.float32)

def gan(wrap, compiled):
    keras.utils.set_random_seed(5)
    gen = keras.Sequential([keras.Input((6,)), keras.layers.Dense(6, activation="tanh")])
    disc = keras.Sequential([keras.Input((6,)), keras.layers.Dense(5, activation="relu"), keras.layers.Dense(1)])
    g_opt, d_opt = keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.1)
    for optimizer, model in ((g_opt, gen), (d_opt, disc)):
        optimizer.build(model.trainable_variables)
    make, judge = (tf.function(gen), tf.function(disc)) if compiled else (gen, disc)
    runs = []
    def losses(x):
        runs.append(1)
        fake, real = judge(make(x)), judge(x)
        return tf.reduce_mean(tf.nn.softplus(-fake)), tf.reduce_mean(tf.nn.softplus(fake) + tf.nn.softplus(-real))
    losses = wrap(losses)
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            g_loss, _ = losses(x)
        g_grads = tape.gradient(g_loss, gen.trainable_variables)
        with tf.GradientTape() as tape:
            _, d_loss = losses(x)
            d_loss = 2.0 * d_loss
        d_grads = tape.gradient(d_loss, disc.trainable_variables)
        g_opt.apply_gradients(zip(g_grads, gen.trainable_variables))
        d_opt.apply_gradients(zip(d_grads, disc.trainable_variables))
        return g_loss, d_loss
    seen = [step(images) for _ in range(4)]
    return [[value.numpy() for value in pair] for pair in seen], gen.get_weights() + disc.get_weights(), len(runs)

for compiled in (False, True):
    plain = gan(lambda losses: losses, compiled)
    trial = Trial()
    with changing("one-pass:losses")(trial):
        changed = gan(lambda losses: decorate(trial, losses), compiled)
    assert plain[2] == 2 and changed[2] == 1 and trial.count == 1, (plain[2], changed[2], trial.count)
    near(plain[:2], changed[:2])  # nothing is drawn at random, and both gradients are of the same weights
plain, changed, count = both(changing("one-pass"), lambda: gan(lambda losses: losses, False)[:2])
assert count > 0, count
near(plain, changed)
"""

MODELS = """
install = changing("one-model")
rows = rng.normal(size=(32, 5)).astype("float32")

def folds(rates=(0.1, 0.1, 0.1)):
    keras.utils.set_random_seed(7)
    found = []
    kept = []
    for number, rate in enumerate(rates):
        model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
        model.compile(keras.optimizers.Adam(rate), "mse", metrics=["mae"])
        history = model.fit(rows[number:], rows[number:, :1], batch_size=8, epochs=2, shuffle=False, verbose=0)
        found.append([*history.history["loss"], *history.history["mae"], int(model.optimizer.iterations)])
        kept.append(model)
    return found, [model.get_weights() for model in kept], kept[-1].predict(rows, verbose=0)

plain, changed, count = both(install, folds)
assert count == 2, count
near(plain, changed)
assert both(install, lambda: folds((0.1, 0.2, 0.3)))[2] == 0  # set up in another way
"""

SORTS = """
from tfperfkit_experiments.top_k import first_few
install = changing("top-k")
losses = tf.constant(rng.integers(0, 9, (3, 40)), tf.float32)  # many are equal

def sorted_ones():
    @tf.function
    def few(x):
        down, up = tf.sort(x, -1, "DESCENDING"), tf.sort(x)
        places, back = tf.argsort(x, -1, "DESCENDING"), tf.argsort(x)
        return down[:, :7], up[..., :7], places[:, :7], back[:, 0:7], up[:, :99], down[:, 3], up[:, 5:7], up[:2, :7]
    return [part.numpy() for part in few(losses)]

plain, changed, count = both(install, sorted_ones, True)
assert count == 5, count
same(plain, changed)
assert first_few((slice(None), slice(None, 4)), 2) == 4 and first_few(slice(None, 4), 1) == 4
assert first_few(slice(None, 4), 2) is None and first_few((Ellipsis, slice(None, -4)), 2) is None
assert first_few((0, slice(None, 4)), 2) is None and first_few((slice(None), slice(None, 4, 2)), 2) is None
"""

PRODUCTS = """
install = changing("matmul-order")
tall, wide, vector = (tf.constant(rng.random(shape), tf.float32) for shape in ((60, 4), (4, 60), (60,)))

def products():
    @tf.function
    def all_of(a, b, v):
        with tf.GradientTape() as tape:
            tape.watch(a)
            kernel = tf.matmul(a, a, transpose_b=True)
            found = [tf.linalg.matvec(kernel, v), tf.linalg.matvec(kernel, v, transpose_a=True), (a @ b) @ a]
            found += [tf.matmul(b, a @ b), tf.matmul(a @ b, a, transpose_a=True), (b @ a) @ b]
            total = sum(tf.reduce_sum(item) for item in found)
        return *found, tape.gradient(total, a)
    return [part.numpy() for part in all_of(tall, wide, vector)]

plain, changed, count = both(install, products, True)
assert count == 5, count  # the last one is in the cheaper order
near(plain, changed)
"""

FROZEN = """
install = changing("without-frozen")
pictures = rng.random((32, 6)).astype("float32")

def head(frozen):
    keras.utils.set_random_seed(2)
    base = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8), keras.layers.BatchNormalization()])
    base.trainable = not frozen
    model = keras.Sequential([keras.Input((6,)), base, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return np.array(model.fit(pictures, pictures[:, :1], epochs=2, verbose=0).history["loss"])

plain, changed, count = both(install, lambda: head(True))
assert count > 0 and (plain != changed).all()
plain, changed, count = both(install, lambda: head(False))
assert count == 0
same(plain, changed)
"""

ROWS = """
install = changing("rows-in-place")
places, rows = tf.constant([[4], [1]]), tf.constant(rng.random((2, 3)), tf.float32)

def written():
    bank, other = (tf.Variable(tf.ones((6, 3)) * scale, trainable=False) for scale in (1.0, 2.0))
    @tf.function
    def step():
        before = tf.gather(bank, [4])
        bank.assign(tf.tensor_scatter_nd_update(bank, places, rows))
        bank.assign(tf.tensor_scatter_nd_add(bank, places, rows))
        bank.assign(tf.tensor_scatter_nd_max(bank.read_value(), places, 0.5 * rows), read_value=False)
        value = tf.tensor_scatter_nd_update(other, places, rows)
        other.assign_add(tf.ones((6, 3)))  # it has changed since it was read
        other.assign(value)
        bank.assign(bank * 0.5)
        return before, tf.gather(bank, [4])

    @tf.function
    def small():
        bank.assign(tf.tensor_scatter_nd_update(bank, places, rows))

    @tf.function
    def asked():
        value = tf.tensor_scatter_nd_add(bank, places, rows)
        bank.assign(value)
        return value
    operations = small.get_concrete_function().graph.get_operations()
    reads.append(sum(item.type == "ReadVariableOp" and bool(item.outputs[0].consumers()) for item in operations))
    small()
    seen = [part.numpy() for _ in range(3) for part in (*step(), asked())]
    return [*seen, bank.numpy(), other.numpy()]

reads = []
plain, changed, count = both(install, written, True)
assert count == 5, count
assert reads[:2] == [1, 0], reads  # one that is read would be copied whole
same(plain, changed)
"""

LISTS = """
install = changing("array-first")
arrays = [rng.random(5).astype("float32") for _ in range(4)]

def made():
    found = [tf.constant(arrays), tf.convert_to_tensor(arrays), tf.stack(arrays), tf.constant(arrays, tf.float64)]
    found += [tf.stack(arrays, axis=1), tf.constant([[1, 2], [3, 4]]), tf.stack([tf.constant(1.0), tf.constant(2.0)])]
    found += [tf.stack([1, 2]), tf.constant([np.float32(1), np.float32(2)]), tf.constant([arrays, arrays])]
    @tf.function
    def inside(): return tf.stack(arrays)
    return [(item.numpy(), np.array(item.dtype.name)) for item in (*found, inside())]

plain, changed, count = both(install, made, True)
assert count == 4, count
same(plain, changed)
"""


def test_what_they_keep(tmp_path: Path) -> None:
    """In one process: TensorFlow takes long to come."""
    pieces = (DEVICES, ARRAYS, PASSES, MODELS, SORTS, PRODUCTS, FROZEN, ROWS, LISTS, REPLICAS)
    devices = "tf.config.set_logical_device_configuration(tf.config.list_physical_devices('CPU')[0], "
    devices += "[tf.config.LogicalDeviceConfiguration()] * 2)\ntf.constant(1)\n"
    done = run_warm(BEGIN + devices + "".join(pieces), tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
