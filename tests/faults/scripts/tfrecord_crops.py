import pathlib
import tempfile

import numpy as np
import tensorflow as tf

BATCH = 16
record_file = str(pathlib.Path(tempfile.mkdtemp()) / "crops.tfrecord")


def write_records(n):
    rng = np.random.default_rng(1)
    with tf.io.TFRecordWriter(record_file) as writer:
        for _ in range(n):
            crop = rng.integers(0, 255, (112, 112, 3), dtype=np.uint8)
            jpeg = tf.io.encode_jpeg(crop).numpy()
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(rng.integers(10))])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(
        record,
        {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
        },
    )
    image = tf.image.decode_jpeg(parsed["image"], channels=3, dct_method="INTEGER_ACCURATE")
    image = tf.image.resize(image, (96, 96), method="lanczos3")
    return tf.image.per_image_standardization(image), parsed["label"]


write_records(320)
dataset = tf.data.TFRecordDataset(record_file).shuffle(320)
dataset = dataset.map(parse)  # FAULT
dataset = dataset.batch(BATCH, drop_remainder=True).prefetch(2)

net = tf.keras.Sequential(
    [
        tf.keras.layers.Input((96, 96, 3)),
        tf.keras.layers.AveragePooling2D(8),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(10),
    ]
)
optimizer = tf.keras.optimizers.SGD(0.01)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, net(x, training=True))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for epoch in range(8):
    for x, y in dataset:
        loss = train_step(x, y)
    print(f"epoch {epoch}: loss {float(loss):.4f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "Records are parsed and their images decoded by a map that works on one at a time"
# codes = ["INP003", "INP001"]
# families = ["input"]
# source = "GitHub, akanyaani/gpt-2-tensorflow2.0 #22 'Performance issues in data_pipeline.py' (map(parse_example) without num_parallel_calls)"
# ///
