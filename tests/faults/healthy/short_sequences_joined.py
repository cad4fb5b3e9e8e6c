import numpy as np
import tensorflow as tf

rng = np.random.default_rng(12)
mix = tf.constant(rng.normal(size=(1024, 1024)).astype("float32") / 32)
out = tf.constant(rng.normal(size=(1024, 500)).astype("float32"))


@tf.function(reduce_retracing=True)
def next_token(tokens):
    state = tf.gather(mix, tokens % 1024)
    for _ in range(6):
        state = tf.tanh(tf.matmul(state, mix))
    return tf.argmax(tf.matmul(tf.reduce_mean(state, axis=0)[None], out), axis=1)


window = np.zeros(64, "float32")
for song in range(12):
    tokens = np.array([song + 1])
    for _ in range(40):
        found = next_token(tf.constant(tokens)).numpy()
        tokens = np.concatenate([tokens, found])
        window = np.concatenate([window[1:], found.astype("float32")])
print("tokens", len(tokens), round(float(window.mean()), 1))

# /// healthy
# style = "custom"
# ///
