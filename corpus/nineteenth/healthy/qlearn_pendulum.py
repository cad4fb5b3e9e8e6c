"""Double Q-learning on a discretised pendulum; acts one step at a time."""
import collections

import numpy as np
import tensorflow as tf

Transition = collections.namedtuple("Transition", "s a r s2")


class Pendulum:
    torques = np.array([-2.0, 0.0, 2.0])

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.th, self.om = self.rng.uniform(-np.pi, np.pi), self.rng.uniform(-1, 1)
        return self.obs()

    def obs(self):
        return np.array([np.cos(self.th), np.sin(self.th), self.om / 8], np.float32)

    def step(self, a):
        u = self.torques[a]
        angle = (self.th + np.pi) % (2 * np.pi) - np.pi
        cost = angle**2 + 0.1 * self.om**2 + 0.001 * u**2
        self.om = np.clip(self.om + 0.05 * (15 * np.sin(self.th) + 3 * u), -8, 8)
        self.th += 0.05 * self.om
        return self.obs(), -cost / 16


class Replay:
    def __init__(self, size, rng):
        self.data = Transition(
            np.zeros((size, 3), np.float32), np.zeros(size, np.int32),
            np.zeros(size, np.float32), np.zeros((size, 3), np.float32),
        )
        self.size, self.n, self.rng = size, 0, rng

    def add(self, *items):
        for column, item in zip(self.data, items):
            column[self.n % self.size] = item
        self.n += 1

    def sample(self, k):
        rows = self.rng.integers(0, min(self.n, self.size), k)
        return [column[rows] for column in self.data]


class Agent(tf.Module):
    def __init__(self, actions=3, gamma=0.98):
        super().__init__()
        self.q, self.target = self.net(actions), self.net(actions)
        self.target.set_weights(self.q.get_weights())
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.opt.build(self.q.trainable_variables)
        self.gamma = gamma

    @staticmethod
    def net(actions):
        return tf.keras.Sequential(
            [
                tf.keras.Input((3,)),
                tf.keras.layers.Dense(64, "relu"),
                tf.keras.layers.Dense(64, "relu"),
                tf.keras.layers.Dense(actions),
            ]
        )

    @tf.function(input_signature=[tf.TensorSpec([1, 3], tf.float32)])
    def greedy(self, s):
        return tf.argmax(self.q(s)[0])

    @tf.function
    def learn(self, s, a, r, s2):
        best = tf.argmax(self.q(s2), axis=1, output_type=tf.int32)
        goal = r + self.gamma * tf.gather(self.target(s2), best, batch_dims=1)
        with tf.GradientTape() as tape:
            value = tf.gather(self.q(s), a, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - value))
        grads = tape.gradient(loss, self.q.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.q.trainable_variables))
        return loss


def main(episodes=14, steps=120):
    tf.keras.utils.set_random_seed(3)
    rng = np.random.default_rng(3)
    env, memory, agent = Pendulum(rng), Replay(20000, rng), Agent()
    returns = []
    for ep in range(episodes):
        s, total = env.reset(), 0.0
        for t in range(steps):
            if rng.random() < max(0.05, 1 - ep / 8):
                a = int(rng.integers(3))
            else:
                a = int(agent.greedy(s[None]))
            s2, r = env.step(a)
            memory.add(s, a, r, s2)
            s, total = s2, total + r
            if memory.n > 200:
                agent.learn(*memory.sample(64))
        agent.target.set_weights(agent.q.get_weights())
        returns.append(total)
    print("episodes", len(returns), "transitions", memory.n)
    print("finite", bool(np.isfinite(returns).all()))


if __name__ == "__main__":
    main()
