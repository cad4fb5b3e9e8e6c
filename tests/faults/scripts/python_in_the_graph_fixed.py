import numpy as np
import tensorflow as tf

rng = np.random.default_rng(14)
sequences = rng.normal(size=(4096, 48)).astype(np.float32)
scale = np.linspace(1.0, 0.2, 48, dtype=np.float32)

net = tf.keras.Sequential(
    [
        tf.keras.Input((48,)),
        tf.keras.layers.Dense(96, activation="relu"),
        tf.keras.layers.Dense(48),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        error = net(batch, training=True) - batch
        order = tf.argsort(tf.argsort(tf.abs(error), direction="DESCENDING"))
        weight = tf.gather(scale, order)
        loss = tf.reduce_mean(tf.ensure_shape(weight, (None, 48)) * error**2)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(sequences).shuffle(4096).batch(128).prefetch(2)
for epoch in range(20):
    for batch in data:
        loss = train_step(batch)
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", float(loss))
print("loss", float(loss))
