"""DQN on a corridor world."""
import collections

import numpy as np
import tensorflow as tf

LENGTH = 12
ACTIONS = 2


class Corridor:
    def __init__(self):
        self.pos = 0
        self.t = 0

    def observe(self):
        v = np.zeros(LENGTH, "float32")
        v[self.pos] = 1.0
        return v

    def reset(self):
        self.pos, self.t = 0, 0
        return self.observe()

    def step(self, action):
        self.pos = min(LENGTH - 1, self.pos + 1) if action == 1 else max(0, self.pos - 1)
        self.t += 1
        done = self.pos == LENGTH - 1
        return self.observe(), (1.0 if done else -0.01), done or self.t >= 30


class Agent:
    def __init__(self):
        self.q = tf.keras.Sequential([
            tf.keras.layers.Input((LENGTH,)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(ACTIONS),
        ])
        self.q.compile(optimizer=tf.keras.optimizers.Adam(5e-3), loss="mse")
        self.memory = collections.deque(maxlen=2000)
        self.rng = np.random.default_rng(1)
        self.epsilon = 0.8

    def values(self, states):
        return self.q.predict(states, verbose=0)

    def act(self, state):
        if self.rng.random() < self.epsilon:
            return int(self.rng.integers(ACTIONS))
        return int(np.argmax(self.values(state[None])[0]))

    def learn(self, batch=32, gamma=0.95):
        pick = self.rng.integers(len(self.memory), size=batch)
        s, a, r, s2, d = (np.array(c, dtype="float32") for c in zip(*[self.memory[i] for i in pick]))
        target = self.values(s)
        target[np.arange(batch), a.astype(int)] = r + gamma * (1 - d) * self.values(s2).max(axis=1)
        self.q.train_on_batch(s, target)


def main(episodes=2):
    tf.keras.utils.set_random_seed(3)
    env, agent = Corridor(), Agent()
    returns = []
    for _ in range(episodes):
        state, done, total = env.reset(), False, 0.0
        while not done:
            action = agent.act(state)
            nxt, reward, done = env.step(action)
            agent.memory.append((state, action, reward, nxt, float(done)))
            agent.learn()
            state, total = nxt, total + reward
        agent.epsilon = max(0.1, agent.epsilon * 0.9)
        returns.append(total)
    print("transitions", len(agent.memory), "mean return %.3f" % np.mean(returns))


main()
