import numpy as np
import tensorflow as tf

strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
BATCH = 128
rng = np.random.default_rng(2)
features = rng.normal(size=(6400, 512)).astype(np.float32)
classes = rng.integers(0, 8, 6400)
dataset = tf.data.Dataset.from_tensor_slices((features, classes)).shuffle(6400).batch(BATCH, drop_remainder=True)
dataset = strategy.experimental_distribute_dataset(dataset.prefetch(tf.data.AUTOTUNE))

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((512,)),
            tf.keras.layers.Dense(640, activation="relu"),
            tf.keras.layers.Dense(640, activation="relu"),
            tf.keras.layers.Dense(8),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        loss = tf.nn.compute_average_loss(per_example, global_batch_size=BATCH)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


@tf.function
def train_step(batch):
    losses = strategy.run(replica_step, args=batch)
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for epoch in range(7):
    for batch in dataset:
        loss = train_step(batch)
    print("epoch", epoch, "loss", float(loss))

# /// healthy
# style = "distributed"
# ///
