"""PPO for many simulated grippers at once: numpy simulates all of them, one compiled call learns."""
import numpy as np
import tensorflow as tf

ENVS, HORIZON, DIM, ACTIONS = 256, 32, 12, 5

body = tf.keras.Sequential([tf.keras.layers.Input((DIM,)), tf.keras.layers.Dense(256, "tanh"),
                            tf.keras.layers.Dense(256, "tanh"), tf.keras.layers.Dense(ACTIONS + 1)])
optimizer = tf.keras.optimizers.Adam(3e-4)


@tf.function
def act(states):
    out = body(states)
    actions = tf.random.categorical(out[:, :ACTIONS], 1)[:, 0]
    logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, out[:, :ACTIONS])
    return actions, logp, out[:, ACTIONS]


@tf.function
def learn(states, actions, old, returns, advantages):
    loss = tf.zeros([])
    for _ in tf.range(8):
        with tf.GradientTape() as tape:
            out = body(states)
            logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, out[:, :ACTIONS])
            ratio = tf.exp(logp - old)
            clipped = tf.minimum(ratio * advantages, tf.clip_by_value(ratio, 0.8, 1.2) * advantages)
            loss = 0.5 * tf.reduce_mean(tf.square(returns - out[:, ACTIONS])) - tf.reduce_mean(clipped)
        grads = tape.gradient(loss, body.trainable_variables)
        optimizer.apply_gradients(zip(grads, body.trainable_variables))
    return loss


tf.keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)
drive = rng.normal(size=(ACTIONS, DIM)).astype("float32") * 0.1
states = rng.normal(size=(ENVS, DIM)).astype("float32")
for update in range(12):
    memory = []
    for _ in range(HORIZON):
        actions, logp, values = act(tf.constant(states))
        following = 0.95 * states + drive[actions.numpy()] + 0.02 * rng.standard_normal(states.shape, dtype="float32")
        memory.append((states, actions.numpy(), logp.numpy(), values.numpy(), -np.square(following).mean(1)))
        states = following
    s, a, old, v, r = (np.stack(part) for part in zip(*memory))
    returns = np.zeros_like(r)
    later = v[-1]
    for t in reversed(range(HORIZON)):
        later = returns[t] = r[t] + 0.97 * later
    gain = returns - v
    gain = (gain - gain.mean()) / gain.std()
    flat = [tf.constant(p.reshape(-1, *p.shape[2:])) for p in (s, a, old, returns, gain)]
    loss = learn(*flat)
    if update % 4 == 3:
        print(update + 1, "loss", round(float(loss), 3), "reward", round(float(r.mean()), 3))
