"""Delay model from TFRecord shards: examples are parsed by the batch, cached after the first epoch."""
import os
import tempfile

import numpy as np
import tensorflow as tf

PARTS = {"stops": tf.io.FixedLenFeature([40], tf.float32), "delay": tf.io.FixedLenFeature([1], tf.float32)}


class Shards:
    def __init__(self, folder, count=4, rows=3000):
        rng = np.random.default_rng(0)
        self.pattern = os.path.join(folder, "rail-*.tfrecord")
        for shard in range(count):
            with tf.io.TFRecordWriter(self.pattern.replace("*", str(shard))) as out:
                for stops in rng.random((rows, 40)):
                    values = {"stops": stops, "delay": [stops[:10].sum()]}
                    out.write(tf.train.Example(features=tf.train.Features(feature={
                        k: tf.train.Feature(float_list=tf.train.FloatList(value=v)) for k, v in values.items()
                    })).SerializeToString())

    def dataset(self, batch):
        names = tf.data.Dataset.list_files(self.pattern, seed=7)
        rows = names.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)
        rows = rows.batch(batch).map(self.parse, num_parallel_calls=tf.data.AUTOTUNE).cache()
        return rows.shuffle(50).prefetch(tf.data.AUTOTUNE)

    @staticmethod
    def parse(texts):
        parts = tf.io.parse_example(texts, PARTS)
        return parts["stops"], parts["delay"]


def main():
    tf.keras.utils.set_random_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        data = Shards(folder).dataset(256)
        layers = [tf.keras.layers.Dense(768, activation="relu") for _ in range(3)]
        model = tf.keras.Sequential([tf.keras.layers.Input((40,)), *layers, tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.Adam(5e-4), "mae", steps_per_execution=4)
        model.fit(data, epochs=6, verbose=2)


if __name__ == "__main__":
    main()
