import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
GLOBAL_BATCH = 64

x = np.random.rand(3200, 20).astype("float32")
y = x[:, :2] @ np.array([[1.0], [-2.0]], dtype="float32")
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3200).batch(GLOBAL_BATCH, drop_remainder=True)
dist_dataset = strategy.experimental_distribute_dataset(dataset)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((20,)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)


def replica_step(inputs):
    features, labels = inputs
    with tf.GradientTape() as tape:
        error = tf.square(model(features, training=True) - labels)
        loss = tf.reduce_sum(error) / GLOBAL_BATCH
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def train_step(inputs):  # FAULT
    per_replica = strategy.run(replica_step, args=(inputs,))  # FAULT
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


for epoch in range(2):
    for batch in dist_dataset:
        loss = train_step(batch)  # FAULT
    print("epoch", epoch, "loss", float(loss))

# /// fault
# style = "distributed"
# kind = "time"
# cause = "strategy.run() is called outside of a tf.function"
# codes = ["EAG001"]
# families = ["eager", "distribution"]
# source = "GitHub, tensorflow/tensorflow #27195 (strategy without tf.function: 64 s against 2.6 s) and #30855"
# ///
