"""PPO on a vectorised pendulum (numpy physics), all network work in two compiled functions."""
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

ENVS, HORIZON, ITERS, EPOCHS, MINIBATCH = 256, 64, 22, 6, 2048
keras.utils.set_random_seed(70)
rng = np.random.default_rng(70)


class Pendulums:
    def __init__(self, n):
        self.th, self.om, self.t = rng.uniform(-np.pi, np.pi, n), rng.uniform(-1, 1, n), rng.integers(0, 200, n)

    def obs(self):
        return np.stack([np.cos(self.th), np.sin(self.th), self.om / 8], 1).astype("float32")

    def step(self, u):
        u = np.clip(2 * u, -2, 2)
        angle = (self.th + np.pi) % (2 * np.pi) - np.pi
        cost = angle ** 2 + 0.1 * self.om ** 2 + 0.001 * u ** 2
        self.om = np.clip(self.om + (15 * np.sin(self.th) + 3 * u) * 0.05, -8, 8)
        self.th = self.th + self.om * 0.05
        self.t += 1
        done = self.t >= 200
        self.th[done], self.om[done], self.t[done] = rng.uniform(-np.pi, np.pi, done.sum()), 0.0, 0
        return self.obs(), (-cost / 10).astype("float32"), done


def mlp(out):
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(96, activation="tanh"),
                             keras.layers.Dense(96, activation="tanh"), keras.layers.Dense(out)])


actor, critic = mlp(1), mlp(1)
log_std = tf.Variable(-0.5)
params = actor.trainable_variables + critic.trainable_variables + [log_std]
opt = keras.optimizers.Adam(1e-3)
opt.build(params)


def log_prob(mean, action):
    return -0.5 * tf.square((action - mean) / tf.exp(log_std)) - log_std


@tf.function(input_signature=[tf.TensorSpec([ENVS, 3])])
def act(obs):
    mean = actor(obs)[:, 0]
    action = mean + tf.exp(log_std) * tf.random.normal(tf.shape(mean))
    return action, log_prob(mean, action), critic(obs)[:, 0]


@tf.function
def update(obs, action, old_logp, adv, ret):
    n = ENVS * HORIZON
    for _ in tf.range(EPOCHS):
        order = tf.random.shuffle(tf.range(n))
        for i in tf.range(0, n, MINIBATCH):
            idx = order[i : i + MINIBATCH]
            o, a, lp, ad, r = (tf.gather(x, idx) for x in (obs, action, old_logp, adv, ret))
            with tf.GradientTape() as tape:
                ratio = tf.exp(log_prob(actor(o)[:, 0], a) - lp)
                pol = -tf.reduce_mean(tf.minimum(ratio * ad, tf.clip_by_value(ratio, 0.8, 1.2) * ad))
                loss = pol + 0.5 * tf.reduce_mean(tf.square(critic(o)[:, 0] - r))
            opt.apply_gradients(zip(tape.gradient(loss, params), params))


env = Pendulums(ENVS)
obs, t0 = env.obs(), time.time()
for it in range(1, ITERS + 1):
    store = []
    for _ in range(HORIZON):
        a, lp, v = (x.numpy() for x in act(obs))
        nxt, rew, done = env.step(a)
        store.append((obs, a, lp, v, rew, done))
        obs = nxt
    o, a, lp, v, r, d = (np.stack(c) for c in zip(*store))
    last, adv, acc = act(obs)[2].numpy(), np.zeros_like(r), 0.0
    for t in reversed(range(HORIZON)):
        nv = last if t == HORIZON - 1 else v[t + 1]
        delta = r[t] + 0.95 * nv * (1 - d[t]) - v[t]
        acc = delta + 0.95 * 0.9 * (1 - d[t]) * acc
        adv[t] = acc
    ret = adv + v
    norm = (adv - adv.mean()) / (adv.std() + 1e-6)
    update(*(tf.constant(x.reshape(-1, *x.shape[2:])) for x in (o, a, lp, norm.astype("float32"), ret)))
    if it % 5 == 0:
        print(f"iter {it}: reward {10 * r.mean():.3f} std {np.exp(log_std.numpy()):.2f} ({time.time() - t0:.1f}s)")
