"""Converts a folder of recordings to TFRecord shards of log-mel features."""
import os
import tempfile
import wave
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf

RATE = 8000
MEL = tf.signal.linear_to_mel_weight_matrix(40, 129, RATE, 60.0, 3800.0)


def record_voice(path, seconds, rng):
    t = np.arange(int(seconds * RATE)) / RATE
    pitch = rng.uniform(90, 240)
    sig = sum(np.sin(2 * np.pi * pitch * h * t) / h for h in range(1, 8))
    sig = sig * (0.6 + 0.4 * np.sin(2 * np.pi * rng.uniform(1, 4) * t))
    sig = sig + rng.normal(0, 0.05, len(t))
    pcm = (sig / np.abs(sig).max() * 30000).astype("<i2")
    with wave.open(path, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(RATE)
        w.writeframes(pcm.tobytes())


def float_feature(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def int_feature(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))


@tf.function(reduce_retracing=True)
def features(content):
    audio, _ = tf.audio.decode_wav(content, desired_channels=1)
    frames = tf.signal.stft(audio[:, 0], frame_length=256, frame_step=80)
    mel = tf.matmul(tf.square(tf.abs(frames)), MEL)
    logmel = tf.math.log(mel + 1e-5)
    return (logmel - tf.reduce_mean(logmel, 0)) / (tf.math.reduce_std(logmel, 0) + 1e-3)


class Converter:
    def __init__(self, out_dir, shards):
        self.out_dir = out_dir
        self.shards = shards

    def example(self, path):
        spec = features(tf.io.read_file(path))
        feature = {
            "name": bytes_feature(os.path.basename(path)),
            "shape": int_feature(spec.shape.as_list()),
            "logmel": float_feature(tf.reshape(spec, [-1])),
        }
        return tf.train.Example(features=tf.train.Features(feature=feature))

    def convert(self, paths):
        written = []
        for shard in range(self.shards):
            target = os.path.join(self.out_dir, f"audio-{shard:02d}-of-{self.shards:02d}.tfrecord")
            with tf.io.TFRecordWriter(target) as writer:
                for path in paths[shard :: self.shards]:
                    writer.write(self.example(path).SerializeToString())
            written.append(target)
        return written


def summary(files):
    keys = {
        "shape": tf.io.FixedLenFeature([2], tf.int64),
        "logmel": tf.io.VarLenFeature(tf.float32),
    }
    n, total, frames = 0, 0.0, 0
    for raw in tf.data.TFRecordDataset(files):
        ex = tf.io.parse_single_example(raw, keys)
        values = tf.sparse.to_dense(ex["logmel"]).numpy()
        n += 1
        frames += int(ex["shape"][0])
        total += float(np.abs(values).sum())
    return n, frames, total


def main():
    rng = np.random.default_rng(16)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"call{i:02d}.wav") for i in range(5)]
        lengths = [rng.uniform(2.0, 2.6) for _ in paths]
        seeds = [np.random.default_rng(s) for s in rng.integers(0, 1 << 30, len(paths))]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(record_voice, paths, lengths, seeds))
        files = Converter(folder, shards=3).convert(paths)
        n, frames, total = summary(files)
    print("examples", n, "shards", len(files), "frames", frames)
    print("mean abs %.4f" % (total / frames / 40))


if __name__ == "__main__":
    main()
