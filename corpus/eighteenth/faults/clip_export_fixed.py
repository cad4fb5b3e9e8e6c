"""Embeds audio-like clips and writes the vectors to TFRecord shards."""
import argparse
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class ClipEncoder(tf.Module):
    def __init__(self, bins, width, seed):
        super().__init__()
        init = tf.random.Generator.from_seed(seed)
        self.filters = tf.Variable(init.normal([9, bins, width], stddev=0.05))
        self.dense = tf.Variable(init.normal([width, width], stddev=0.05))

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def encode(self, waves):
        spec = tf.abs(tf.signal.stft(waves, 256, 128))
        h = tf.nn.conv1d(tf.math.log1p(spec), self.filters, stride=2, padding="SAME")
        h = tf.reduce_mean(tf.nn.relu(h), axis=1)
        return tf.math.l2_normalize(tf.matmul(h, self.dense), axis=-1)


def float_feature(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def int_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


class ShardWriter:
    def __init__(self, folder, per_shard):
        self.folder = folder
        self.per_shard = per_shard
        self.count = 0
        self.writer = None
        self.paths = []

    def add(self, clip_id, name, vector):
        if self.count % self.per_shard == 0:
            self.close()
            path = os.path.join(self.folder, f"clips-{len(self.paths):03d}.tfrecord")
            self.paths.append(path)
            self.writer = tf.io.TFRecordWriter(path)
        example = tf.train.Example(
            features=tf.train.Features(
                feature={
                    "id": int_feature(clip_id),
                    "name": bytes_feature(name.encode()),
                    "embedding": float_feature(vector.numpy()),
                }
            )
        )
        self.writer.write(example.SerializeToString())
        self.count += 1

    def close(self):
        if self.writer is not None:
            self.writer.close()
            self.writer = None


def checksum(paths, width):
    spec = {"embedding": tf.io.FixedLenFeature([width], tf.float32)}
    total = 0.0
    for raw in tf.data.TFRecordDataset(paths).batch(64):
        vectors = tf.io.parse_example(raw, spec)["embedding"]
        total += float(tf.reduce_sum(tf.abs(vectors)))
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clips", type=int, default=96)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch", type=int, default=16)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    encoder = ClipEncoder(129, args.width, seed=5)
    with tempfile.TemporaryDirectory() as folder:
        writer = ShardWriter(folder, per_shard=100)
        for start in range(0, args.clips, args.batch):
            waves = rng.normal(size=(args.batch, 8000)).astype(np.float32)
            vectors = encoder.encode(tf.constant(waves))
            for offset in range(args.batch):
                clip = start + offset
                writer.add(clip, f"clip_{clip:05d}", vectors[offset])
        writer.close()
        print(writer.count, "clips", len(writer.paths), "shards", round(checksum(writer.paths, args.width), 3))


if __name__ == "__main__":
    main()
