"""Deterministic-policy agent on a toy point-mass task."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf


class PointMass:
    def __init__(self, dim, rng):
        self.dim = dim
        self.rng = rng
        self.mix = rng.normal(scale=0.1, size=(4, dim))

    def reset(self):
        self.state = self.rng.normal(size=self.dim)
        return self.state.astype(np.float32)

    def step(self, action):
        self.state = 0.97 * self.state + action @ self.mix
        reward = -float(np.mean(self.state**2))
        return self.state.astype(np.float32), reward


class ReplayBuffer:
    def __init__(self, obs_dim, act_dim, size):
        self.obs = tf.zeros((size, obs_dim), tf.float32)
        self.next_obs = tf.zeros((size, obs_dim), tf.float32)
        self.act = tf.zeros((size, act_dim), tf.float32)
        self.rew = tf.zeros((size, 1), tf.float32)
        self.ptr, self.size, self.max_size = 0, 0, size

    def store(self, obs, act, rew, next_obs):
        at = [[self.ptr]]
        self.obs = tf.tensor_scatter_nd_update(self.obs, at, [obs])
        self.next_obs = tf.tensor_scatter_nd_update(self.next_obs, at, [next_obs])
        self.act = tf.tensor_scatter_nd_update(self.act, at, [act])
        self.rew = tf.tensor_scatter_nd_update(self.rew, at, [[rew]])
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample(self, rng, batch):
        idx = tf.constant(rng.integers(0, self.size, size=batch))
        return tuple(tf.gather(b, idx) for b in (self.obs, self.act, self.rew, self.next_obs))


def mlp(inputs, outputs, activation=None):
    return keras.Sequential(
        [
            keras.Input((inputs,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(outputs, activation=activation),
        ]
    )


class Agent:
    def __init__(self, obs_dim, act_dim):
        self.actor = mlp(obs_dim, act_dim, "tanh")
        self.critic = mlp(obs_dim + act_dim, 1)
        self.actor_opt = keras.optimizers.SGD(1e-3)
        self.critic_opt = keras.optimizers.SGD(1e-3)
        self.actor_opt.build(self.actor.trainable_variables)
        self.critic_opt.build(self.critic.trainable_variables)

    @tf.function
    def act(self, obs):
        return self.actor(obs[None])[0]

    @tf.function
    def learn(self, obs, act, rew, next_obs):
        q_next = self.critic(tf.concat([next_obs, self.actor(next_obs)], 1))
        target = tf.stop_gradient(rew + 0.95 * q_next)
        with tf.GradientTape() as tape:
            q = self.critic(tf.concat([obs, act], 1))
            critic_loss = tf.reduce_mean(tf.square(q - target))
        variables = self.critic.trainable_variables
        self.critic_opt.apply(tape.gradient(critic_loss, variables), variables)
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(self.critic(tf.concat([obs, self.actor(obs)], 1)))
        variables = self.actor.trainable_variables
        self.actor_opt.apply(tape.gradient(loss, variables), variables)
        return critic_loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--buffer", type=int, default=40000)
    parser.add_argument("--obs-dim", type=int, default=64)
    args = parser.parse_args()

    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    env = PointMass(args.obs_dim, rng)
    buffer = ReplayBuffer(args.obs_dim, 4, args.buffer)
    agent = Agent(args.obs_dim, 4)
    obs, rewards, losses = env.reset(), [], []
    for step in range(args.steps):
        action = agent.act(tf.constant(obs)).numpy() + rng.normal(scale=0.1, size=4).astype(np.float32)
        next_obs, reward = env.step(action)
        buffer.store(obs, action, reward, next_obs)
        rewards.append(reward)
        obs = env.reset() if step % 100 == 99 else next_obs
        if step >= 200 and step % 10 == 0:
            losses.append(float(agent.learn(*buffer.sample(rng, 64))))
    print(f"reward {np.mean(rewards):.5f} critic loss {np.mean(losses):.5f} over {len(losses)} updates")


if __name__ == "__main__":
    main()
