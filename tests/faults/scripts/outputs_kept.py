import numpy as np
import tensorflow as tf

x = np.random.rand(4096, 128).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices(x).shuffle(4096).batch(256, drop_remainder=True).prefetch(2)

encoder = tf.keras.Sequential([tf.keras.Input((128,)), tf.keras.layers.Dense(1024, activation="relu")])
decoder = tf.keras.Sequential([tf.keras.Input((1024,)), tf.keras.layers.Dense(128)])
optimizer = tf.keras.optimizers.Adam()
variables = encoder.trainable_variables + decoder.trainable_variables


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        code = encoder(batch, training=True)
        loss = tf.reduce_mean((decoder(code, training=True) - batch) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss, code


losses, codes = [], []
for epoch in range(25):
    for batch in data:
        loss, code = train_step(batch)
        losses.append(loss)
        codes.append(code)  # FAULT
    print("epoch", epoch, "loss", float(losses[-1]), "mean code", float(tf.reduce_mean(codes[-1])))

# /// fault
# style = "custom"
# kind = "memory"
# cause = "The activations of every step are kept in a list, so memory grows without end"
# codes = ["MEM001"]
# families = ["memory"]
# source = "GitHub, TRI-ML/packnet-sfm #51 'Fix memory leak' (loss tensors in an output list) and StanfordASL/neural-network-lyapunov #140"
# ///
