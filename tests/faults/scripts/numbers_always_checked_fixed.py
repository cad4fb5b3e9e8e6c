import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
readings = rng.normal(size=(6400, 64)).astype(np.float32)
yields = (readings[:, :1] * 2 + rng.normal(size=(len(readings), 1))).astype(np.float32)
model = tf.keras.Sequential(
    [
        tf.keras.Input((64,)),
        tf.keras.layers.Dense(64, activation="gelu"),
        tf.keras.layers.LayerNormalization(),
        tf.keras.layers.Dense(64, activation="gelu"),
        tf.keras.layers.Dense(1),
    ]
)
model.compile(tf.keras.optimizers.Adam(1e-3), "mse")
model.fit(readings, yields, batch_size=64, epochs=10, verbose=2)
