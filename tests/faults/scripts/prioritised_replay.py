import numpy as np
import tensorflow as tf

CAPACITY, BATCH = 60_000, 32
rng = np.random.default_rng(3)
states = rng.normal(size=(CAPACITY, 8)).astype(np.float32)
actions = rng.integers(0, 4, CAPACITY).astype(np.int32)
rewards = rng.normal(size=CAPACITY).astype(np.float32)
priorities = rng.random(CAPACITY)

online = tf.keras.Sequential(
    [
        tf.keras.Input((8,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(4),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


def sample():
    scaled = priorities**0.6  # FAULT
    probabilities = scaled / scaled.sum()  # FAULT
    return np.random.choice(CAPACITY, BATCH, p=probabilities)  # FAULT


@tf.function
def learn(s, a, r, s2):
    target = r + 0.99 * tf.reduce_max(online(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, batch_dims=1)
        error = tf.stop_gradient(target) - q
        loss = tf.reduce_mean(error**2)
    optimizer.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
    return loss, tf.abs(error)


for step in range(1500):
    rows = sample()  # FAULT
    after = (rows + 1) % CAPACITY
    loss, error = learn(*map(tf.constant, (states[rows], actions[rows], rewards[rows], states[after])))
    priorities[rows] = error.numpy() + 1e-3
    if step % 500 == 0:
        print("step", step, "loss", float(loss))
print("loss", float(loss))

# /// fault
# style = "rl"
# kind = "time"
# cause = "np.random.choice with probabilities over the whole replay buffer at every step"
# codes = ["LIN001"]
# families = ["step"]
# source = "Stack Overflow questions on slow np.random.choice with p in prioritised experience replay"
# renamed = true
# ///
