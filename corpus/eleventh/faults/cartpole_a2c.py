"""Advantage actor-critic on CartPole (own physics, no gym needed)."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Sequential

GAMMA = 0.99
N_ENVS = 8
ROLLOUT = 16
UPDATES = 15


class VecCartPole:
    def __init__(self, n, seed=0):
        self.rng = np.random.default_rng(seed)
        self.n = n
        self.state = self.rng.uniform(-0.05, 0.05, (n, 4))
        self.length = np.zeros(n, int)

    def step(self, action):
        x, v, th, w = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        tmp = (force + 0.05 * w ** 2 * np.sin(th)) / 1.1
        acc_th = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        acc_x = tmp - 0.05 * acc_th * np.cos(th) / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * acc_x, th + 0.02 * w, w + 0.02 * acc_th], 1)
        self.length += 1
        done = (np.abs(self.state[:, 0]) > 2.4) | (np.abs(self.state[:, 2]) > 0.2095) | (self.length >= 500)
        finished = self.length[done].copy()
        self.state[done] = self.rng.uniform(-0.05, 0.05, (done.sum(), 4))
        self.length[done] = 0
        return self.state.astype("float32"), np.ones(self.n, "float32"), done, finished


class A2CAgent:
    def __init__(self):
        self.actor = Sequential([layers.Input((4,)), layers.Dense(64, "tanh"),
                                 layers.Dense(64, "tanh"), layers.Dense(2)])
        self.critic = Sequential([layers.Input((4,)), layers.Dense(64, "tanh"),
                                  layers.Dense(64, "tanh"), layers.Dense(1)])
        self.variables = self.actor.trainable_variables + self.critic.trainable_variables
        self.opt = tf.keras.optimizers.Adam(3e-3)
        self.opt.build(self.variables)
        self.rng = np.random.default_rng(1)

    def act(self, obs):
        logits = self.actor.predict(obs, verbose=0)
        gumbel = self.rng.gumbel(size=logits.shape)
        return np.argmax(logits + gumbel, axis=1)

    def value(self, obs):
        return self.critic.predict(obs, verbose=0)[:, 0]

    @tf.function
    def update(self, obs, actions, returns, adv):
        with tf.GradientTape() as tape:
            logits = self.actor(obs)
            value = self.critic(obs)[:, 0]
            logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
            p = tf.nn.softmax(logits)
            entropy = -tf.reduce_sum(p * tf.nn.log_softmax(logits), 1)
            loss = tf.reduce_mean(-logp * adv - 0.01 * entropy + 0.5 * tf.square(returns - value))
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, self.variables), 0.5)
        self.opt.apply_gradients(zip(grads, self.variables))
        return loss


def main():
    tf.keras.utils.set_random_seed(1)
    env, agent = VecCartPole(N_ENVS), A2CAgent()
    obs = env.state.astype("float32")
    lengths = []
    for update in range(1, UPDATES + 1):
        mem_obs, mem_act, mem_rew, mem_done, mem_val = [], [], [], [], []
        for _ in range(ROLLOUT):
            action = agent.act(obs)
            mem_val.append(agent.value(obs))
            mem_obs.append(obs)
            obs, reward, done, finished = env.step(action)
            mem_act.append(action)
            mem_rew.append(reward)
            mem_done.append(done)
            lengths.extend(finished.tolist())
        running = agent.value(obs)
        returns = np.zeros((ROLLOUT, N_ENVS), "float32")
        for t in reversed(range(ROLLOUT)):
            running = mem_rew[t] + GAMMA * running * (1.0 - mem_done[t])
            returns[t] = running
        adv = returns - np.array(mem_val)
        loss = agent.update(
            tf.constant(np.concatenate(mem_obs)),
            tf.constant(np.concatenate(mem_act), tf.int32),
            tf.constant(returns.ravel()),
            tf.constant(adv.ravel().astype("float32")),
        )
        if update % 5 == 0:
            recent = np.mean(lengths[-40:]) if lengths else float("nan")
            print(f"update {update:3d}  loss {float(loss):8.3f}  mean episode length {recent:.1f}")


if __name__ == "__main__":
    main()
