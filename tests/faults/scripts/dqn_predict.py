"""Deep Q-learning on a small corridor."""

import random
from collections import deque

import numpy as np
import tensorflow as tf

random.seed(0)
np.random.seed(0)


class Corridor:
    def __init__(self, length=12):
        self.length = length

    def reset(self):
        self.at, self.time = 0, 0
        return self.state()

    def state(self):
        out = np.zeros(self.length, dtype=np.float32)
        out[self.at] = 1.0
        return out

    def step(self, action):
        self.at = min(max(self.at + (1 if action else -1), 0), self.length - 1)
        self.time += 1
        done = self.at == self.length - 1 or self.time >= 30
        return self.state(), float(self.at == self.length - 1), done


q_net = tf.keras.Sequential(
    [
        tf.keras.Input((12,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-2)
memory = deque(maxlen=2000)


@tf.function
def learn(s, a, r, s2, done):
    target = r + 0.95 * tf.reduce_max(q_net(s2), axis=1) * (1.0 - done)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(q_net(s) * tf.one_hot(a, 2), axis=1)
        loss = tf.reduce_mean(tf.square(target - q))
    optimizer.apply_gradients(zip(tape.gradient(loss, q_net.trainable_variables), q_net.trainable_variables))
    return loss


env, epsilon, loss = Corridor(), 0.2, tf.constant(0.0)
for episode in range(5):
    state, done = env.reset(), False
    while not done:
        if random.random() < epsilon:
            action = random.randrange(2)
        else:
            action = int(np.argmax(q_net.predict(state[None], verbose=0)[0]))  # FAULT
        after, reward, done = env.step(action)
        memory.append((state, action, reward, after, float(done)))
        state = after
        if len(memory) >= 16:
            s, a, r, s2, d = map(np.array, zip(*random.sample(memory, 16)))
            loss = learn(
                tf.constant(s),
                tf.constant(a, tf.int32),
                tf.constant(r, tf.float32),
                tf.constant(s2),
                tf.constant(d, tf.float32),
            )
    print("episode", episode, "loss", float(loss))

# /// fault
# style = "rl"
# kind = "time"
# cause = "model.predict() is called for one state at every step of the environment"
# codes = ["EAG004"]
# families = ["eager"]
# source = "GitHub, tensorflow/tensorflow #44711 (predict should not be used in a loop) and #35124; keras-team/keras #13118"
# renamed = true
# ///
