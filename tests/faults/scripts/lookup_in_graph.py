import numpy as np
import tensorflow as tf

generator = np.random.default_rng(11)
frames = generator.random((12_000, 1024), dtype=np.float32)
target = frames[:, :1] * 2 - frames[:, 1:2]

mlp = tf.keras.Sequential(
    [
        tf.keras.layers.Input((1024,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam()


def loss_at(rows):
    x = tf.gather(frames, rows)  # FAULT
    y = tf.gather(target, rows)
    return tf.reduce_mean(tf.square(mlp(x) - y))


@tf.function
def train_step(rows):
    with tf.GradientTape() as tape:
        loss = loss_at(rows)
    grads = tape.gradient(loss, mlp.trainable_variables)
    optimizer.apply_gradients(zip(grads, mlp.trainable_variables))
    return loss


@tf.function
def validate(rows):
    return loss_at(rows)


for step in range(1500):
    rows = tf.random.uniform((128,), 0, 10_000, dtype=tf.int32)
    loss = train_step(rows)
    if step % 300 == 0:
        val = validate(tf.range(10_000, 12_000))
        print(step, float(loss), float(val))
print("final", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The whole NumPy data set is used inside the compiled steps and becomes a constant of each graph"
# codes = ["INP010", "OPS002"]
# families = ["input", "graph"]
# source = "GitHub, tensorflow/tensorflow #38693 (arrays embedded in the graph as constants are copied several times) and GPflow/GPflow #1439"
# note = "paid when tracing, not in the steady step"
# ///
