import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
data = rng.normal(size=(4096, 24)).astype("float32")
target = data @ rng.normal(size=(24, 1)).astype("float32")
net = tf.keras.Sequential(
    [tf.keras.layers.Input((24,)), tf.keras.layers.Dense(48, activation="tanh"), tf.keras.layers.Dense(1)]
)
adam = tf.keras.optimizers.Adam(1e-3)


@tf.function
def improve(x, y):
    with tf.GradientTape() as tape:
        errors = tf.square(net(x) - y)
        loss = tf.reduce_mean(errors)
    adam.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return errors


seen = []
for turn in range(1800):
    rows = rng.integers(0, len(data), 64)
    errors = improve(data[rows], target[rows])
    seen.extend(errors.numpy()[:, 0].tolist())
    worst = max(seen)  # FAULT
    mean = sum(seen) / len(seen)  # FAULT
print("mean", round(mean, 3), "worst", round(worst, 3))

# /// fault
# style = "custom"
# kind = "time"
# cause = "Each step goes through the errors of all steps before it"
# codes = ["STP007", "LIN001"]
# families = ["step"]
# source = "Questions on training that gets slower and slower: GitHub, mozilla/DeepSpeech #384, tensorflow/tensorflow #40042"
# ///
