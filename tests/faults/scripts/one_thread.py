import numpy as np
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(1)  # FAULT
tf.config.threading.set_inter_op_parallelism_threads(1)  # FAULT

rng = np.random.default_rng(4)
x = rng.normal(size=(1024, 1024)).astype(np.float32)
y = rng.integers(0, 20, 1024)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(256).cache().repeat()

model = tf.keras.Sequential(
    [
        tf.keras.Input((1024,)),
        tf.keras.layers.Dense(1024, activation="relu"),
        tf.keras.layers.Dense(1024, activation="relu"),
        tf.keras.layers.Dense(20),
    ]
)
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(features, labels):
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for number, (features, labels) in enumerate(data.take(250)):
    loss = train_step(features, labels)
print("loss after", number + 1, "steps:", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "intra_op_parallelism_threads is 1, so half of the machine is idle"
# codes = ["DEV004"]
# families = ["device"]
# source = "GitHub, tensorflow/tensorflow #31128 (thread settings) and #34717 'How to boost speed for cpu in TF2?'"
# renamed = true
# ///
