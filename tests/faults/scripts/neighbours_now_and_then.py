import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
table = rng.normal(size=(6000, 32)).astype("float32")
net = tf.keras.Sequential(
    [tf.keras.layers.Input((32,)), tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(32)]
)
sgd = tf.keras.optimizers.SGD(1e-2)


@tf.function
def rebuild(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - x))
    sgd.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


def neighbours(rows):
    distances = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=-1)  # FAULT
    return distances.argsort(axis=1)[:, :8]


near = neighbours(table[:400])
for turn in range(2000):
    if turn % 25 == 0:  # FAULT
        near = neighbours(table[rng.integers(0, 6000, 600)])  # FAULT
    loss = rebuild(table[rng.integers(0, 6000, 64)])
print("near", near.shape)

# /// fault
# style = "custom"
# kind = "time"
# cause = "Every 25th step searches the nearest neighbours of 600 rows in NumPy"
# codes = ["STP008", "LIN001"]
# families = ["step"]
# source = "Hard-negative mining every n steps, as in implementations of triplet losses; Stack Overflow questions on single slow steps"
# ///
