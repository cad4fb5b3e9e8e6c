"""DDPG for an arm of two joints that has to reach a point (environment in NumPy)."""
import argparse
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class Arm:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.joints = self.rng.uniform(-1, 1, 2)
        self.goal = self.rng.uniform(-1, 1, 2)
        return self.state()

    def state(self):
        return np.concatenate([np.sin(self.joints), np.cos(self.joints), self.goal]).astype("float32")

    def step(self, action):
        self.joints += 0.1 * np.clip(action, -1, 1)
        tip = np.array([np.cos(self.joints).sum(), np.sin(self.joints).sum()])
        return self.state(), -float(np.sum((tip - self.goal) ** 2))


def net(inputs, outputs, last=None):
    stack = [layers.Input((inputs,))]
    for _ in range(4):
        stack += [layers.Dense(48, activation="relu"), layers.LayerNormalization()]
    return tf.keras.Sequential(stack + [layers.Dense(outputs, activation=last)])


class Agent:
    def __init__(self, tau=0.01, gamma=0.95):
        self.tau, self.gamma = tau, gamma
        self.actor, self.critic = net(6, 2, "tanh"), net(8, 1)
        self.target_actor, self.target_critic = net(6, 2, "tanh"), net(8, 1)
        self.target_actor.set_weights(self.actor.get_weights())
        self.target_critic.set_weights(self.critic.get_weights())
        self.actor_opt = tf.keras.optimizers.SGD(1e-3)
        self.critic_opt = tf.keras.optimizers.SGD(1e-2)

    @tf.function
    def act(self, state):
        return self.actor(state[None])[0]

    @tf.function
    def learn(self, s, a, r, s2):
        y = r[:, None] + self.gamma * self.target_critic(tf.concat([s2, self.target_actor(s2)], 1))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(y - self.critic(tf.concat([s, a], 1))))
        grads = tape.gradient(loss, self.critic.trainable_variables)
        self.critic_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            value = -tf.reduce_mean(self.critic(tf.concat([s, self.actor(s)], 1)))
        grads = tape.gradient(value, self.actor.trainable_variables)
        self.actor_opt.apply_gradients(zip(grads, self.actor.trainable_variables))
        return loss

    def update_targets(self):
        for target, source in ((self.target_actor, self.actor), (self.target_critic, self.critic)):
            for t, w in zip(target.trainable_weights, source.trainable_weights):
                t.assign(self.tau * w + (1.0 - self.tau) * t)


def main(args):
    tf.keras.utils.set_random_seed(args.seed)
    env, agent, memory = Arm(args.seed), Agent(), deque(maxlen=5000)
    rng = np.random.default_rng(args.seed)
    for episode in range(args.episodes):
        state, total = env.reset(), 0.0
        for _ in range(40):
            action = agent.act(tf.constant(state)).numpy() + rng.normal(scale=0.2, size=2)
            following, reward = env.step(action)
            memory.append((state, action.astype("float32"), np.float32(reward), following))
            state, total = following, total + reward
            if len(memory) < 64:
                continue
            picks = [memory[i] for i in rng.integers(0, len(memory), 64)]
            agent.learn(*(tf.constant(np.stack(column)) for column in zip(*picks)))
            agent.update_targets()
        if episode % 5 == 0:
            print(f"episode {episode}: {total:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    main(parser.parse_args())
