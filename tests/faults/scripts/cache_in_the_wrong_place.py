import pathlib
import tempfile

import numpy as np
import tensorflow as tf

where = pathlib.Path(tempfile.mkdtemp())
for number in range(200):
    text = " ".join(map(str, np.random.default_rng(number).normal(size=3000).round(4)))
    (where / f"{number:03d}.txt").write_text(text)


def features(path):
    numbers = tf.strings.to_number(tf.strings.split(tf.io.read_file(path)))
    spectrum = tf.abs(tf.signal.rfft(numbers[:2048]))
    spectrum = tf.ensure_shape(spectrum, [1025])
    return spectrum, tf.reduce_mean(numbers)


files = tf.data.Dataset.list_files(str(where / "*.txt"), shuffle=False)
train = files.cache()  # FAULT
train = train.map(features, num_parallel_calls=tf.data.AUTOTUNE)  # FAULT
train = train.shuffle(200).batch(10).prefetch(tf.data.AUTOTUNE)


class Regressor(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(32, activation="tanh")
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(x))


model = Regressor()
model.compile(optimizer="sgd", loss="mae")
fitted = model.fit(train, epochs=50, verbose=0)
print("mae", fitted.history["loss"][-1])

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "cache() stands before the expensive map, so it keeps the file names and not the features"
# codes = ["INP008", "INP006"]
# families = ["input"]
# source = "Stack Overflow questions on the right order of cache, map, shuffle and batch in tf.data; rule of DeepPerf (cache before shuffle, after the costly map)"
# ///
