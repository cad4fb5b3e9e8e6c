"""REINFORCE on a batch of toy environments stepped inside of the graph."""

import tensorflow as tf

ENVS, HORIZON, OBS, ACTIONS = 512, 40, 16, 4
tf.random.set_seed(1)
policy = tf.keras.Sequential(
    [
        tf.keras.Input((OBS,)),
        tf.keras.layers.Dense(256, activation="tanh"),
        tf.keras.layers.Dense(256, activation="tanh"),
        tf.keras.layers.Dense(ACTIONS),
    ]
)
adam = tf.keras.optimizers.Adam(3e-4)
push = tf.random.normal((ACTIONS, OBS)) * 0.3


@tf.function
def rollout():
    seen = tf.TensorArray(tf.float32, HORIZON)
    done = tf.TensorArray(tf.int32, HORIZON)
    paid = tf.TensorArray(tf.float32, HORIZON)
    obs = tf.random.normal((ENVS, OBS))
    for t in tf.range(HORIZON):
        action = tf.random.categorical(policy(obs), 1, dtype=tf.int32)[:, 0]
        seen = seen.write(t, obs)
        done = done.write(t, action)
        obs = 0.95 * obs + tf.gather(push, action)
        paid = paid.write(t, -tf.reduce_mean(tf.abs(obs), 1))
    gain = tf.cumsum(paid.stack(), axis=0, reverse=True)
    return seen.stack(), done.stack(), gain


@tf.function
def improve(obs, action, gain):
    advantage = gain - tf.reduce_mean(gain, axis=1, keepdims=True)
    with tf.GradientTape() as tape:
        logits = policy(tf.reshape(obs, (-1, OBS)))
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(action, (-1,)), logits)
        loss = tf.reduce_mean(nll * tf.reshape(advantage, (-1,)))
    grads = tape.gradient(loss, policy.trainable_variables)
    adam.apply_gradients(zip(grads, policy.trainable_variables, strict=False))
    return tf.reduce_mean(gain[0])


for i in range(35):
    value = improve(*rollout())
    if i % 10 == 0:
        print(i, f"{value.numpy():.3f}")
