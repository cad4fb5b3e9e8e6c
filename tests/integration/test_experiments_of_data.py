"""Experiments on what is joined, cut into batches or gone through, with real TensorFlow: results with and without."""

from __future__ import annotations

from pathlib import Path

import experiment_pieces
from warm import run_warm

BEGIN = (
    experiment_pieces.BEGIN
    + """
def both(install, compute, again=True, of=both): return of(install, compute, again, refuses=True)
"""
)

ADAPTED = """
install = changing("adapt-batches")
rows, words = rng.gamma(2.0, 3.0, (250, 3)).astype("float32"), rng.choice(list("abcdefg"), 250, p=np.arange(1, 8) / 28)
slices = tf.data.Dataset.from_tensor_slices
small, texts = slices((rows, rows[:, 0])).batch(2), slices(words).batch(3)
numbers = slices(rng.integers(0, 9, 250)).shuffle(250).batch(1)

def adapted(large=False):
    scale, found = keras.layers.Normalization(), [keras.layers.StringLookup(), keras.layers.TextVectorization(9)]
    scale.adapt(small.map(lambda row, label: row))
    for layer in found:
        layer.adapt(texts)
    whole = keras.layers.IntegerLookup()
    whole.adapt(numbers)
    vocabularies = [[str(item) for item in layer.get_vocabulary()] for layer in (*found, whole)]
    return [np.array(scale.mean), np.array(scale.variance)], [np.array(item) for item in vocabularies]

plain, changed, count = both(install, adapted)
assert count == 4, count
near(plain[0], changed[0])
same(plain[1], changed[1])

def left_alone():
    scale, lookup = keras.layers.Normalization(), keras.layers.StringLookup()
    bins = keras.layers.Discretization(num_bins=4)
    scale.adapt(slices(rows).batch(2000))
    scale.adapt(rows)
    lookup.adapt(texts, steps=5)
    bins.adapt(slices(rows[:, :1]).batch(50))
    return [np.array(scale.mean), np.array(lookup.get_vocabulary()), np.array(bins.bin_boundaries)]

plain, changed, count = both(install, left_alone, False)
assert count == 0, count
same(plain, changed)
"""

VALIDATED = """
from tfperfkit_experiments.stages import batches_of_a_pass
install = changing("validation-once")
x = rng.normal(size=(64, 4)).astype("float32")
held = tf.data.Dataset.from_tensor_slices((x[:20], x[:20, :1]))
assert batches_of_a_pass(held.batch(8).repeat().prefetch(1)) == 3
assert batches_of_a_pass(held.repeat().map(lambda a, b: (a, b)).batch(8)) == 3
assert batches_of_a_pass(held.batch(8)) is None
assert batches_of_a_pass(held.filter(lambda a, b: True).repeat().batch(8)) is None

def trained(data, steps):
    keras.utils.set_random_seed(4)
    made = [keras.layers.Dense(5, "relu"), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((4,)), *made])
    model.compile("sgd", "mse")
    history = model.fit(x, x[:, :1], batch_size=16, epochs=3, validation_data=data, validation_steps=steps, verbose=0)
    return model.get_weights() + [np.array(history.history["loss"])], history.history["val_loss"]

for data, steps, expected, exactly in (
    (held.batch(8).repeat(), 20, 1, False), (held.batch(10).repeat(), 20, 1, True),  # whole passes: the same mean
    (held.batch(10).repeat(3), None, 1, True), (held.batch(8).repeat(), 3, 0, True),
    (held.batch(8), None, 0, True), ((x[:20], x[:20, :1]), None, 0, True),
):
    plain, changed, count = both(install, lambda: trained(data, steps), steps == 20 and not exactly)
    assert count == expected, (steps, count)
    same(plain[0], changed[0])
    near(plain[1], changed[1]) if exactly else np.testing.assert_allclose(plain[1], changed[1], rtol=0.3)
"""

