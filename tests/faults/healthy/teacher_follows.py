"""Learns from few labels with a teacher whose weights follow the student's: each step asks the newest one."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

WIDE, LONG, CLASSES, BATCH = 256, 128, 10, 512


def network():
    hidden = [keras.layers.Dense(WIDE, activation="relu") for _ in range(2)]
    return keras.Sequential([keras.Input((LONG,)), *hidden, keras.layers.Dense(CLASSES)])


keras.utils.set_random_seed(10)
rng = np.random.default_rng(10)
labels = rng.integers(0, CLASSES, 8192).astype("int32")
signals = (rng.normal(size=(8192, LONG)) + labels[:, None] / 4).astype("float32")
student, teacher = network(), network()
teacher.set_weights(student.get_weights())
optimizer = keras.optimizers.SGD(0.05)
optimizer.build(student.trainable_variables)
measure = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def learn(batch, label):
    wished = tf.nn.softmax(teacher(batch + tf.random.normal(tf.shape(batch), stddev=0.1)))
    with tf.GradientTape() as tape:
        guess = student(batch + tf.random.normal(tf.shape(batch), stddev=0.1), training=True)
        loss = measure(label[:64], guess[:64]) + tf.reduce_mean(tf.square(tf.nn.softmax(guess) - wished))
    optimizer.apply(tape.gradient(loss, student.trainable_variables), student.trainable_variables)
    for slow, quick in zip(teacher.trainable_variables, student.trainable_variables, strict=True):
        slow.assign(0.9 * slow + 0.1 * quick)
    return loss


data = tf.data.Dataset.from_tensor_slices((signals, labels)).cache().shuffle(8192).repeat()
for batch, label in data.batch(BATCH, drop_remainder=True).prefetch(2).take(300):
    loss = learn(batch, label)
print(f"loss {float(loss):.3f}")

# /// healthy
# style = "custom"
# note = "an average of its weights follows in each step, which asks the newest one"
# ///
