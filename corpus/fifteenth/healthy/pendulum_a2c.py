"""Advantage actor-critic on a batch of simulated pendulums (vectorised NumPy environment)."""
import numpy as np
import tensorflow as tf


class Pendulums:
    """Many torque-limited pendulums stepped together."""

    def __init__(self, n, seed):
        self.rng = np.random.default_rng(seed)
        self.n = n
        self.th = self.rng.uniform(-np.pi, np.pi, n)
        self.om = self.rng.uniform(-1, 1, n)

    def observe(self):
        return np.stack([np.cos(self.th), np.sin(self.th), self.om / 8], axis=1).astype(np.float32)

    def step(self, action):
        torque = (action - 2) * 1.0
        angle = (self.th + np.pi) % (2 * np.pi) - np.pi
        reward = -(angle**2 + 0.1 * self.om**2 + 0.001 * torque**2) / 10
        self.om = np.clip(self.om + 0.05 * (15 * np.sin(self.th) + 3 * torque), -8, 8)
        self.th = self.th + 0.05 * self.om
        fresh = self.rng.random(self.n) < 0.005
        self.th[fresh] = self.rng.uniform(-np.pi, np.pi, fresh.sum())
        self.om[fresh] = 0.0
        return self.observe(), reward.astype(np.float32), fresh.astype(np.float32)


N_ENVS, HORIZON, UPDATES, GAMMA, ACTIONS = 512, 16, 240, 0.97, 5
tf.keras.utils.set_random_seed(10)

obs_in = tf.keras.Input((3,))
trunk = tf.keras.layers.Dense(256, activation="tanh")(obs_in)
trunk = tf.keras.layers.Dense(256, activation="tanh")(trunk)
net = tf.keras.Model(
    obs_in, [tf.keras.layers.Dense(ACTIONS)(trunk), tf.keras.layers.Dense(1)(trunk)]
)
optimizer = tf.keras.optimizers.Adam(7e-4)
optimizer.build(net.trainable_variables)


@tf.function(input_signature=[tf.TensorSpec((N_ENVS, 3), tf.float32)])
def act(obs):
    logits, value = net(obs)
    return tf.random.categorical(logits, 1)[:, 0], value[:, 0]


@tf.function
def update(obs, actions, returns):
    with tf.GradientTape() as tape:
        logits, value = net(obs, training=True)
        adv = returns - value[:, 0]
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        logp = tf.nn.log_softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
        loss = tf.reduce_mean(nll * tf.stop_gradient(adv)) + 0.5 * tf.reduce_mean(adv**2) - 0.01 * entropy
    grads = tape.gradient(loss, net.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 0.5)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


env = Pendulums(N_ENVS, 1)
obs = env.observe()
O = np.zeros((HORIZON, N_ENVS, 3), np.float32)
A = np.zeros((HORIZON, N_ENVS), np.int64)
R = np.zeros((HORIZON, N_ENVS), np.float32)
D = np.zeros((HORIZON, N_ENVS), np.float32)
for u in range(UPDATES):
    for t in range(HORIZON):
        action, _ = act(tf.constant(obs))
        O[t], A[t] = obs, action.numpy()
        obs, R[t], D[t] = env.step(A[t])
    running = act(tf.constant(obs))[1].numpy()
    G = np.zeros_like(R)
    for t in reversed(range(HORIZON)):
        running = R[t] + GAMMA * running * (1 - D[t])
        G[t] = running
    loss = update(tf.constant(O.reshape(-1, 3)), tf.constant(A.ravel()), tf.constant(G.ravel()))
    if (u + 1) % 40 == 0:
        print(f"update {u + 1}: reward {R.mean():.4f} loss {float(loss):.4f}")
