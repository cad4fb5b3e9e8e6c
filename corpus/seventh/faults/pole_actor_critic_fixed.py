"""Advantage actor-critic on a vectorised cart-pole (numpy dynamics, no gym needed)."""
import argparse
import collections
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras


class CartPole:
    """n independent copies of the classic control task."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.state = self.rng.uniform(-0.05, 0.05, (n, 4))
        self.age = np.zeros(n, int)

    def step(self, action):
        x, v, th, om = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        tmp = (force + 0.05 * om ** 2 * np.sin(th)) / 1.1
        acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        xacc = tmp - 0.05 * acc * np.cos(th) / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * xacc, th + 0.02 * om, om + 0.02 * acc], 1)
        self.age += 1
        done = (abs(self.state[:, 0]) > 2.4) | (abs(self.state[:, 2]) > 0.209) | (self.age >= 500)
        lengths = self.age[done].tolist()
        self.state[done] = self.rng.uniform(-0.05, 0.05, (done.sum(), 4))
        self.age[done] = 0
        return self.state.astype("float32"), np.ones(self.n, "float32"), done, lengths


class ActorCritic(keras.Model):
    def __init__(self, hidden):
        super().__init__()
        self.body = [keras.layers.Dense(hidden, activation="tanh") for _ in range(2)]
        self.pi = keras.layers.Dense(2)
        self.v = keras.layers.Dense(1)

    def call(self, obs):
        h = obs
        for layer in self.body:
            h = layer(h)
        return self.pi(h), self.v(h)[..., 0]


def discounted(rewards, dones, last_value, gamma):
    out, acc = np.zeros_like(rewards), last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * acc * (1.0 - dones[t])
        out[t] = acc
    return out


class Agent:
    def __init__(self, hidden, lr):
        self.net = ActorCritic(hidden)
        self.net(tf.zeros((1, 4)))
        self.opt = keras.optimizers.Adam(lr, clipnorm=0.5)
        self.opt.build(self.net.trainable_variables)
        self._forward = tf.function(self.net.call, reduce_retracing=True)

    def act(self, obs, rng):
        logits, value = self._forward(tf.constant(obs))
        gumbel = -np.log(-np.log(rng.uniform(1e-9, 1, logits.shape)))
        return np.argmax(logits.numpy() + gumbel, 1), value.numpy()

    @tf.function
    def update(self, obs, actions, returns):
        with tf.GradientTape() as tape:
            logits, values = self.net(obs)
            adv = tf.stop_gradient(returns - values)
            adv = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-6)
            logp = tf.nn.log_softmax(logits)
            chosen = tf.gather(logp, actions, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
            loss = -tf.reduce_mean(chosen * adv) + 0.5 * tf.reduce_mean(
                tf.square(returns - values)) / 100.0 - 0.01 * entropy
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=350)
    ap.add_argument("--envs", type=int, default=16)
    ap.add_argument("--horizon", type=int, default=8)
    ap.add_argument("--hidden", type=int, default=64)
    args = ap.parse_args()
    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    env, agent = CartPole(args.envs, 1), Agent(args.hidden, 1e-3)
    obs, recent, t0 = env.state.astype("float32"), collections.deque(maxlen=50), time.time()
    for it in range(1, args.updates + 1):
        buf = []
        for _ in range(args.horizon):
            action, _ = agent.act(obs, rng)
            nxt, rew, done, lengths = env.step(action)
            recent.extend(lengths)
            buf.append((obs, action, rew, done))
            obs = nxt
        o, a, r, d = (np.stack(col) for col in zip(*buf))
        ret = discounted(r, d.astype("float32"), agent.act(obs, rng)[1], 0.99)
        agent.update(tf.constant(o.reshape(-1, 4)), tf.constant(a.reshape(-1)), tf.constant(ret.reshape(-1)))
        if it % 100 == 0:
            print(f"update {it}: mean episode length {np.mean(recent or [0]):.1f} ({time.time() - t0:.1f}s)")


if __name__ == "__main__":
    main()
