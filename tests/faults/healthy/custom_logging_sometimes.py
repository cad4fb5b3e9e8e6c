import tempfile

import numpy as np
import tensorflow as tf

log_dir = tempfile.mkdtemp()
writer = tf.summary.create_file_writer(log_dir)
x = np.random.rand(9600, 500).astype(np.float32)
y = np.random.rand(9600, 4).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(9600).batch(96).prefetch(tf.data.AUTOTUNE)

net = tf.keras.Sequential(
    [
        tf.keras.Input((500,)),
        tf.keras.layers.Dense(600, activation="relu"),
        tf.keras.layers.Dense(600, activation="relu"),
        tf.keras.layers.Dense(4),
    ]
)
opt = tf.keras.optimizers.SGD(0.05, momentum=0.9)
checkpoint = tf.train.Checkpoint(net=net, opt=opt)
manager = tf.train.CheckpointManager(checkpoint, log_dir, max_to_keep=2)


@tf.function
def step_fn(features, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(features, training=True) - target) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


number = 0
for epoch in range(4):
    for features, target in data:
        loss = step_fn(features, target)
        number += 1
        if number % 50 == 0:
            with writer.as_default():
                tf.summary.scalar("loss", loss, step=number)
    manager.save()
    print("epoch", epoch, "loss", float(loss))

# /// healthy
# style = "custom"
# ///
