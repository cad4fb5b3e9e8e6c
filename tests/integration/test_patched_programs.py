"""Programs run before and after their patch, in this process: the results are equal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixing_builder import at, finding_at, patch_of
from late_tensorflow import tf

from tfperfkit.model import Measurement
from tfperfkit.offers import VaryingArgument, VaryingArguments
from tfperfkit.remedy import BatchLoop, CallDirectly, ChangeStage, Compile, Hoist, ReplaceOps

#: Code, fixer's words, and a program that leaves what it computes in ``result``. The finding is at the marked lines.
PROGRAMS: dict[str, tuple[str, str, str]] = {
    "a map after batch, in two statements": (
        "INP007",
        "batches before the map",
        """
ds = tf.data.Dataset.range(40)
ds = ds.map(lambda x: tf.cast(x, tf.float32) / 3, num_parallel_calls=2)  # here
ds = ds.batch(7)
result = [x.numpy() for x in ds]
""",
    ),
    "a map with arrays, vectorized": (
        "INP001",
        "vectorized_map",
        """
table = np.arange(60, dtype=np.float32).reshape(20, 3)
mean = table.mean(axis=0)

def standardise(row, target):
    row = (row - mean) / 7
    row = tf.where(target > 3, row + 1, row)
    return tf.concat([row, tf.square(row)], axis=-1), target

ds = tf.data.Dataset.from_tensor_slices((table, np.arange(20))).shuffle(20, seed=3)  # here
ds = ds.map(standardise, num_parallel_calls=2).batch(6)
result = [(x.numpy(), y.numpy()) for x, y in ds]
""",
    ),
    "lines of text, vectorized": (
        "INP007",
        "vectorized_map",
        """
def parse(line):
    values = tf.io.decode_csv(line, record_defaults=[[0.0]] * 3)
    return {"x": tf.stack(values[:2])}, values[2]

ds = tf.data.Dataset.from_tensor_slices([f"{n},{n * 2},{n * 3}" for n in range(10)])
ds = ds.map(parse).batch(4)  # here
result = [(x["x"].numpy(), y.numpy()) for x, y in ds]
""",
    ),
    "a map before its shuffle, cached": (
        "INP006",
        "maps before the shuffle",
        """
ds = tf.data.Dataset.range(30).shuffle(30, seed=5)
ds = ds.map(lambda x: x * x)  # here
result = [[int(x) for x in ds] for _ in range(3)]
""",
    ),
    "a filter before the map": (
        "INP008",
        "before the map",
        """
def load(x, label):
    return x / 2, label

ds = tf.data.Dataset.from_tensor_slices((np.arange(20.0), np.arange(20) % 4))
ds = ds.map(load).filter(lambda x, label: label < 2)  # here
result = [(float(x), int(y)) for x, y in ds]
""",
    ),
    "a cache after the map": (
        "INP008",
        "after the work",
        """
ds = tf.data.Dataset.range(9)
ds = ds.cache()  # here
ds = ds.map(lambda x: x + 1)  # here
result = [[int(x) for x in ds] for _ in range(2)]
""",
    ),
    "predict of a method's model": (
        "EAG004",
        "without a dataset",
        """
tf.keras.utils.set_random_seed(3)

class Agent:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])

    def act(self, state):
        return int(np.argmax(self.model.predict(state[None], verbose=0)[0]))  # here

agent = Agent()
result = [agent.act(state) for state in np.random.default_rng(2).normal(size=(6, 4))]
""",
    ),
    "fit of one batch": (
        "EAG006",
        "trains on the batch",
        """
tf.keras.utils.set_random_seed(3)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
rng = np.random.default_rng(1)
for _ in range(5):
    x = rng.normal(size=(8, 4))
    model.fit(x, x[:, :1], epochs=1, verbose=0)  # here
result = model.get_weights()
""",
    ),
    "a compiled function made in a loop": (
        "RET008",
        "makes the compiled function once",
        """
weights = tf.Variable([1.0, 2.0])

def step(x, rate):
    loss = tf.reduce_sum(weights * x)
    weights.assign_sub(rate * x)
    return loss

result = []
for epoch in range(2):
    for x in tf.reshape(tf.range(6.0), (3, 2)):
        compiled = tf.function(step)  # here
        result.append(float(compiled(x, 0.1)))
""",
    ),
    "a compiled function defined in a function": (
        "RET008",
        "makes the compiled function once",
        """
def scale(x):
    return x * 3

def run(values):
    total = 0.0
    for x in values:
        @tf.function  # here
        def double(x):
            return scale(x) * 2
        total += float(double(tf.constant(x)))
    return total

result = [run([1.0, 2.0]), run([3.0])]
""",
    ),
    "a list of arrays to a tensor": (
        "EAG016",
        "array first",
        """
