import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
BATCH = 128
rng = np.random.default_rng(5)
inputs = rng.normal(size=(BATCH * 30, 64)).astype(np.float32)
targets = rng.normal(size=(len(inputs), 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(BATCH, drop_remainder=True).prefetch(2)
data = strategy.experimental_distribute_dataset(data)

with strategy.scope():
    layers = [tf.keras.layers.Dense(64, activation="relu") for _ in range(2)]
    model = tf.keras.Sequential([tf.keras.Input((64,)), *layers, tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.05)
    optimizer.build(model.trainable_variables)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(model(x, training=True) - y)) / BATCH
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def train_step(x, y):  # FAULT
    losses = strategy.run(replica_step, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for x, y in data:
    loss = train_step(x, y)
print("loss", float(loss))

# /// fault
# style = "distributed"
# kind = "time"
# cause = "strategy.run is called from Python, so each replica's step and the exchange between them run operation by operation"
# codes = ["EAG001"]
# families = ["eager"]
# source = "TensorFlow's own warning 'Using MirroredStrategy eagerly has significant overhead currently'; tensorflow.org guide 'Custom training with tf.distribute.Strategy'"
# ///
