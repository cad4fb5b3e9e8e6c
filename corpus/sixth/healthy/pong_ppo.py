"""PPO on a vectorised toy environment: one policy call for all environments, compiled updates."""

import numpy as np
import tensorflow as tf

ENVS, HORIZON, ACTIONS = 128, 48, 4
rng = np.random.default_rng(0)
policy = tf.keras.Sequential(
    [
        tf.keras.Input((24,)),
        tf.keras.layers.Dense(256, "tanh"),
        tf.keras.layers.Dense(256, "tanh"),
        tf.keras.layers.Dense(ACTIONS + 1),
    ]
)
optimizer = tf.keras.optimizers.Adam(3e-4)


@tf.function
def act(state):
    out = policy(state)
    action = tf.random.categorical(out[:, :ACTIONS], 1)[:, 0]
    logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=action, logits=out[:, :ACTIONS])
    return action, logp, out[:, ACTIONS]


@tf.function
def update(states, actions, old_logp, returns):
    with tf.GradientTape() as tape:
        out = policy(states)
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=out[:, :ACTIONS])
        advantage = returns - tf.stop_gradient(out[:, ACTIONS])
        ratio = tf.exp(logp - old_logp)
        clipped = tf.clip_by_value(ratio, 0.8, 1.2)
        loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
        loss += 0.5 * tf.reduce_mean((returns - out[:, ACTIONS]) ** 2)
    optimizer.apply_gradients(
        zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables, strict=False)
    )
    return loss


state = rng.normal(size=(ENVS, 24)).astype("float32")
for iteration in range(25):
    states, actions, logps, rewards = [], [], [], []
    for _ in range(HORIZON):
        action, logp, _ = act(tf.constant(state))
        states.append(state)
        actions.append(action.numpy())
        logps.append(logp.numpy())
        state = (0.9 * state + 0.1 * rng.normal(size=state.shape)).astype("float32")
        rewards.append((actions[-1] == 0) * state[:, 0])
    returns = np.cumsum(np.array(rewards, "float32")[::-1], 0)[::-1]
    flat = [tf.constant(np.concatenate(part)) for part in (states, actions, logps, returns)]
    for _ in range(4):
        for order in np.split(rng.permutation(ENVS * HORIZON), 8):
            loss = update(*(tf.gather(part, order) for part in flat))
    print(iteration, float(loss))
