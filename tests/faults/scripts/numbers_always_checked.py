import numpy as np
import tensorflow as tf

tf.debugging.enable_check_numerics()  # FAULT
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

# /// fault
# style = "fit"
# kind = "time"
# cause = "tf.debugging.enable_check_numerics was left on, so the result of every operation is checked"
# codes = ["OPS006"]
# families = ["graph"]
# source = "tensorflow.org API page of tf.debugging.enable_check_numerics; GitHub questions on training that is slow with it"
# ///
