import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
strategy = tf.distribute.MirroredStrategy()  # FAULT
generator = np.random.default_rng(11)
sensors = generator.normal(size=(64 * 450, 24)).astype(np.float32)
labels = (sensors[:, :6].sum(axis=1) > 0).astype(np.int64)
dataset = tf.data.Dataset.from_tensor_slices((sensors, labels)).shuffle(4096, seed=5).batch(64, drop_remainder=True)
dataset = strategy.experimental_distribute_dataset(dataset.prefetch(tf.data.AUTOTUNE))

with strategy.scope():
    classifier = tf.keras.Sequential(
        [tf.keras.Input((24,)), tf.keras.layers.Dense(48, activation="relu"), tf.keras.layers.Dense(2)]
    )
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(classifier.trainable_variables)
entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


def replica_step(rows, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(entropy(targets, classifier(rows, training=True))) / 64
    gradients = tape.gradient(loss, classifier.trainable_variables)
    optimizer.apply_gradients(zip(gradients, classifier.trainable_variables))
    return loss


@tf.function
def train_step(rows, targets):
    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica_step, args=(rows, targets)), axis=None)


for epoch in range(4):
    for rows, targets in dataset:
        loss = train_step(rows, targets)
    print("epoch", epoch, "loss", float(loss))

# /// fault
# style = "distributed"
# kind = "time"
# cause = "A MirroredStrategy around small steps on a machine with one device"
# codes = ["DST004"]
# families = ["distribution"]
# source = "a question asked again and again: MirroredStrategy with one GPU is slower than without"
# ///
