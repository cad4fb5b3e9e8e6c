"""Fit a value network to rollouts of a fixed policy in a simulated cart, all in compiled functions."""

import tensorflow as tf

CARTS, STEPS, WIDTH = 128, 500, 16
tf.random.set_seed(0)
dynamics = tf.random.normal([WIDTH, WIDTH], stddev=0.2)
policy = tf.random.normal([WIDTH, WIDTH], stddev=0.1)
value = tf.keras.Sequential([tf.keras.Input((WIDTH,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)


def rollout(state):
    states = tf.zeros([0, CARTS, WIDTH])
    for _ in tf.range(STEPS):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(states, tf.TensorShape([None, CARTS, WIDTH]))],
        )
        state = tf.tanh(tf.matmul(state, dynamics) + tf.matmul(state, policy))
        states = tf.concat([states, state[None]], axis=0)  # FAULT
    return states


@tf.function
def train_step(start):
    states = rollout(start)
    returns = tf.reduce_mean(states, axis=2, keepdims=True)
    with tf.GradientTape() as tape:
        guess = value(tf.reshape(states[::10], [-1, WIDTH]))
        loss = tf.reduce_mean(tf.square(guess - tf.reshape(returns[::10], [-1, 1])))
    gradients = tape.gradient(loss, value.trainable_variables)
    optimizer.apply_gradients(zip(gradients, value.trainable_variables))
    return loss


for step in range(80):
    loss = train_step(tf.random.normal([CARTS, WIDTH]))
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A loop in a compiled function appends to a tensor, which is copied whole in each iteration"
# codes = ["GRF034"]
# families = ["graph"]
# source = "tensorflow.org API page of tf.TensorArray, which is for dynamic iteration with while loops; questions on tf.concat and shape_invariants in tf.while_loop, such as GitHub, google-deepmind/graph_nets #57"
# ///
