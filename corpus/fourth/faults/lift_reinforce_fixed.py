"""Policy gradient (REINFORCE with a baseline) for a simulated group of lifts, all in compiled steps."""
import numpy as np
import tensorflow as tf

HORIZON = 2000
ENVS = 4
GAMMA = 0.99

tf.keras.utils.set_random_seed(23)
policy = tf.keras.Sequential([tf.keras.layers.Dense(48, "tanh"), tf.keras.layers.Dense(4)])
critic = tf.keras.Sequential([tf.keras.layers.Dense(48, "tanh"), tf.keras.layers.Dense(1)])
policy.build((HORIZON, ENVS, 10))
critic.build((HORIZON, ENVS, 10))
adam = tf.keras.optimizers.Adam(3e-3)
weights = policy.trainable_variables + critic.trainable_variables


AHEAD = np.arange(HORIZON)[None, :] - np.arange(HORIZON)[:, None]
DISCOUNTS = tf.constant(np.where(AHEAD >= 0, GAMMA ** np.maximum(AHEAD, 0), 0.0).astype("float32"))


def returns_of(rewards):
    """Discounted sums of the rewards to come; time comes first."""
    return tf.matmul(DISCOUNTS, rewards)


@tf.function
def improve(states, actions, rewards):
    returns = returns_of(rewards)
    returns = (returns - tf.reduce_mean(returns)) / (tf.math.reduce_std(returns) + 1e-6)
    with tf.GradientTape() as tape:
        logits = policy(states)
        values = critic(states)[..., 0]
        picked = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        advantage = returns - tf.stop_gradient(values)
        loss = tf.reduce_mean(picked * advantage) + 0.5 * tf.reduce_mean(tf.square(values - returns))
    adam.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


def rollout(rng, drift):
    """Stands for the simulator: states, the actions taken and what they brought."""
    noise = rng.standard_normal((HORIZON, ENVS, 10), dtype="float32")
    states = 0.2 * noise + np.sin(drift + np.arange(HORIZON, dtype="float32") / 60)[:, None, None]
    actions = np.argmax(states[..., :4] + noise[..., 4:8], -1).astype("int32")
    rewards = -np.abs(states[..., 0]) + 0.1 * (actions == 2)
    return states, actions, rewards.astype("float32")


if __name__ == "__main__":
    rng = np.random.default_rng(23)
    for update in range(300):
        loss = improve(*(tf.constant(part) for part in rollout(rng, 0.1 * update)))
        if update % 60 == 0:
            print(update, round(float(loss), 3))
