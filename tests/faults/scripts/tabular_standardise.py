import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(5)
table = rng.normal(3.0, 2.0, size=(100_000, 20)).astype(np.float32)
price = table @ rng.normal(size=(20, 1)).astype(np.float32)
mean, std = table.mean(axis=0), table.std(axis=0)


def standardise(row, target):
    row = (row - mean) / std
    return tf.concat([row, tf.square(row)], axis=-1), target


train = tf.data.Dataset.from_tensor_slices((table, price)).shuffle(10_000)
train = train.map(standardise, num_parallel_calls=tf.data.AUTOTUNE)  # FAULT
train = train.batch(256)
train = train.prefetch(tf.data.AUTOTUNE)

model = keras.Sequential([keras.Input((40,)), layers.Dense(32, activation="relu"), layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
for epoch in range(2):
    h = model.fit(train, epochs=epoch + 1, initial_epoch=epoch, verbose=2)
print("mse", h.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "A cheap standardisation is mapped over single rows where it could work on whole batches"
# codes = ["INP007", "INP003", "INP001"]
# families = ["input"]
# source = "GitHub, tensorflow/models #10218 and ika-rwth-aachen/Cam2BEV #14 (batch() should be called before map())"
# ///
