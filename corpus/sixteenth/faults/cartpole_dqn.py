"""Deep Q-learning on a hand-written cart-pole, with a target network."""
import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

random.seed(3)
np.random.seed(3)
tf.random.set_seed(3)

STEPS = 520
WARMUP = 64
BATCH = 64
GAMMA = 0.98


class CartPole:
    """The usual equations of motion, Euler steps of 20 ms."""

    def reset(self):
        self.s = np.random.uniform(-0.05, 0.05, 4)
        self.t = 0
        return self.s.astype(np.float32)

    def step(self, action):
        x, v, th, w = self.s
        force = 10.0 if action == 1 else -10.0
        cos, sin = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * w * w * sin) / 1.1
        acc_th = (9.8 * sin - cos * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1))
        acc_x = tmp - 0.05 * acc_th * cos / 1.1
        self.s = np.array([x + 0.02 * v, v + 0.02 * acc_x, th + 0.02 * w, w + 0.02 * acc_th])
        self.t += 1
        done = bool(abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.21 or self.t >= 200)
        return self.s.astype(np.float32), 1.0, done


def make_net():
    return tf.keras.Sequential([
        layers.Input((4,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(2),
    ])


class Agent:
    def __init__(self):
        self.q = make_net()
        self.target = make_net()
        self.target.set_weights(self.q.get_weights())
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.memory = deque(maxlen=5000)
        self.eps = 0.3

    def act(self, state):
        values = self.q.predict(state[None, :], verbose=0)[0]
        if random.random() < self.eps:
            return random.randrange(2), values
        return int(np.argmax(values)), values

    @tf.function
    def update(self, s, a, r, s2, done):
        best = tf.reduce_max(self.target(s2, training=False), axis=1)
        goal = r + GAMMA * (1.0 - done) * best
        with tf.GradientTape() as tape:
            q = tf.gather(self.q(s, training=True), a, axis=1, batch_dims=1)
            loss = tf.reduce_mean(tf.keras.losses.huber(goal[:, None], q[:, None]))
        grads = tape.gradient(loss, self.q.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.q.trainable_variables))
        return loss

    def learn(self):
        s, a, r, s2, d = zip(*random.sample(self.memory, BATCH))
        return self.update(
            tf.constant(np.stack(s)), tf.constant(a, tf.int32),
            tf.constant(r, tf.float32), tf.constant(np.stack(s2)),
            tf.constant(d, tf.float32))


def main():
    env, agent = CartPole(), Agent()
    state, ret, returns, spread = env.reset(), 0.0, [], []
    for step in range(STEPS):
        action, values = agent.act(state)
        spread.append(abs(values[0] - values[1]))
        nxt, reward, done = env.step(action)
        agent.memory.append((state, action, reward, nxt, float(done)))
        state, ret = nxt, ret + reward
        if len(agent.memory) >= WARMUP:
            agent.learn()
        if step % 100 == 99:
            agent.target.set_weights(agent.q.get_weights())
        agent.eps = max(0.02, agent.eps * 0.995)
        if done:
            returns.append(ret)
            state, ret = env.reset(), 0.0
    print("episodes", len(returns), "mean return %.1f" % np.mean(returns),
          "mean spread %.3f" % np.mean(spread))


if __name__ == "__main__":
    main()
