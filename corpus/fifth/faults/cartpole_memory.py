"""A DQN whose replay memory lives in TensorFlow; the environment is a toy in NumPy."""

import time

import numpy as np
import tensorflow as tf

OBS, ACTIONS, CAPACITY, BATCH = 48, 4, 60_000, 64


class Memory(tf.Module):
    def __init__(self):
        self.obs = tf.Variable(tf.zeros((CAPACITY, OBS)), trainable=False)
        self.nxt = tf.Variable(tf.zeros((CAPACITY, OBS)), trainable=False)
        self.act = tf.Variable(tf.zeros((CAPACITY,), tf.int32), trainable=False)
        self.rew = tf.Variable(tf.zeros((CAPACITY,)), trainable=False)
        self.count = tf.Variable(0, trainable=False)

    def store(self, obs, act, rew, nxt):
        at = tf.reshape(self.count % CAPACITY, (1, 1))
        for var, value in ((self.obs, obs), (self.nxt, nxt), (self.act, act), (self.rew, rew)):
            var.assign(tf.tensor_scatter_nd_update(var, at, value[None]))
        self.count.assign_add(1)

    def sample(self):
        top = tf.minimum(self.count, CAPACITY)
        i = tf.random.uniform((BATCH,), 0, top, tf.int32)
        return (tf.gather(self.obs, i), tf.gather(self.act, i), tf.gather(self.rew, i), tf.gather(self.nxt, i))


def network():
    return tf.keras.Sequential(
        [
            tf.keras.Input((OBS,)),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(ACTIONS),
        ]
    )


online, target = network(), network()
target.set_weights(online.get_weights())
adam = tf.keras.optimizers.Adam(1e-3)
adam.build(online.trainable_variables)
memory = Memory()


@tf.function
def act(obs, epsilon):
    greedy = tf.argmax(online(obs[None])[0], output_type=tf.int32)
    chance = tf.random.uniform((), 0, ACTIONS, tf.int32)
    return tf.where(tf.random.uniform(()) < epsilon, chance, greedy)


@tf.function
def learn(obs, action, reward, nxt):
    memory.store(obs, action, reward, nxt)
    o, a, r, n = memory.sample()
    goal = r + 0.97 * tf.reduce_max(target(n), axis=1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(o), a, batch_dims=1)
        loss = tf.reduce_mean(tf.square(q - goal))
    grads = tape.gradient(loss, online.trainable_variables)
    adam.apply_gradients(zip(grads, online.trainable_variables, strict=False))
    return loss


rng = np.random.default_rng(0)
drift = (0.2 * rng.standard_normal((ACTIONS, OBS))).astype("float32")
obs = np.zeros(OBS, "float32")
began = time.perf_counter()
for step in range(900):
    action = act(tf.constant(obs), tf.constant(max(0.05, 1 - step / 600)))
    nxt = (0.9 * obs + drift[int(action)] + 0.05 * rng.standard_normal(OBS)).astype("float32")
    loss = learn(tf.constant(obs), action, tf.constant(-float(np.abs(nxt).mean())), tf.constant(nxt))
    obs = nxt
    if step % 300 == 299:
        target.set_weights(online.get_weights())
        print(f"step {step + 1}: loss {float(loss):.4f}")
print(f"900 steps in {time.perf_counter() - began:.2f} s")
