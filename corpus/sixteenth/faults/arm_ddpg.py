"""DDPG for a two-joint arm that has to reach a random point (own simulator)."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 37
keras.utils.set_random_seed(SEED)

OBS, ACT = 6, 2
TAU, GAMMA = 0.005, 0.95
STEPS, BATCH = 2400, 64


class Arm:
    """Both links have length one; actions are joint velocities."""

    def __init__(self, rng):
        self.rng = rng

    def observe(self):
        return np.concatenate([np.cos(self.q), np.sin(self.q), self.goal]).astype(np.float32)

    def reset(self):
        self.q = self.rng.uniform(-np.pi, np.pi, 2)
        r, a = self.rng.uniform(0.4, 1.8), self.rng.uniform(-np.pi, np.pi)
        self.goal = np.array([r * np.cos(a), r * np.sin(a)])
        self.t = 0
        return self.observe()

    def step(self, action):
        self.q = self.q + 0.25 * action
        tip = np.array([np.cos(self.q[0]) + np.cos(self.q.sum()),
                        np.sin(self.q[0]) + np.sin(self.q.sum())])
        self.t += 1
        return self.observe(), -float(np.linalg.norm(tip - self.goal)), self.t >= 30


class Replay:
    def __init__(self, size):
        self.s = np.zeros((size, OBS), np.float32)
        self.a = np.zeros((size, ACT), np.float32)
        self.r = np.zeros(size, np.float32)
        self.s2 = np.zeros((size, OBS), np.float32)
        self.n = 0

    def add(self, s, a, r, s2):
        i = self.n % len(self.r)
        self.s[i], self.a[i], self.r[i], self.s2[i] = s, a, r, s2
        self.n += 1

    def sample(self, rng):
        i = rng.integers(0, min(self.n, len(self.r)), BATCH)
        return [tf.constant(v[i]) for v in (self.s, self.a, self.r, self.s2)]


def actor_net():
    s = keras.Input((OBS,))
    h = s
    for units in (64, 64, 32):
        h = keras.layers.Dense(units, activation="relu")(h)
    return keras.Model(s, keras.layers.Dense(ACT, activation="tanh")(h))


def critic_net():
    s, a = keras.Input((OBS,)), keras.Input((ACT,))
    h = keras.layers.Concatenate()([s, a])
    for units in (64, 64, 32):
        h = keras.layers.Dense(units, activation="relu")(h)
    return keras.Model([s, a], keras.layers.Dense(1)(h))


actor, critic = actor_net(), critic_net()
actor_target, critic_target = actor_net(), critic_net()
actor_target.set_weights(actor.get_weights())
critic_target.set_weights(critic.get_weights())
actor_opt, critic_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(2e-3)


@tf.function
def policy(s):
    return actor(s[None], training=False)[0]


@tf.function
def update(s, a, r, s2):
    goal = r[:, None] + GAMMA * critic_target([s2, actor_target(s2)])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(goal - critic([s, a], training=True)))
    grads = tape.gradient(loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    with tf.GradientTape() as tape:
        gain = -tf.reduce_mean(critic([s, actor(s, training=True)]))
    grads = tape.gradient(gain, actor.trainable_variables)
    actor_opt.apply_gradients(zip(grads, actor.trainable_variables))


def follow(target, source):
    mixed = [TAU * new + (1 - TAU) * old
             for new, old in zip(source.get_weights(), target.get_weights())]
    target.set_weights(mixed)


rng = np.random.default_rng(SEED)
env, memory = Arm(rng), Replay(10_000)
s, total, history = env.reset(), 0.0, []
for step in range(STEPS):
    a = np.clip(policy(tf.constant(s)).numpy() + rng.normal(scale=0.2, size=ACT), -1, 1)
    s2, r, done = env.step(a)
    memory.add(s, a, r, s2)
    s, total = s2, total + r
    if memory.n >= BATCH:
        update(*memory.sample(rng))
        follow(actor_target, actor)
        follow(critic_target, critic)
    if done:
        history.append(total)
        s, total = env.reset(), 0.0
print("return of the first ten %.1f, of the last ten %.1f" % (np.mean(history[:10]), np.mean(history[-10:])))
