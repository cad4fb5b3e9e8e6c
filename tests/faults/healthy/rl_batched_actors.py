"""Actor-critic on sixty-four vectorised copies of a balancing task."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
ENVS, HORIZON = 64, 32

inputs = tf.keras.Input((4,))
h = tf.keras.layers.Dense(256, activation="tanh")(inputs)
h = tf.keras.layers.Dense(256, activation="tanh")(h)
model = tf.keras.Model(inputs, [tf.keras.layers.Dense(2)(h), tf.keras.layers.Dense(1)(h)])
optimizer = tf.keras.optimizers.Adam(1e-3)
DRIFT = tf.constant([[1.02, 0.05, 0.0, 0.0], [0.0, 1.02, 0.05, 0.0], [0.0, 0.0, 1.02, 0.05], [0.0, 0.0, 0.0, 1.0]])
PUSH = tf.constant([[0.0, -0.05, 0.0, 0.05]])


@tf.function
def train(state):
    states = tf.TensorArray(tf.float32, HORIZON)
    actions = tf.TensorArray(tf.int32, HORIZON)
    rewards = tf.TensorArray(tf.float32, HORIZON)
    for t in tf.range(HORIZON):
        logits, _ = model(state)
        action = tf.random.categorical(logits, 1, dtype=tf.int32)[:, 0]
        states, actions = states.write(t, state), actions.write(t, action)
        state = tf.clip_by_value(state @ DRIFT + PUSH * (2.0 * tf.cast(action, tf.float32)[:, None] - 1.0), -2.0, 2.0)
        rewards = rewards.write(t, 1.0 - tf.abs(state[:, 0]))
    returns = tf.cumsum(rewards.stack(), axis=0, reverse=True) / float(HORIZON)
    with tf.GradientTape() as tape:
        logits, value = model(tf.reshape(states.stack(), (ENVS * HORIZON, 4)))
        advantage = tf.reshape(returns, (-1,)) - value[:, 0]
        chosen = tf.reshape(actions.stack(), (-1,))
        policy = tf.nn.sparse_softmax_cross_entropy_with_logits(chosen, logits)
        loss = tf.reduce_mean(policy * tf.stop_gradient(advantage) + advantage**2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss, state


state = tf.constant(rng.normal(0, 0.1, (ENVS, 4)), tf.float32)
for update in range(120):
    loss, state = train(state)
    if update % 30 == 0:
        print("update", update, "loss", float(loss))

# /// healthy
# style = "rl"
# renamed = true
# ///
