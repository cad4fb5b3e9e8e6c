"""DDPG for a toy arm. Follows the textbook: replay, actor, critic, slowly moving targets."""

import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, layers

S, A, TAU, GAMMA = 16, 3, 0.005, 0.98


def make_actor():
    s = Input((S,))
    h = s
    for _ in range(4):
        h = layers.LayerNormalization()(layers.Dense(96, activation="relu")(h))
    return Model(s, layers.Dense(A, activation="tanh")(h))


def make_critic():
    s, a = Input((S,)), Input((A,))
    h = layers.Concatenate()([s, a])
    for _ in range(4):
        h = layers.LayerNormalization()(layers.Dense(96, activation="relu")(h))
    return Model([s, a], layers.Dense(1)(h))


class Agent:
    def __init__(self):
        self.actor, self.critic = make_actor(), make_critic()
        self.target_actor, self.target_critic = make_actor(), make_critic()
        self.target_actor.set_weights(self.actor.get_weights())
        self.target_critic.set_weights(self.critic.get_weights())
        self.a_opt, self.c_opt = tf.keras.optimizers.SGD(1e-3), tf.keras.optimizers.SGD(1e-3)

    @tf.function
    def learn(self, s, a, r, n):
        goal = r + GAMMA * self.target_critic([n, self.target_actor(n)])
        with tf.GradientTape() as tape:
            c_loss = tf.reduce_mean(tf.square(goal - self.critic([s, a])))
        v = self.critic.trainable_variables
        self.c_opt.apply_gradients(zip(tape.gradient(c_loss, v), v, strict=False))
        with tf.GradientTape() as tape:
            a_loss = -tf.reduce_mean(self.critic([s, self.actor(s)]))
        v = self.actor.trainable_variables
        self.a_opt.apply_gradients(zip(tape.gradient(a_loss, v), v, strict=False))
        return c_loss, a_loss

    def follow(self, target, model):
        weights, slow = model.get_weights(), target.get_weights()
        for i in range(len(weights)):
            slow[i] = TAU * weights[i] + (1 - TAU) * slow[i]
        target.set_weights(slow)


rng = np.random.default_rng(0)
agent = Agent()
N = 20_000
s = rng.standard_normal((N, S)).astype("float32")
a = rng.uniform(-1, 1, (N, A)).astype("float32")
r = -np.abs(a - s[:, :A]).mean(1, keepdims=True).astype("float32")
n = (0.9 * s + 0.1 * rng.standard_normal((N, S))).astype("float32")

began = time.perf_counter()
for step in range(700):
    i = rng.integers(0, N, 64)
    c_loss, a_loss = agent.learn(*(tf.constant(z[i]) for z in (s, a, r, n)))
    agent.follow(agent.target_actor, agent.actor)
    agent.follow(agent.target_critic, agent.critic)
    if step % 200 == 0:
        print(f"{step:4d}  critic {float(c_loss):.4f}  actor {float(a_loss):.4f}")
print(f"700 updates in {time.perf_counter() - began:.2f} s")
