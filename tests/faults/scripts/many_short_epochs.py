import numpy as np
import tensorflow as tf

rng = np.random.default_rng(29)
doses = rng.uniform(0, 8, size=(120, 2)).astype("float32")
responses = (np.tanh(doses[:, :1] - 3) + 0.2 * doses[:, 1:]).astype("float32")

curve = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(12, "tanh"), tf.keras.layers.Dense(1)])
curve.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="mse")
fitted = curve.fit(doses, responses, batch_size=60, epochs=500, verbose=0)  # FAULT
print("loss", fitted.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "Five hundred epochs of two batches: an iterator, the metrics and the callbacks begin again for each"
# codes = ["STP010"]
# families = ["step"]
# source = "Stack Overflow questions on fit that takes seconds for a hundred rows; the course notebook that learns Celsius to Fahrenheit in 500 epochs"
# ///