GROWN = """
install = changing("grow-in-place")
new = rng.normal(size=(30, 2, 3)).astype("float32")

def grown():
    rows, flat, ring, whole = np.zeros((0, 3), "float32"), np.array([]), np.zeros((4, 3), "float32"), new[0]
    wide, kept = np.zeros((2, 0)), []
    for turn, part in enumerate(new):
        rows = np.vstack([rows, tf.constant(part)])
        flat = np.append(flat, [turn, 0.5])
        ring = np.append(ring, part[:1], axis=0)[-4:]
        whole = np.concatenate([whole, part, part])
        wide = np.hstack([wide, part])  # along another axis
        whole = whole.astype("float64") if turn == 20 else whole
        ring[0] = turn
        kept.append(rows.copy())
    once = np.concatenate([rows, rows])
    once[0] = 7.0
    return [rows, flat, ring, whole, wide, once, *kept, *(np.array(item.dtype.name) for item in (rows, flat, whole))]

plain, changed, count = both(install, grown)
assert 100 <= count <= 4 * 29, count
same(plain, changed)
"""

LENGTHS = """
install = changing("like-lengths")
lengths = np.minimum(rng.geometric(1 / 20, 300), 90)
texts = [rng.integers(1, 50, length) for length in lengths]

def batches():
    data = tf.data.Dataset.from_generator(
        lambda: ((text, len(text)) for text in texts),
        output_signature=(tf.TensorSpec((None,), tf.int64), tf.TensorSpec((), tf.int32)))
    made = list(data.padded_batch(16))
    found = sorted(tuple(row[:length]) for rows, sizes in made for row, length in zip(rows.numpy(), sizes.numpy()))
    places = np.int64(sum(rows.shape[1] * len(rows) for rows, _ in made))
    return np.array([len(row) for row in found]), np.concatenate(found), places

plain, changed, count = both(install, batches)
assert count == 1, count
same(plain[:2], changed[:2])  # the same sequences, with less padding
assert changed[2] < 0.75 * plain[2], (plain[2], changed[2])

fixed = tf.data.Dataset.range(20).map(lambda number: tf.fill([5], number))
assert both(install, lambda: [rows.numpy() for rows in fixed.padded_batch(4)], False)[2] == 0

labels = np.array([text.sum() % 2 for text in texts])
for side in ("pre", "post"):
    for width in (None, 90):
        seen = []
        class Sum(keras.layers.Layer):
            def call(self, tokens):
                tf.py_function(lambda rows: seen.append(rows.numpy()), [tokens], [])
                return tf.cast(tf.reduce_sum(tokens, 1, keepdims=True), tf.float32)
        def fitted():
            seen.clear()
            keras.utils.set_random_seed(1)
            model = keras.Sequential([keras.Input((width,), dtype="int32"), Sum(), keras.layers.Dense(1)])
            model.compile(keras.optimizers.SGD(0.0), "mse", run_eagerly=True)
            model.fit(keras.utils.pad_sequences(texts, maxlen=90, padding=side), labels, 16, 1, verbose=0)
            rows = sorted(tuple(row[row != 0]) for batch in seen for row in batch)
            return np.concatenate(rows), np.int64(sum(batch.size for batch in seen))
        plain, changed, count = both(install, fitted, side == "pre" and width is None)
        assert count == (width is None), (side, width, count)
        same(plain[0], changed[0])
        assert (changed[1] < 0.6 * plain[1]) == (width is None), (plain[1], changed[1])
"""

