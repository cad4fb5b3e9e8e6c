"""TD3 agent that parks a small ferry; own environment, custom training loop."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

OBS, ACT = 6, 2
GAMMA, TAU = 0.98, 0.005


class FerryEnv:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos = self.rng.uniform(-5, 5, 2)
        self.vel = np.zeros(2)
        self.wind = self.rng.normal(0, 0.05, 2)
        self.t = 0
        return self.obs()

    def obs(self):
        return np.concatenate([self.pos, self.vel, self.wind]).astype("float32")

    def step(self, action):
        self.vel = 0.9 * self.vel + 0.2 * np.clip(action, -1, 1) + self.wind
        self.pos = self.pos + self.vel
        self.t += 1
        dist = np.linalg.norm(self.pos)
        done = dist < 0.3 or self.t >= 80
        return self.obs(), -dist * 0.1, done


def mlp(inputs, outputs, act=None):
    return keras.Sequential([keras.Input((inputs,)), layers.Dense(64, "relu"), layers.Dense(64, "relu"),
                             layers.Dense(64, "relu"), layers.Dense(outputs, act)])


class Agent:
    def __init__(self):
        self.actor, self.actor_t = mlp(OBS, ACT, "tanh"), mlp(OBS, ACT, "tanh")
        self.critics = [mlp(OBS + ACT, 1) for _ in range(2)]
        self.critics_t = [mlp(OBS + ACT, 1) for _ in range(2)]
        for a, b in self.pairs():
            b.set_weights(a.get_weights())
        self.q_vars = self.critics[0].trainable_variables + self.critics[1].trainable_variables
        self.opt_q, self.opt_a = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(5e-4)
        self.opt_q.build(self.q_vars)
        self.opt_a.build(self.actor.trainable_variables)

    def pairs(self):
        return [(self.actor, self.actor_t)] + list(zip(self.critics, self.critics_t))

    @tf.function
    def act(self, obs):
        return self.actor(obs[None])[0]

    @tf.function
    def learn(self, s, a, r, s2, d):
        noise = tf.clip_by_value(tf.random.normal(tf.shape(a)) * 0.2, -0.5, 0.5)
        a2 = tf.clip_by_value(self.actor_t(s2) + noise, -1.0, 1.0)
        q2 = tf.minimum(*[c(tf.concat([s2, a2], 1))[:, 0] for c in self.critics_t])
        y = r + GAMMA * (1.0 - d) * q2
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_mean((y - c(tf.concat([s, a], 1))[:, 0]) ** 2) for c in self.critics])
        self.opt_q.apply_gradients(zip(tape.gradient(loss, self.q_vars), self.q_vars))
        with tf.GradientTape() as tape:
            pi = -tf.reduce_mean(self.critics[0](tf.concat([s, self.actor(s)], 1)))
        av = self.actor.trainable_variables
        self.opt_a.apply_gradients(zip(tape.gradient(pi, av), av))
        return loss

    def sync(self):
        for net, slow in self.pairs():
            mixed = [TAU * w + (1.0 - TAU) * v for w, v in zip(net.get_weights(), slow.get_weights())]
            slow.set_weights(mixed)


def main(steps=1100, warmup=200, batch=64):
    keras.utils.set_random_seed(5)
    env, agent, rng = FerryEnv(5), Agent(), np.random.default_rng(5)
    memory, obs, total, returns = [], env.reset(), 0.0, []
    for step in range(steps):
        action = rng.uniform(-1, 1, ACT) if step < warmup else agent.act(tf.constant(obs)).numpy()
        action = np.clip(action + rng.normal(0, 0.1, ACT), -1, 1).astype("float32")
        nxt, reward, done = env.step(action)
        memory.append((obs, action, np.float32(reward), nxt, np.float32(done)))
        obs, total = nxt, total + reward
        if done:
            returns.append(total)
            obs, total = env.reset(), 0.0
        if step >= warmup:
            rows = [memory[i] for i in rng.integers(0, len(memory), batch)]
            agent.learn(*[tf.constant(np.stack(col)) for col in zip(*rows)])
            agent.sync()
    print("episodes", len(returns), "last returns", np.round(returns[-5:], 2))


if __name__ == "__main__":
    main()