def batch(rng):
    x, y = [], []
    for n in range(4):
        x.append(rng.normal(size=(3, 2)))
        y.append(n)
    return tf.convert_to_tensor(x, dtype=tf.float32), y  # here

result = [batch(np.random.default_rng(n))[0].numpy() for n in range(2)]
""",
    ),
    "a tensor in a message": (
        "EAG011",
        "array first",
        """
def feature(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))  # here

result = [feature(x).SerializeToString() for x in (tf.range(4.0), [1.0, 2.0], np.arange(3.0))]
""",
    ),
    "what stays the same for an object": (
        "GRF023",
        "in __init__",
        """
class Kernel:
    def __init__(self, scale):
        self.scale = tf.constant(scale)

    def __call__(self, a, b=None):
        b = a if b is None else b
        return tf.exp(-tf.square(a[:, None] - b[None, :]) / self.scale)

class Regressor(tf.Module):
    def __init__(self, x, kernel):
        super().__init__()
        self.x = tf.constant(x)
        self.kernel = kernel
        self.noise = tf.Variable(0.1)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def predict(self, query):
        size = tf.shape(self.x)[0]
        gram = self.kernel(self.x) + self.noise * tf.eye(size)  # here
        chol = tf.linalg.cholesky(gram)
        solved = tf.linalg.cholesky_solve(chol, self.x[:, None])
        return tf.matmul(self.kernel(query, self.x), solved)

model = Regressor(np.arange(4, dtype=np.float32), Kernel(2.0))
result = [model.predict(tf.constant([float(n), 2.0])).numpy() for n in range(3)]
""",
    ),
    "a file that a method reads each time": (
        "INP002",
        "once for the same arguments",
        """
import tempfile
from pathlib import Path
from typing import NamedTuple

class Source(NamedTuple):
    path: str

def read(source):
    return np.load(source.path), 3

class Trainer:
    def __init__(self, source: Source):
        self.source = source

    def batch(self, n):
        rows, _ = read(self.source)  # here
        return rows[n : n + 2]

with tempfile.TemporaryDirectory() as folder:
    for name in ("a.npy", "b.npy"):
        np.save(Path(folder, name), np.arange(len(name) * 3.0))
    trainers = [Trainer(Source(str(Path(folder, name)))) for name in ("a.npy", "b.npy")]
    result = [trainer.batch(n) for n in range(3) for trainer in trainers]
""",
    ),
    "numbers that count and that compute": (
        "RET001",
        "tensor for the number",
        """
class Likelihood:
    def __init__(self):
        self.columns = {"x": tf.reshape(tf.range(12.0), (4, 3))}

    def fetch(self, name, index):
        return self.columns[name][index]

    @tf.function  # here
    def rate(self, index, scale):  # varies index 0 1  # varies scale 0.5 1.5
        return tf.reduce_sum(self.fetch("x", index) * scale)

    def total(self, scale):
        total = 0.0
        for index in range(4):
            total += float(self.rate(index, scale))  # here
        return total

model = Likelihood()
result = [model.total(scale) for scale in (0.5, 1.5)]
""",
    ),
    "a step with NumPy in what it calls": (
        "EAG001",
        "from the tape to the update",
        """
tf.keras.utils.set_random_seed(3)
NAMES = ("one", "two")

class Trainer:
    def __init__(self, rows, seed):
        self.rows = rows
        self.rng = np.random.default_rng(seed)
        self.weights = {name: tf.Variable([[1.0], [2.0]]) for name in NAMES}
        self.optimizers = {name: tf.keras.optimizers.Adam(0.1) for name in NAMES}

    def step(self):  # here
        for name in NAMES:
            with tf.GradientTape() as tape:
                loss, found = self.forward(name)
            grads = tape.gradient(loss, [self.weights[name]])
            self.optimizers[name].apply_gradients(zip(grads, [self.weights[name]]))
        return loss, found

    def pick(self, size):
        return self.rows[self.rng.integers(0, len(self.rows), size=size)]

    def forward(self, name):
        \"\"\"Both losses.\"\"\"
        size = 4
        batch = self.pick(size)
        noise = self.rng.normal(size=(size, 1)).astype(np.float32)
        guess = tf.matmul(batch, self.weights[name]) + noise
        positive = np.mean(guess.numpy() > 0.0)
        return tf.reduce_mean(tf.square(guess)), positive

trainer = Trainer(np.arange(24, dtype=np.float32).reshape(12, 2), 5)
result = [trainer.step() for _ in range(4)] + [trainer.weights]
""",
    ),
    "a method whose tape is between reads": (
        "EAG001",
        "from the tape to the update",
        """
