import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(8)
boxes = np.random.rand(960, 4).astype("float32")
images = np.random.rand(960, 100).astype("float32")

net = keras.Sequential([keras.Input((100,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(4)])
sgd = keras.optimizers.SGD(0.05)


def box_loss(true, predicted):
    low = tf.maximum(true[:2], predicted[:2])
    high = tf.minimum(true[:2] + true[2:], predicted[:2] + predicted[2:])
    overlap = tf.reduce_prod(tf.maximum(high - low, 0.0))
    union = tf.reduce_prod(true[2:]) + tf.reduce_prod(tf.abs(predicted[2:])) - overlap
    return 1.0 - overlap / (union + 1e-6) + tf.reduce_sum(tf.abs(true - predicted))


def train(batch_x, batch_y):  # FAULT
    with tf.GradientTape() as tape:
        predicted = net(batch_x, training=True)
        loss = 0.0
        for i in range(batch_x.shape[0]):  # FAULT
            loss += box_loss(batch_y[i], predicted[i])  # FAULT
        loss /= batch_x.shape[0]
    sgd.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))  # FAULT
    return loss


for start in range(0, 960, 16):
    loss = train(tf.constant(images[start : start + 16]), tf.constant(boxes[start : start + 16]))
    if start % 160 == 0:
        print("at", start, "loss", float(loss))
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The loss is computed in a Python loop over the examples of the batch"
# codes = ["EAG005", "EAG001"]
# families = ["eager"]
# source = "class 'no batch API used' of arXiv 2112.01771; Stack Overflow questions on a custom loss with a for loop over the batch"
# renamed = true
# ///
