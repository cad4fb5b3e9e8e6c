"""Sensitivity of arm tip positions to joint angles."""
import numpy as np
import tensorflow as tf

JOINTS, POSES = 6, 130
lengths = tf.constant(np.linspace(1.0, 0.3, JOINTS), tf.float32)


def tip(angles):
    total = tf.cumsum(angles, axis=-1)
    x = tf.reduce_sum(lengths * tf.cos(total), axis=-1)
    y = tf.reduce_sum(lengths * tf.sin(total), axis=-1)
    z = tf.reduce_sum(lengths * tf.sin(0.5 * total) * tf.cos(angles), axis=-1)
    return tf.stack([x, y, z, x * y, y * z], axis=-1)


@tf.function
def sensitivity(angles):
    with tf.GradientTape() as tape:
        tape.watch(angles)
        where = tip(angles)
    return tape.batch_jacobian(where, angles)


poses = tf.constant(np.random.default_rng(110).uniform(-1, 1, size=(POSES, JOINTS)), tf.float32)
condition = []
for j in sensitivity(poses).numpy():
    s = np.linalg.svd(j, compute_uv=False)
    condition.append(s[0] / s[2])
print("poses", len(condition), "median condition %.4f" % np.median(condition))
