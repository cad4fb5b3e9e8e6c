"""Small DQN on a hand-written cart-pole."""
import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, optimizers


class CartPole:
    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, 4)
        self.t = 0
        return self.s.copy()

    def step(self, action):
        x, v, th, w = self.s
        force = 10.0 if action == 1 else -10.0
        tmp = (force + 0.05 * w * w * np.sin(th)) / 1.1
        acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        xa = tmp - 0.05 * acc * np.cos(th) / 1.1
        self.s = np.array([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * w, w + 0.02 * acc])
        self.t += 1
        done = abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.21 or self.t >= 200
        return self.s.copy(), 1.0, done


class Agent:
    def __init__(self):
        self.memory = deque(maxlen=4000)
        self.gamma, self.epsilon = 0.97, 1.0
        self.net = self._network()
        self.target = self._network()
        self.target.set_weights(self.net.get_weights())
        self.q_net = tf.function(lambda s: self.net(s, training=False))
        self.q_target = tf.function(lambda s: self.target(s, training=False))

    def _network(self):
        model = Sequential([layers.Input((4,)),
                            layers.Dense(32, activation="relu"),
                            layers.Dense(32, activation="relu"),
                            layers.Dense(2)])
        model.compile(loss="mse", optimizer=optimizers.Adam(2e-3))
        return model

    def act(self, state):
        if random.random() < self.epsilon:
            return random.randrange(2)
        q = self.q_net(tf.constant(state[None], tf.float32)).numpy()
        return int(np.argmax(q[0]))

    def replay(self, size=32):
        batch = random.sample(self.memory, size)
        s, a, r, s2, done = (np.array(c) for c in zip(*batch))
        s, s2 = s.astype("float32"), s2.astype("float32")
        both = self.q_net(tf.constant(s)).numpy()
        future = self.q_target(tf.constant(s2)).numpy().max(axis=1)
        both[np.arange(size), a] = r + self.gamma * future * (1.0 - done)
        self.net.fit(s, both, batch_size=size, epochs=1, verbose=0)
        self.epsilon = max(0.05, self.epsilon * 0.99)


def main(total_steps=420):
    random.seed(4)
    tf.keras.utils.set_random_seed(4)
    env, agent = CartPole(np.random.default_rng(4)), Agent()
    state, length, lengths = env.reset(), 0, []
    for step in range(total_steps):
        action = agent.act(state)
        nxt, reward, done = env.step(action)
        agent.memory.append((state, action, 0.0 if done else reward, nxt, float(done)))
        state, length = nxt, length + 1
        if len(agent.memory) >= 64:
            agent.replay()
        if step % 100 == 0:
            agent.target.set_weights(agent.net.get_weights())
        if done:
            lengths.append(length)
            state, length = env.reset(), 0
    print("episodes", len(lengths), "mean length", np.mean(lengths), "last 5", lengths[-5:])


if __name__ == "__main__":
    main()
