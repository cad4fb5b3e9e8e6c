import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["CPU:0"])
x = np.random.rand(12_800, 256).astype("float32")
y = np.random.rand(12_800, 1).astype("float32")
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048).batch(256).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((256,)),
            tf.keras.layers.Dense(768, activation="relu"),
            tf.keras.layers.Dense(768, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")

history = model.fit(train, epochs=6, verbose=2)
print("replicas", strategy.num_replicas_in_sync, "loss", history.history["loss"][-1])

# /// healthy
# style = "distributed"
# ///
