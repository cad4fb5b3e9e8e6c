import collections
import random

import numpy as np
import tensorflow as tf
from tensorflow import keras

Transition = collections.namedtuple("Transition", "state action reward next_state done")


class SnakeGrid:
    """A 7x7 board, the snake dies on walls and eats apples."""
    MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))

    def __init__(self, seed, size=7):
        self.rng, self.size = random.Random(seed), size

    def reset(self):
        self.head, self.steps = (self.size // 2, self.size // 2), 0
        self._drop()
        return self.observe()

    def _drop(self):
        self.apple = (self.rng.randrange(self.size), self.rng.randrange(self.size))

    def observe(self):
        r, c = self.head
        dr, dc = self.apple[0] - r, self.apple[1] - c
        return np.array([r, c, dr, dc, r == 0, c == 0, r == self.size - 1, c == self.size - 1], np.float32) / self.size

    def step(self, action):
        dr, dc = self.MOVES[action]
        self.head = (self.head[0] + dr, self.head[1] + dc)
        self.steps += 1
        if not all(0 <= v < self.size for v in self.head):
            return self.observe(), -1.0, True
        reward = -0.01
        if self.head == self.apple:
            reward = 1.0
            self._drop()
        return self.observe(), reward, self.steps >= 60


def make_network(seed):
    init = lambda i: keras.initializers.GlorotUniform(seed=seed + i)
    return keras.Sequential([
        keras.Input((8,)),
        keras.layers.Dense(48, activation="relu", kernel_initializer=init(0)),
        keras.layers.Dense(48, activation="relu", kernel_initializer=init(1)),
        keras.layers.Dense(4, kernel_initializer=init(2)),
    ])


class Player:
    def __init__(self, seed, epsilon):
        self.net = make_network(seed)
        self.rng = random.Random(seed)
        self.epsilon = epsilon

    def act(self, state):
        if self.rng.random() < self.epsilon:
            return self.rng.randrange(4)
        q = self.net.predict_on_batch(state[np.newaxis])
        return int(np.argmax(q[0]))


def play(env, player, episodes):
    history = []
    for _ in range(episodes):
        state, done = env.reset(), False
        while not done:
            action = player.act(state)
            nxt, reward, done = env.step(action)
            history.append(Transition(state, action, reward, nxt, done))
            state = nxt
    return history


def tournament(n_players=4, episodes=6):
    table = {}
    for k in range(n_players):
        history = play(SnakeGrid(seed=k), Player(seed=10 * k + 1, epsilon=0.3), episodes)
        table[k] = (len(history), sum(t.reward for t in history))
    return table


if __name__ == "__main__":
    for k, (moves, score) in tournament().items():
        print("player", k, "moves", moves, "score %.2f" % score)
