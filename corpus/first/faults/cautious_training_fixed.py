"""Custom loop that can be resumed after the machine is pre-empted."""
import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=420)
parser.add_argument("--width", type=int, default=256)
args = parser.parse_args()

tf.keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
X = rng.normal(size=(6400, 40)).astype("float32")
Y = (X[:, :5].sum(axis=1) > 0).astype("int32")

model = tf.keras.Sequential([
    tf.keras.layers.Input((40,)),
    tf.keras.layers.Dense(args.width, activation="relu"),
    tf.keras.layers.Dense(args.width, activation="relu"),
    tf.keras.layers.Dense(2),
])
opt = tf.keras.optimizers.SGD(0.05, momentum=0.9)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


workdir = tempfile.mkdtemp()
ckpt = tf.train.Checkpoint(model=model, opt=opt)
manager = tf.train.CheckpointManager(ckpt, workdir, max_to_keep=3)
data = tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(64).prefetch(2)

for step, (xb, yb) in enumerate(data.take(args.steps)):
    loss = train_step(xb, yb)
    if step % 100 == 99:
        manager.save(checkpoint_number=step)

print("checkpoints kept", len(manager.checkpoints), "loss %.5f" % float(loss))
tf.io.gfile.rmtree(workdir)
