import numpy as np
import tensorflow as tf

CAPACITY, BATCH = 60_000, 32
rng = np.random.default_rng(3)
states = rng.normal(size=(CAPACITY, 8)).astype(np.float32)
actions = rng.integers(0, 4, CAPACITY).astype(np.int32)
rewards = rng.normal(size=CAPACITY).astype(np.float32)
SIZE = 65_536
tree = np.zeros(2 * SIZE)
tree[SIZE : SIZE + CAPACITY] = rng.random(CAPACITY) ** 0.6
for node in range(SIZE - 1, 0, -1):
    tree[node] = tree[2 * node] + tree[2 * node + 1]


def set_priorities(rows, values):
    nodes = rows + SIZE
    tree[nodes] = values**0.6
    while nodes[0] > 1:
        nodes = nodes // 2
        tree[nodes] = tree[2 * nodes] + tree[2 * nodes + 1]


online = tf.keras.Sequential(
    [
        tf.keras.Input((8,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(4),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


def sample():
    mass, node = np.random.random(BATCH) * tree[1], np.ones(BATCH, np.int64)
    while node[0] < SIZE:
        right = mass > tree[2 * node]
        mass = mass - np.where(right, tree[2 * node], 0.0)
        node = 2 * node + right
    return np.minimum(node - SIZE, CAPACITY - 1)


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
    rows = sample()
    after = (rows + 1) % CAPACITY
    loss, error = learn(*map(tf.constant, (states[rows], actions[rows], rewards[rows], states[after])))
    set_priorities(rows, error.numpy() + 1e-3)
    if step % 500 == 0:
        print("step", step, "loss", float(loss))
print("loss", float(loss))
