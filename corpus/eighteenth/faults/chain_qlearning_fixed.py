"""Q-learning with a small network on the five-state chain game."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np


class ChainGame:
    def __init__(self, states, slip, rng):
        self.states = states
        self.slip = slip
        self.rng = rng
        self.state = 0

    def reset(self):
        self.state = 0
        return self.state

    def step(self, action):
        if self.rng.random() < self.slip:
            action = 1 - action
        if action == 1:
            self.state = 0
            return self.state, 2.0
        if self.state == self.states - 1:
            return self.state, 10.0
        self.state += 1
        return self.state, 0.0


class QNetwork:
    def __init__(self, states, actions):
        self.eye = np.identity(states, dtype="float32")
        self.actions = actions
        self.model = keras.Sequential(
            [
                keras.Input((states,)),
                keras.layers.Dense(10, activation="sigmoid"),
                keras.layers.Dense(actions, activation="linear"),
            ]
        )
        self.model.compile(loss="mse", optimizer=keras.optimizers.Adam(0.01))

    def encode(self, state):
        return self.eye[state : state + 1]

    def values(self, state):
        return self.model.predict_on_batch(self.encode(state))[0]

    def update(self, state, target):
        self.model.train_on_batch(
            self.encode(state), target.reshape(-1, self.actions)
        )


class Learner:
    def __init__(self, game, network, rng, discount=0.95, eps=0.5, decay=0.9):
        self.game = game
        self.network = network
        self.rng = rng
        self.discount = discount
        self.eps = eps
        self.decay = decay

    def choose(self, state):
        if self.rng.random() < self.eps:
            return int(self.rng.integers(0, 2))
        return int(np.argmax(self.network.values(state)))

    def run_episode(self, moves):
        state = self.game.reset()
        self.eps *= self.decay
        total = 0.0
        for _ in range(moves):
            action = self.choose(state)
            new_state, reward = self.game.step(action)
            target = reward + self.discount * np.max(self.network.values(new_state))
            target_vec = np.array(self.network.values(state))
            target_vec[action] = target
            self.network.update(state, target_vec)
            state = new_state
            total += reward
        return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=4)
    parser.add_argument("--moves", type=int, default=8)
    parser.add_argument("--seed", type=int, default=2)
    args = parser.parse_args()

    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    game = ChainGame(5, 0.2, rng)
    network = QNetwork(5, 2)
    learner = Learner(game, network, rng)
    rewards = [learner.run_episode(args.moves) for _ in range(args.episodes)]
    table = np.stack([network.values(s) for s in range(5)])
    print("mean reward", np.mean(rewards))
    print(np.round(table, 3).tolist())


if __name__ == "__main__":
    main()
