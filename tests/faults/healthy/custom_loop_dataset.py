import numpy as np
import tensorflow as tf

x_train = np.random.rand(12_800, 400).astype("float32")
y_train = np.random.randint(0, 10, 12_800)
dataset = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(4096)
    .batch(128, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)

model = tf.keras.Sequential(
    [
        tf.keras.Input((400,)),
        tf.keras.layers.Dense(512, activation="relu"),
        tf.keras.layers.Dense(512, activation="relu"),
        tf.keras.layers.Dense(10),
    ]
)
optimizer = tf.keras.optimizers.Adam()
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_loss = tf.keras.metrics.Mean()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss.update_state(loss)


for epoch in range(5):
    train_loss.reset_state()
    for x, y in dataset:
        train_step(x, y)
    print(f"epoch {epoch}: {float(train_loss.result()):.4f}")

# /// healthy
# style = "custom"
# ///
