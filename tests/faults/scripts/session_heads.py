"""Asks a network of TensorFlow 1 for three outputs on each batch; trains nothing."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

images = tf.placeholder(tf.float32, [None, 48, 48, 3])
hidden = images
for number, width in enumerate((32, 48, 64)):
    kernel = tf.get_variable(f"kernel{number}", [3, 3, hidden.shape[-1], width])
    hidden = tf.nn.relu(tf.nn.conv2d(hidden, kernel, 1, "SAME"))
features = tf.reduce_mean(hidden, axis=[1, 2])
outputs = {
    name: tf.matmul(features, tf.get_variable(name, [64, units]))
    for name, units in (("colour", 8), ("shape", 4), ("price", 1))
}

rng = np.random.default_rng(0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    results = {name: [] for name in outputs}
    for _ in range(60):
        feed = {images: rng.random((16, 48, 48, 3))}
        for name, output in outputs.items():
            results[name].append(session.run(output, feed))  # FAULT
print({name: np.concatenate(parts).shape for name, parts in results.items()})

# /// fault
# style = "custom"
# kind = "time"
# cause = "session.run is called for one output after the other of one network, on the same batch"
# codes = ["GRF001"]
# families = ["graph"]
# source = "TensorFlow's own BaseSession.run: each call runs the fragment of the graph that its fetches need, and takes a list of them"
# ///