class Agent:
    def __init__(self):
        self.weights = tf.Variable([[1.0], [2.0]])
        self.optimizer = tf.keras.optimizers.SGD(0.1)
        self.rng = np.random.default_rng(2)

    def train(self, rows):  # here
        batch = rows[self.rng.integers(0, len(rows), size=3)]
        goal = np.float32(batch.sum(axis=1, keepdims=True))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(batch, self.weights) - goal))
        grads = tape.gradient(loss, [self.weights])
        self.optimizer.apply_gradients(zip(grads, [self.weights]))
        return float(loss)

agent = Agent()
result = [agent.train(np.arange(24, dtype=np.float32).reshape(12, 2) / 24) for _ in range(4)]
""",
    ),
    "fit of one batch whose loss is read": (
        "EAG006",
        "trains on the batch",
        """
tf.keras.utils.set_random_seed(3)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
rng, losses = np.random.default_rng(1), []
for _ in range(5):
    x = rng.normal(size=(8, 4))
    history = model.fit(x, x[:, :1], epochs=1, verbose=0)  # here
    losses.append((history.history["loss"][0], history.history["mae"][-1]))
result = [losses, model.get_weights()]
""",
    ),
    "an array in a graph": (
        "OPS002",
        "a tensor of the array",
        """
rows = np.arange(12, dtype=np.float32).reshape(4, 3)
first = rows[0]

@tf.function
def pick(index):
    return tf.gather(rows, index) + tf.reduce_sum(rows)  # here

result = [pick(tf.constant([n, 1])).numpy() for n in range(3)] + [first]
""",
    ),
    "a loop over the examples of a batch": (
        "EAG005",
        "that repeats the loop's operations",
        """
weights = tf.Variable([[1.0], [2.0]])
optimizer = tf.keras.optimizers.SGD(0.1)

def train(x):
    with tf.GradientTape() as tape:
        loss = 0.0
        for n in range(x.shape[0]):  # here
            loss += tf.reduce_sum(tf.square(tf.matmul(x[n : n + 1], weights)))
    optimizer.apply_gradients(zip(tape.gradient(loss, [weights]), [weights]))
    return loss

result = [float(train(tf.ones((3, 2)) * n)) for n in range(3)] + [weights]
""",
    ),
    "a map_fn of small operations": (
        "GRF005",
        "all elements at once",
        """
matrix = tf.reshape(tf.range(6.0), (2, 3))

def score(pair):
    x, scale = pair
    return tf.reduce_sum(tf.linalg.matvec(matrix, x)) * scale

@tf.function
def scores(rows, scales):
    return tf.map_fn(score, (rows, scales), fn_output_signature=tf.float32)  # here

rng = np.random.default_rng(1)
result = [scores(tf.constant(rng.normal(size=(n, 3)), tf.float32), tf.ones([n])).numpy() for n in (2, 5)]
""",
    ),
}

#: Remedies of codes that have several.
REMEDIES: dict[str, dict[str, Any]] = {
    "GRF005": {"remedy": ReplaceOps("all_rows")},
    "OPS002": {"remedy": Hoist("array")},
    "EAG005": {"remedy": Compile("loop")},
    "EAG001": {"remedy": Compile("step")},
    "GRF023": {"remedy": ReplaceOps("fewer")},
    "EAG011": {"remedy": BatchLoop("element")},
    "EAG004": {"remedy": CallDirectly("predict")},
    "INP008": {"remedy": ChangeStage("order")},
}


def run_program(source: str) -> Any:
    names: dict[str, Any] = {"tf": tf, "np": np}
    exec(compile(source, "program", "exec"), names)
    return names["result"]


def assert_equal(one: Any, two: Any) -> None:
    flat, other = (tf.nest.flatten(value) for value in (one, two))
    assert len(flat) == len(other)
    for each, twin in zip(flat, other, strict=True):
        if isinstance(each, (str, bytes)):
            assert each == twin
            continue
        np.testing.assert_allclose(np.asarray(each), np.asarray(twin), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_equal(tmp_path: Path, name: str) -> None:
    code, words, body = PROGRAMS[name]
    source = f"import numpy as np\nimport tensorflow as tf\n{body}"
    evidence = (Measurement("batches per call of fit", 1.0, "count"),)
    places = [(line, "") for line in at(source)] * (2 if code == "INP008" else 1)
    finding = finding_at(code, *places, evidence=evidence, **REMEDIES.get(code, {}))
    patch, after = patch_of(tmp_path, source, finding, offered(source))
    assert patch.fixer is not None and words in patch.fixer.does, patch.reason
    assert after != source
    assert_equal(run_program(source), run_program(after))


def offered(source: str) -> VaryingArguments:
    """The numbers that vary in calls of the function at the first marked line: ``# varies rate 0.5 1.5``."""
    rows = []
    line = at(source)[0]
    for words in re.findall(r"# varies ([^#\n]+)", source):
        name, *values = words.split()
        rows.append(VaryingArgument(file="train.py", line=line, argument=name, values=tuple(values)))
    return VaryingArguments(arguments=tuple(rows))
