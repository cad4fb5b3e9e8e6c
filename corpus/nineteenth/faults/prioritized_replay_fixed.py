import random
from collections import deque

import numpy as np
import tensorflow as tf


class ReplayMemory:
    def __init__(self, capacity):
        self.buffer = deque(maxlen=capacity)

    def push(self, *transition):
        self.buffer.append(transition)

    def __len__(self):
        return len(self.buffer)

    def sample(self, batch_size):
        idx = np.random.choice(len(self.buffer), batch_size, replace=False)
        batch = [self.buffer[i] for i in idx]
        return tuple(map(np.array, zip(*batch)))


class SoftQ(tf.Module):
    """Soft Q-learning with linear-in-features critic, compiled update."""

    def __init__(self, obs_dim, n_actions, hidden=64, lr=2e-3, gamma=0.98, seed=0):
        super().__init__()
        rng = np.random.RandomState(seed)
        self.gamma, self.lr, self.n_actions = gamma, lr, n_actions
        self.params = [tf.Variable(rng.randn(*s).astype(np.float32) * 0.3)
                       for s in ((obs_dim, hidden), (hidden,), (hidden, n_actions), (n_actions,))]
        self.target = [tf.Variable(p) for p in self.params]

    @staticmethod
    def q(params, s):
        w1, b1, w2, b2 = params
        return tf.matmul(tf.tanh(tf.matmul(s, w1) + b1), w2) + b2

    @tf.function(input_signature=[tf.TensorSpec((None, 6)), tf.TensorSpec((None,), tf.int32),
                                  tf.TensorSpec((None,)), tf.TensorSpec((None, 6)), tf.TensorSpec((None,))])
    def update(self, s, a, r, s2, d):
        backup = r + self.gamma * (1 - d) * tf.reduce_logsumexp(self.q(self.target, s2), axis=1)
        with tf.GradientTape() as tape:
            chosen = tf.gather(self.q(self.params, s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(chosen - backup))
        for p, t, g in zip(self.params, self.target, tape.gradient(loss, self.params)):
            p.assign_sub(self.lr * tf.clip_by_norm(g, 1.0))
            t.assign(0.99 * t + 0.01 * p)
        return loss

    @tf.function(input_signature=[tf.TensorSpec((1, 6))])
    def scores(self, s):
        return self.q(self.params, s)[0]


class Tank:
    """Two coupled water tanks, keep both levels near a set point with three valves."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.x = self.rng.rand(6).astype(np.float32)
        return self.x.copy()

    def step(self, a):
        inflow = (0.0, 0.08, 0.16)[a]
        level, second = self.x[0], self.x[1]
        self.x[0] = level + inflow - 0.1 * np.sqrt(abs(level))
        self.x[1] = second + 0.1 * np.sqrt(abs(level)) - 0.08 * np.sqrt(abs(second))
        self.x[2:] = np.roll(self.x[2:], 1)
        self.x[2] = inflow
        reward = -abs(self.x[0] - 0.6) - abs(self.x[1] - 0.5)
        return self.x.copy(), np.float32(reward), bool(self.rng.rand() < 0.01)


def main():
    random.seed(0)
    np.random.seed(0)
    env, agent, memory = Tank(1), SoftQ(6, 3), ReplayMemory(20000)
    state, losses = env.reset(), []
    for step in range(2800):
        if random.random() < 0.9:
            action = random.randrange(3)
        else:
            action = int(tf.argmax(agent.scores(state[None])))
        nxt, reward, done = env.step(action)
        memory.push(state, np.int32(action), reward, nxt, np.float32(done))
        state = env.reset() if done else nxt
        if len(memory) >= 200:
            losses.append(float(agent.update(*memory.sample(32))))
    print("updates", len(losses))
    print("loss %.3f -> %.3f" % (np.mean(losses[:50]), np.mean(losses[-50:])))


if __name__ == "__main__":
    main()
