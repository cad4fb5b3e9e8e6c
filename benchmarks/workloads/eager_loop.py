"""A small Keras model trained eagerly: hundreds of operations a step."""

import sys

import tensorflow as tf
from timing import run

MODEL = tf.keras.Sequential([tf.keras.layers.Input((16,)), tf.keras.layers.Dense(32), tf.keras.layers.Dense(1)])
OPTIMIZER = tf.keras.optimizers.Adam()
X = tf.random.normal([32, 16])


def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(MODEL(X, training=True) ** 2)
    OPTIMIZER.apply(tape.gradient(loss, MODEL.trainable_variables), MODEL.trainable_variables)


run(step, int(sys.argv[1]))
