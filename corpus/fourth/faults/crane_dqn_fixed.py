"""DQN for a swinging crane: replay memory, target network, epsilon-greedy."""
import random

import numpy as np
import tensorflow as tf


class Crane:
    def reset(self):
        self.state = np.random.uniform(-0.1, 0.1, 4).astype("float32")
        self.age = 0
        return self.state

    def step(self, action):
        push = (-1.0, 0.0, 1.0)[action]
        x, v, a, w = self.state
        v, w = v + 0.05 * push, w - 0.05 * (np.sin(a) * 4 + push * np.cos(a))
        self.state = np.array([x + 0.05 * v, v, a + 0.05 * w, 0.995 * w], "float32")
        self.age += 1
        done = abs(self.state[0]) > 2.4 or self.age >= 200
        return self.state, 1.0 - abs(self.state[2]) - 0.1 * abs(self.state[0]), done


class ReplayMemory:
    def __init__(self, size):
        self.size, self.count = size, 0
        self.states = np.empty((size, 4), "float32")
        self.actions = np.empty((size,), "int32")
        self.rewards = np.empty((size,), "float32")
        self.nexts = np.empty((size, 4), "float32")
        self.ends = np.empty((size,), "float32")

    def __len__(self):
        return min(self.count, self.size)

    def add(self, state, action, reward, following, end):
        at = self.count % self.size
        self.states[at], self.actions[at], self.rewards[at] = state, action, reward
        self.nexts[at], self.ends[at] = following, end
        self.count += 1

    def sample(self, count):
        i = np.random.randint(0, len(self), count)
        return self.states[i], self.actions[i], self.rewards[i], self.nexts[i], self.ends[i]

    def warm_up(self, env, count):
        """Random play, as one block."""
        rows, state = [], env.reset()
        for _ in range(count):
            action = random.randrange(3)
            following, reward, done = env.step(action)
            rows.append((state, action, reward, following, done))
            state = env.reset() if done else following
        self.fill(*(np.array(column) for column in zip(*rows)))

    def fill(self, states, actions, rewards, nexts, ends):
        self.count = len(actions)
        self.states[:self.count], self.actions[:self.count] = states, actions
        self.rewards[:self.count], self.nexts[:self.count], self.ends[:self.count] = rewards, nexts, ends


def network():
    return tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(64, "relu"),
                                tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(3)])


tf.keras.utils.set_random_seed(6)
online, target = network(), network()
optimizer = tf.keras.optimizers.Adam(5e-4)


@tf.function
def learn(states, actions, rewards, nexts, ends):
    best = tf.reduce_max(target(nexts), axis=1)
    goal = rewards + 0.98 * (1 - ends) * best
    with tf.GradientTape() as tape:
        q = tf.gather(online(states), actions, batch_dims=1)
        loss = tf.reduce_mean(tf.square(goal - q))
    optimizer.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
    return loss


@tf.function
def act(state):
    return tf.argmax(online(state[None]), axis=1)[0]


env, memory = Crane(), ReplayMemory(300_000)
memory.warm_up(env, 120_000)
state, gained, episodes = env.reset(), 0.0, []
for step in range(1800):
    action = random.randrange(3) if random.random() < 0.2 else int(act(tf.constant(state)))
    following, reward, done = env.step(action)
    memory.add(state, action, reward, following, done)
    state, gained = following, gained + reward
    if done:
        episodes.append(gained)
        state, gained = env.reset(), 0.0
    learn(*memory.sample(64))
    if step % 500 == 0:
        target.set_weights(online.get_weights())
print("episodes", len(episodes), "mean return", round(float(np.mean(episodes)), 2))