BATCHED = """
install = changing("batch-then-map")
slices = tf.data.Dataset.from_tensor_slices
table, numbers = rng.normal(size=(50, 6)).astype("float32"), np.arange(50)
lines = [f"{number},{2 * number},{number}" for number in numbers]
record = lambda number: tf.train.Example(features=tf.train.Features(feature={
    "a": tf.train.Feature(float_list=tf.train.FloatList(value=[number])),
    "b": tf.train.Feature(float_list=tf.train.FloatList(value=[number, 1, 2]))})).SerializeToString()
described = {"a": tf.io.FixedLenFeature([], tf.float32), "b": tf.io.FixedLenFeature([3], tf.float32)}
rows = slices((table, numbers))

def squares(row, number):
    return tf.concat([row / 2.5, tf.math.square(row[:4])], axis=-1), number

def own_scale(row, number):
    if tf.reduce_sum(row) > 0:
        row = -row
    return (row - tf.reduce_mean(row)) / tf.math.reduce_std(row), number

def parse(text):
    found = tf.io.parse_single_example(text, described)
    return tf.stack([found["a"], tf.reduce_sum(found["b"])], axis=-1)

def columns(line):
    first, second, label = tf.io.decode_csv(line, [0.0, 0.0, 0])
    return {"x": tf.stack([first, second]), "label": label}

for make in (
    lambda: rows.map(squares).shuffle(10, seed=1).batch(8),
    lambda: rows.map(own_scale).map(lambda row, number: row[2:]).batch(8, drop_remainder=True),
    lambda: slices([record(number) for number in range(20)]).map(parse, num_parallel_calls=2).batch(8),
    lambda: slices(lines).map(columns).batch(8),
    lambda: slices(table[:, 0]).batch(5, drop_remainder=True).map(lambda window: (window[:-1], window[-1:])).batch(3),
):
    plain, changed, count = both(install, lambda: [tf.nest.map_structure(np.array, item) for item in make()])
    assert count == 1, count
    near(plain, changed)

def drawn():  # no operation for batches: the examples stay
    found = slices([b"aaa", b"bb"]).map(lambda text: tf.strings.unicode_decode(text, "UTF-8")[:2]).batch(2)
    return [item.numpy() for item in found]
plain, changed, count = both(install, drawn)
assert count == 0, count
same(plain, changed)
"""

PREDICTED = """
install = changing("predict-batch=40")
keras.utils.set_random_seed(1)
net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(1)])
net.compile(loss="mse", metrics=["mae"])
sizes = []
class Sizes(keras.callbacks.Callback):
    def on_predict_batch_end(self, batch, logs=None): sizes.append(len(logs["outputs"]))
    def on_test_batch_end(self, batch, logs=None): sizes.append(0)

def asked():
    sizes.clear()
    told = dict(verbose=0, callbacks=[Sizes()])
    found = [net.predict(table, batch_size=1, **told), net.predict(tf.constant(table), **told)]
    found += [net.predict(slices(table).batch(7), **told), net.evaluate(table, table[:, :1], batch_size=2, **told)]
    found += [net.evaluate(slices((table, table[:, :1])).batch(3), **told), net.predict(table, 100, **told)]
    found += [net.predict(slices(table).repeat().batch(7), steps=2, **told), net.predict(table[:9], **told)]
    return [np.array(item) for item in found], list(sizes)

plain, changed, count = both(install, asked)
assert count == 5, count
near(plain[0], changed[0])
assert changed[1] == [40, 10, 40, 10, 40, 10, 0, 0, 0, 0, 50, 7, 7, 9], changed[1]
"""

NUMBERS = """
install = changing("float32")
doubles = rng.normal(size=(6, 4))

@tf.function
def inside(given):
    return given, tf.constant(doubles), tf.matmul(given, doubles.T), given * np.float64(2.0)

def types():
    pair = next(iter(tf.data.Dataset.from_tensor_slices((doubles, {"y": doubles})).batch(2)))
    held = tf.Variable(doubles)
    found = [held, tf.constant(doubles), held * doubles, pair[0], pair[1]["y"], tf.constant([doubles[0], doubles[1]])]
    found += [tf.constant(np.float64(3.0)), *inside(doubles), *inside(given=doubles), tf.constant(20.0, held.dtype)]
    named = [tf.constant(doubles, tf.float64), tf.constant(np.arange(3))]
    return np.array([item.dtype.name for item in found]), np.array([item.dtype.name for item in named])

plain, changed, count = both(install, types)
assert count >= 8 and set(plain[0]) == {"float64"} and set(changed[0]) == {"float32"}, (count, changed)
assert list(changed[1]) == ["float64", "int64"], changed[1]  # what the script names, and whole numbers
"""


def test_what_they_keep(tmp_path: Path) -> None:
    """In one process: TensorFlow takes long to come."""
    done = run_warm(BEGIN + ADAPTED + VALIDATED + GROWN + LENGTHS, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]


def test_what_batches_and_types_keep(tmp_path: Path) -> None:
    done = run_warm(BEGIN + BATCHED + PREDICTED + NUMBERS, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
