"""Deep Q-learning on a small grid world with pits and a goal.

Usage: python dqn_gridworld.py [--episodes 40]
"""
import argparse
import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class GridWorld:
    """8x8 board. 0 = free, 1 = pit, goal in the lower right corner."""

    MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def __init__(self, size=8, n_pits=7, seed=3):
        rng = np.random.RandomState(seed)
        self.size = size
        self.board = np.zeros((size, size), dtype=np.float32)
        while self.board.sum() < n_pits:
            r, c = rng.randint(0, size, 2)
            if (r, c) not in ((0, 0), (size - 1, size - 1)):
                self.board[r, c] = 1.0
        self.goal = (size - 1, size - 1)
        self.reset()

    def reset(self):
        self.pos = (0, 0)
        self.t = 0
        return self._obs()

    def _obs(self):
        agent = np.zeros_like(self.board)
        agent[self.pos] = 1.0
        return np.concatenate([agent.ravel(), self.board.ravel()])

    def step(self, action):
        dr, dc = self.MOVES[action]
        r = min(max(self.pos[0] + dr, 0), self.size - 1)
        c = min(max(self.pos[1] + dc, 0), self.size - 1)
        self.pos = (r, c)
        self.t += 1
        if self.pos == self.goal:
            return self._obs(), 1.0, True
        if self.board[r, c] == 1.0:
            return self._obs(), -1.0, True
        return self._obs(), -0.01, self.t >= 40


class DQNAgent:
    def __init__(self, state_size, action_size):
        self.state_size = state_size
        self.action_size = action_size
        self.memory = deque(maxlen=5000)
        self.gamma = 0.97
        self.epsilon = 1.0
        self.epsilon_min = 0.05
        self.epsilon_decay = 0.97
        self.batch_size = 32
        self.model = self._build_model()
        self.target_model = self._build_model()
        self.update_target()

    def _build_model(self):
        model = keras.Sequential([
            layers.Input((self.state_size,)),
            layers.Dense(128, activation="relu"),
            layers.Dense(128, activation="relu"),
            layers.Dense(self.action_size, activation="linear"),
        ])
        model.compile(loss="mse", optimizer=keras.optimizers.Adam(1e-3))
        return model

    def update_target(self):
        self.target_model.set_weights(self.model.get_weights())

    def remember(self, state, action, reward, next_state, done):
        self.memory.append((state, action, reward, next_state, done))

    def act(self, state):
        if np.random.rand() <= self.epsilon:
            return random.randrange(self.action_size)
        q = self.model(state[None, :])
        return int(np.argmax(q[0]))

    def replay(self):
        if len(self.memory) < self.batch_size:
            return None
        minibatch = random.sample(self.memory, self.batch_size)
        states = np.array([m[0] for m in minibatch])
        actions = np.array([m[1] for m in minibatch])
        rewards = np.array([m[2] for m in minibatch])
        next_states = np.array([m[3] for m in minibatch])
        dones = np.array([m[4] for m in minibatch])
        q_next = self.target_model(next_states).numpy()
        target = rewards + self.gamma * q_next.max(axis=1) * (1.0 - dones)
        targets = self.model(states).numpy()
        targets[np.arange(len(minibatch)), actions] = target
        loss = self.model.train_on_batch(states, targets)
        return float(loss)


def train(env, agent, episodes):
    rewards = []
    for ep in range(episodes):
        state = env.reset()
        total, losses, done = 0.0, [], False
        while not done:
            action = agent.act(state)
            next_state, reward, done = env.step(action)
            agent.remember(state, action, reward, next_state, done)
            state = next_state
            total += reward
            loss = agent.replay()
            if loss is not None:
                losses.append(loss)
        agent.epsilon = max(agent.epsilon_min, agent.epsilon * agent.epsilon_decay)
        agent.update_target()
        rewards.append(total)
        if (ep + 1) % 5 == 0:
            print(f"episode {ep + 1:3d}  mean reward {np.mean(rewards[-5:]):.3f}  "
                  f"eps {agent.epsilon:.2f}  loss {np.mean(losses) if losses else 0:.4f}")
    return rewards


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=14)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    keras.utils.set_random_seed(args.seed)

    env = GridWorld()
    agent = DQNAgent(state_size=2 * env.size ** 2, action_size=4)
    rewards = train(env, agent, args.episodes)
    print("average reward:", round(float(np.mean(rewards)), 4))


if __name__ == "__main__":
    main()
