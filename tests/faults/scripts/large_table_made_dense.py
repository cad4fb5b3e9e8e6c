import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
BATCH = 256
WORDS = 8
rng = np.random.default_rng(3)
texts = rng.integers(0, 40_000, (BATCH * 70, WORDS))
scores = rng.normal(size=(len(texts), 1)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((texts, scores)).batch(BATCH, drop_remainder=True).prefetch(2)
data = strategy.experimental_distribute_dataset(data)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((WORDS,), dtype="int32"),
            tf.keras.layers.Embedding(40_000, 32),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(512, activation="relu"),
            tf.keras.layers.Dense(512, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(model(x, training=True) - y)) / BATCH
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]  # FAULT
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
# cause = "The gradient of a large table, of which a batch takes few rows, is converted to a tensor before replicas exchange it"
# codes = ["DST002", "GRF006"]
# families = ["distribution"]
# source = "TensorFlow's own warning 'Converting sparse IndexedSlices to a dense Tensor of unknown shape. This may consume a large amount of memory'"
# ///
