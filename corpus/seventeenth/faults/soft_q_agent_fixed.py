"""Soft Q-learning on a noisy line-following task with an annealed temperature."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

N_ACTIONS = 5
STATE_DIM = 8


class LineEnv:
    def __init__(self, n_envs, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.normal(size=(n_envs, STATE_DIM)).astype("float32")
        self.mix = (np.eye(STATE_DIM) * 0.95 + self.rng.normal(0, 0.03, (STATE_DIM, STATE_DIM))).astype("float32")
        self.push = self.rng.normal(0, 0.4, (N_ACTIONS, STATE_DIM)).astype("float32")

    def step(self, actions):
        noise = self.rng.normal(0, 0.05, self.state.shape).astype("float32")
        self.state = np.clip(self.state @ self.mix + self.push[actions] + noise, -3, 3)
        reward = -np.abs(self.state[:, 0]) + 0.1 * self.state[:, 1]
        return self.state, reward.astype("float32")


class ReplayBuffer:
    def __init__(self, seed):
        self.rows = []
        self.rng = np.random.default_rng(seed)

    def add(self, s, a, r, s2):
        self.rows.append((s.copy(), a, r, s2.copy()))

    def sample(self, size):
        block = [self.rows[i] for i in self.rng.integers(len(self.rows), size=size)]
        return [np.concatenate(column) for column in zip(*block)]


def q_network():
    return tf.keras.Sequential([
        layers.Input((STATE_DIM,)),
        layers.Dense(96, activation="relu"),
        layers.Dense(96, activation="relu"),
        layers.Dense(N_ACTIONS),
    ])


class SoftQAgent:
    def __init__(self, gamma=0.97, lr=1e-3):
        tf.keras.utils.set_random_seed(1)
        self.gamma = gamma
        self.q, self.target = q_network(), q_network()
        self.target.set_weights(self.q.get_weights())
        self.optimizer = tf.keras.optimizers.Adam(lr)

    @tf.function
    def act_probs(self, states):
        return tf.nn.softmax(self.q(states) / 0.5)

    @tf.function
    def train_body(self, states, actions, rewards, next_states, temperature):
        next_q = self.target(next_states)
        soft_value = temperature * tf.reduce_logsumexp(next_q / temperature, axis=1)
        goal = rewards + self.gamma * soft_value
        with tf.GradientTape() as tape:
            chosen = tf.gather(self.q(states), actions, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - chosen))
        grads = tape.gradient(loss, self.q.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.q.trainable_variables))
        return loss

    def train(self, batch, temperature):
        states, actions, rewards, next_states = batch
        return self.train_body(states, actions, rewards, next_states,
                               tf.constant(temperature, tf.float32))


def run(agent, env, buffer, iterations, updates):
    rng = np.random.default_rng(9)
    losses, rewards = [], []
    state = env.state
    for it in range(iterations):
        temperature = max(0.1, 1.0 * 0.9 ** it)
        probs = agent.act_probs(state).numpy()
        actions = (probs.cumsum(1) < rng.random((len(probs), 1))).sum(1).clip(0, N_ACTIONS - 1)
        next_state, reward = env.step(actions)
        buffer.add(state, actions, reward, next_state)
        state = next_state
        rewards.append(reward.mean())
        for _ in range(updates):
            losses.append(float(agent.train(buffer.sample(8), temperature)))
        if it % 6 == 0:
            agent.target.set_weights(agent.q.get_weights())
    return losses, rewards


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=18)
    parser.add_argument("--updates", type=int, default=15)
    args = parser.parse_args()
    losses, rewards = run(SoftQAgent(), LineEnv(32, 0), ReplayBuffer(3), args.iterations, args.updates)
    print(f"loss {np.mean(losses[-50:]):.4f}  reward {np.mean(rewards[-6:]):.4f}")


if __name__ == "__main__":
    main()
