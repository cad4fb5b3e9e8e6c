"""A student learns from a frozen teacher: its outputs, their mean, and how often both agree."""

import tensorflow as tf
from tensorflow.keras import layers

BATCH = 128


def network(width):
    return tf.keras.Sequential(
        [
            layers.Input((256,)),
            layers.Dense(width, activation="relu"),
            layers.BatchNormalization(),
            layers.Dense(width, activation="relu"),
            layers.Dense(64),
        ]
    )


teacher, student = network(1024), network(128)
teacher.trainable = False
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def ask(x):
    return teacher(x, training=False)


def drift(wanted, guess):
    return tf.reduce_mean(tf.abs(tf.reduce_mean(wanted, 0) - tf.reduce_mean(guess, 0)))


@tf.function
def train_step(x):
    wanted = ask(x)
    with tf.GradientTape() as tape:
        guess = student(x, training=True)
        loss = tf.reduce_mean((guess - wanted) ** 2) + 0.1 * drift(wanted, guess)
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    agree = tf.reduce_mean(tf.cast(tf.argmax(wanted, 1) == tf.argmax(guess, 1), tf.float32))
    return loss, agree


rows = tf.random.normal((12800, 256))
data = tf.data.Dataset.from_tensor_slices(rows).batch(BATCH, drop_remainder=True).cache().prefetch(2)
for epoch in range(5):
    for x in data:
        loss, agree = train_step(x)
print("loss", float(loss), "agree", float(agree))
