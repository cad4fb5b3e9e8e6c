"""An agent that trades a made-up stock: it asks its network for an action at each step."""

import random

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
random.seed(7)
tf.keras.utils.set_random_seed(7)
prices = 100 + rng.normal(size=400).cumsum()
net = tf.keras.Sequential(
    [
        tf.keras.Input((10,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(3),
    ]
)
net.compile(tf.keras.optimizers.Adam(1e-3), "mse")
memory = []


def best(states):
    return net.predict(states, verbose=0)  # FAULT


for day in range(11, 140):
    state = np.diff(prices[day - 11 : day])[None].astype("float32")
    action = random.randrange(3) if random.random() < 0.1 else int(np.argmax(best(state)[0]))
    reward = (action - 1) * (prices[day] - prices[day - 1])
    after = np.diff(prices[day - 10 : day + 1])[None].astype("float32")
    memory.append((state, action, reward, after))
    if len(memory) >= 16:
        chosen = random.sample(memory, 16)
        states = np.concatenate([item[0] for item in chosen])
        wanted = best(states)
        future = best(np.concatenate([item[3] for item in chosen])).max(1)
        for row, item in enumerate(chosen):
            wanted[row, item[1]] = item[2] + 0.9 * future[row]
        net.train_on_batch(states, wanted)
print("held", sum(item[2] for item in memory))
