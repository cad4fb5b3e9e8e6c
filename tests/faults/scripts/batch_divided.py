import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4
)
strategy = tf.distribute.MirroredStrategy([f"CPU:{number}" for number in range(4)])
BATCH = 32  # FAULT
rng = np.random.default_rng(17)
spectra = rng.normal(size=(BATCH * 150, 256)).astype(np.float32)
doses = rng.normal(size=(len(spectra), 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((spectra, doses)).batch(BATCH, drop_remainder=True).repeat(2)
data = strategy.experimental_distribute_dataset(data.prefetch(tf.data.AUTOTUNE))

with strategy.scope():
    layers = [tf.keras.layers.Dense(512, activation="relu") for _ in range(3)]
    model = tf.keras.Sequential([tf.keras.Input((256,)), *layers, tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(model(x, training=True) - y)) / BATCH
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(x, y):
    losses = strategy.run(replica_step, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for x, y in data:
    loss = train_step(x, y)
print("loss", float(loss))

# /// fault
# style = "distributed"
# kind = "time"
# cause = "Four replicas divide a batch that was chosen for one device"
# codes = ["DST005"]
# families = ["distribution"]
# source = "tensorflow.org guide 'Distributed training with TensorFlow': the batch size is scaled by num_replicas_in_sync; Stack Overflow questions on MirroredStrategy that gains nothing"
# ///
