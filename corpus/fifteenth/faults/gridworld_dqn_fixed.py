"""Deep Q-learning on a windy grid."""
import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras


class WindyGrid:
    """5x5 grid; wind pushes the walker up in the middle columns."""

    size = 5
    n_actions = 4
    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def _obs(self):
        o = np.zeros((self.size, self.size), np.float32)
        o[self.pos] = 1.0
        o[self.goal] = -1.0
        return o.ravel()

    def reset(self):
        self.pos = (self.rng.randrange(self.size), 0)
        self.goal = (self.rng.randrange(self.size), self.size - 1)
        self.t = 0
        return self._obs()

    def step(self, action):
        dr, dc = self.moves[action]
        wind = 1 if 2 <= self.pos[1] <= 3 and self.rng.random() < 0.3 else 0
        r = min(max(self.pos[0] + dr - wind, 0), self.size - 1)
        c = min(max(self.pos[1] + dc, 0), self.size - 1)
        self.pos = (r, c)
        self.t += 1
        done = self.pos == self.goal
        return self._obs(), (1.0 if done else -0.02), done, done or self.t >= 40


class Agent:
    def __init__(self, state_size, n_actions):
        self.n_actions = n_actions
        self.memory = deque(maxlen=5000)
        self.gamma, self.epsilon = 0.97, 1.0
        self.batch_size = 32
        self.model = self._network(state_size)
        self.target = self._network(state_size)
        self.sync()
        self.act_fn = tf.function(lambda s: tf.argmax(self.model(s, training=False), axis=1))

    def _network(self, state_size):
        net = keras.Sequential(
            [
                keras.layers.Input((state_size,)),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(self.n_actions),
            ]
        )
        net.compile(loss=keras.losses.Huber(), optimizer=keras.optimizers.Adam(1e-3))
        return net

    def sync(self):
        self.target.set_weights(self.model.get_weights())

    def act(self, state):
        if random.random() < self.epsilon:
            return random.randrange(self.n_actions)
        return int(self.act_fn(state[None])[0])

    def remember(self, *transition):
        self.memory.append(transition)

    def replay(self):
        minibatch = random.sample(self.memory, self.batch_size)
        states, actions, rewards, next_states, dones = map(np.array, zip(*minibatch))
        targets = np.array(self.model.predict_on_batch(states))
        q_next = self.target.predict_on_batch(next_states).max(axis=1)
        targets[np.arange(len(actions)), actions] = rewards + self.gamma * q_next * (~dones)
        return self.model.train_on_batch(states, targets)


def main(total_steps=3200, learn_every=10):
    random.seed(3)
    keras.utils.set_random_seed(3)
    env = WindyGrid(seed=5)
    agent = Agent(env.size**2, env.n_actions)
    state, episode_return, returns, losses = env.reset(), 0.0, [], []
    for step in range(1, total_steps + 1):
        action = agent.act(state)
        nxt, reward, done, over = env.step(action)
        agent.remember(state, action, reward, nxt, done)
        episode_return += reward
        state = nxt
        if over:
            returns.append(episode_return)
            state, episode_return = env.reset(), 0.0
        if step >= 200 and step % learn_every == 0:
            losses.append(float(agent.replay()))
        if step % 400 == 0:
            agent.sync()
            recent = np.mean(returns[-20:]) if returns else float("nan")
            print(f"step {step} eps {agent.epsilon:.2f} return {recent:.3f} loss {np.mean(losses[-50:] or [0]):.4f}")
        agent.epsilon = max(0.05, agent.epsilon * 0.999)


if __name__ == "__main__":
    main()
