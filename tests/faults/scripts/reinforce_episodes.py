import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
policy = tf.keras.Sequential(
    [
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(32, activation="tanh"),
        tf.keras.layers.Dense(32, activation="tanh"),
        tf.keras.layers.Dense(2),
    ]
)
optimizer = tf.keras.optimizers.Adam(5e-3)


def run_episode(weights):
    state, states, actions, rewards = rng.normal(0, 0.1, 4), [], [], []
    while np.abs(state).max() < 1.5 and len(states) < 200:
        h = np.tanh(np.tanh(state @ weights[0] + weights[1]) @ weights[2] + weights[3]) @ weights[4] + weights[5]
        p = 1.0 / (1.0 + np.exp(h[0] - h[1]))
        action = int(rng.random() < p)
        states.append(state.astype(np.float32))
        actions.append(action)
        rewards.append(1.0)
        state = 1.02 * state + rng.normal(0, 0.15, 4) + (0.05 if action else -0.05)
    return np.array(states), np.array(actions, np.int32), np.array(rewards, np.float32)


@tf.function
def update(states, actions, returns):  # FAULT
    with tf.GradientTape() as tape:
        logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, policy(states))
        loss = -tf.reduce_mean(logp * (returns - tf.reduce_mean(returns)))
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
    return loss


for episode in range(120):
    states, actions, rewards = run_episode(policy.get_weights())
    returns = np.cumsum(rewards[::-1])[::-1].copy()
    loss = update(tf.constant(states), tf.constant(actions), tf.constant(returns))  # FAULT
    if episode % 30 == 0:
        print(f"episode {episode}: {len(states)} steps, loss {float(loss):.3f}")
print("last loss", float(loss))

# /// fault
# style = "rl"
# kind = "time"
# cause = "Every episode has another number of steps, and each number is a new trace"
# codes = ["RET002"]
# families = ["retrace"]
# source = "GitHub, keiohta/tf2rl #99 'A lot of warning for tf.function retracing'; guide 'Better performance with tf.function'"
# renamed = true
# ///
