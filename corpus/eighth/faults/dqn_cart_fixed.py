# DQN on logged transitions of a toy cart; whole learner step is compiled.
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()

CAPACITY = 1_000_000
BATCH, GAMMA, UPDATES = 64, 0.98, 700
tf.keras.utils.set_random_seed(4)


def logged_transitions(n):
    rng = np.random.default_rng(7)
    s = rng.normal(size=(n, 4)).astype("float32")
    a = rng.integers(0, 2, n).astype("int32")
    force = np.where(a == 1, 1.0, -1.0)[:, None].astype("float32")
    s2 = s + 0.02 * np.concatenate([s[:, 2:], force, -force], 1).astype("float32")
    r = (np.abs(s2[:, 0]) < 1.0).astype("float32")
    return s, a, r, s2


memory = [tf.Variable(v, trainable=False) for v in logged_transitions(CAPACITY)]


def sample():
    idx = tf.random.uniform([BATCH], maxval=CAPACITY, dtype=tf.int32)
    return [tf.gather(v, idx) for v in memory]


def qnet():
    return tf.keras.Sequential([
        tf.keras.layers.Input((4,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(2)])


online, target = qnet(), qnet()
target.set_weights(online.get_weights())
opt = tf.keras.optimizers.Adam(5e-4)
huber = tf.keras.losses.Huber()


@tf.function
def learn():
    s, a, r, s2 = sample()
    goal = r + GAMMA * tf.reduce_max(target(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, batch_dims=1)
        loss = huber(goal, q)
    grads = tape.gradient(loss, online.trainable_variables)
    opt.apply_gradients(zip(grads, online.trainable_variables))
    return loss


for u in range(UPDATES):
    loss = learn()
    if u % 100 == 0:
        target.set_weights(online.get_weights())
        print("update", u, "loss %.4f" % float(loss))
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
