"""Evolution strategies on pendulum swing-up; all members step in lock-step in one batched policy."""
import numpy as np
import tensorflow as tf

POP, HORIZON, HIDDEN = 192, 200, 32
SIZES = [(3, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 1)]
N_PARAMS = sum(a * b + b for a, b in SIZES)


class PendulumBatch:
    def __init__(self, n, seed):
        self.rng = np.random.default_rng(seed)
        self.n = n

    def reset(self):
        self.theta = np.tile(self.rng.uniform(-np.pi, np.pi, size=(1, 4)), (self.n, 1))
        self.omega = np.tile(self.rng.uniform(-1, 1, size=(1, 4)), (self.n, 1))
        return self.observe()

    def observe(self):
        return np.stack([np.cos(self.theta), np.sin(self.theta), self.omega / 8.0], axis=-1).astype("float32")

    def step(self, action):
        torque = np.clip(action, -2.0, 2.0)
        angle = (self.theta + np.pi) % (2 * np.pi) - np.pi
        cost = angle ** 2 + 0.1 * self.omega ** 2 + 0.001 * torque ** 2
        self.omega = np.clip(self.omega + (15.0 * np.sin(self.theta) + 3.0 * torque) * 0.05, -8.0, 8.0)
        self.theta = self.theta + self.omega * 0.05
        return self.observe(), -cost.mean(axis=1)


@tf.function
def policy(params, obs):
    h, offset = obs, 0
    for k, (n_in, n_out) in enumerate(SIZES):
        w = tf.reshape(params[:, offset:offset + n_in * n_out], (-1, n_in, n_out))
        offset += n_in * n_out
        b = params[:, None, offset:offset + n_out]
        offset += n_out
        h = tf.matmul(h, w) + b
        h = tf.tanh(h) if k < len(SIZES) - 1 else 2.0 * tf.tanh(h)
    return h[..., 0]


def rollout(env, params):
    obs, total = env.reset(), 0.0
    for _ in range(HORIZON):
        obs, reward = env.step(policy(params, tf.constant(obs)).numpy())
        total = total + reward
    return total


def main(generations=22, sigma=0.1, lr=0.08):
    rng = np.random.default_rng(3)
    theta = (0.3 * rng.normal(size=N_PARAMS)).astype("float32")
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    env = PendulumBatch(POP, seed=8)
    for gen in range(1, generations + 1):
        half = rng.normal(size=(POP // 2, N_PARAMS)).astype("float32")
        eps = np.concatenate([half, -half])
        scores = rollout(env, tf.constant(theta + sigma * eps))
        ranks = np.argsort(np.argsort(scores)) / (POP - 1) - 0.5
        grad = (ranks @ eps / (POP * sigma)).astype("float32")
        m, v = 0.9 * m + 0.1 * grad, 0.99 * v + 0.01 * grad ** 2
        theta = theta + lr * (m / (1 - 0.9 ** gen)) / (np.sqrt(v / (1 - 0.99 ** gen)) + 1e-8)
        if gen % 11 == 0:
            print("generation %d  mean %.3f  best %.3f" % (gen, scores.mean(), scores.max()))


if __name__ == "__main__":
    main()
