import numpy as np
import tensorflow as tf

x_train = np.random.rand(6400, 30).astype("float32")
y_train = (x_train.sum(1, keepdims=True) > 15).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(6400).batch(32).prefetch(2)

model = tf.keras.Sequential()
model.add(tf.keras.Input((30,)))
for units in (64, 64, 32):
    model.add(tf.keras.layers.Dense(units))
    model.add(tf.keras.layers.BatchNormalization())
    model.add(tf.keras.layers.ReLU())
model.add(tf.keras.layers.Dense(1))

optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3)
loss_object = tf.keras.losses.BinaryCrossentropy(from_logits=True)
train_loss = tf.keras.metrics.Mean()


def train_step(features, labels):  # FAULT
    with tf.GradientTape() as tape:
        predictions = model(features, training=True)  # FAULT
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)  # FAULT
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # FAULT
    train_loss(loss)


for epoch in range(1):
    train_loss.reset_state()
    for features, labels in dataset:
        train_step(features, labels)  # FAULT
    print("Epoch", epoch + 1, "Loss", float(train_loss.result()))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The training step is not a tf.function, so each operation is called from Python"
# codes = ["EAG001"]
# families = ["eager"]
# source = "GitHub, tensorflow/tensorflow #30596 'Very bad performance using Gradient Tape'; Stack Overflow questions on a GradientTape loop slower than fit"
# ///
