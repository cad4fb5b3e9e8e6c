import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
BATCH = 256
WIDTH = 80
rng = np.random.default_rng(3)
rows = rng.normal(size=(BATCH * 70, WIDTH)).astype(np.float32)
scores = rng.normal(size=(len(rows), 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((rows, scores)).batch(BATCH, drop_remainder=True).prefetch(2)
data = strategy.experimental_distribute_dataset(data)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((WIDTH,)),
            *(tf.keras.layers.Dense(80, activation="selu") for _ in range(40)),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(model(x, training=True) - y)) / BATCH
    gradients = tape.gradient(loss, model.trainable_variables)
    context = tf.distribute.get_replica_context()
    gradients = [context.all_reduce("SUM", gradient) for gradient in gradients]  # FAULT
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)  # of all examples
    gradients = [gradient / context.num_replicas_in_sync for gradient in gradients]  # which the optimizer adds up
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(x, y):
    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica_step, args=(x, y)), axis=None)


for epoch in range(2):
    for x, y in data:
        loss = train_step(x, y)
    print("epoch", epoch, "loss", float(loss))

# /// fault
# style = "distributed"
# kind = "time"
# cause = "Each gradient is summed over the replicas by a call of its own, so small exchanges are not packed"
# codes = ["DST003"]
# families = ["distribution"]
# source = "tensorflow.org, tf.distribute.CommunicationOptions (bytes_per_pack); Horovod's tensor fusion, made for the same"
# ///
