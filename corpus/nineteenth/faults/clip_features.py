import argparse
import math
import threading
import queue

import numpy as np
import tensorflow as tf


class FrontEnd:
    def __init__(self, sample_rate=16000, frame_ms=32, hop_ms=16, n_mels=64, fmin=60.0, fmax=7600.0):
        self.sample_rate = sample_rate
        self.frame = sample_rate * frame_ms // 1000
        self.hop = sample_rate * hop_ms // 1000
        self.n_mels, self.fmin, self.fmax = n_mels, fmin, fmax

    def spectrogram(self, audio):
        stft = tf.signal.stft(audio, self.frame, self.hop, fft_length=self.frame)
        return tf.abs(stft) ** 2

    def log_mel(self, audio):
        power = self.spectrogram(audio)
        mel = tf.signal.linear_to_mel_weight_matrix(
            self.n_mels, power.shape[-1], self.sample_rate, self.fmin, self.fmax)
        return tf.math.log(tf.matmul(power, mel) + 1e-6)

    def mfcc(self, audio, n=20):
        return tf.signal.mfccs_from_log_mel_spectrograms(self.log_mel(audio))[..., :n]


class FeatureExtractor:
    def __init__(self, front_end, fast=True):
        self.front_end = front_end
        self.fast = fast

    def __call__(self, audio):
        feats = self.front_end.mfcc(tf.constant(audio)).numpy()
        return np.concatenate([feats.mean(0), feats.std(0)])


def synth(seed, seconds=0.35, sample_rate=16000):
    rng = np.random.RandomState(seed)
    t = np.arange(int(seconds * sample_rate)) / sample_rate
    f0 = 80.0 * 2 ** rng.uniform(0, 3)
    wave = sum(np.sin(2 * math.pi * f0 * k * t + rng.rand()) / k for k in range(1, 6))
    return (0.1 * wave * np.exp(-4 * t) + 0.01 * rng.randn(len(t))).astype(np.float32)


def loader(seeds, out):
    for s in seeds:
        out.put((s, synth(s)))
    out.put(None)


def main():
    parser = argparse.ArgumentParser(description="MFCC statistics of a folder of short clips")
    parser.add_argument("--clips", type=int, default=400)
    args = parser.parse_args()

    clips = queue.Queue(maxsize=32)
    thread = threading.Thread(target=loader, args=(range(args.clips), clips), daemon=True)
    thread.start()
    extractor = FeatureExtractor(FrontEnd())
    rows = []
    while True:
        item = clips.get()
        if item is None:
            break
        rows.append(extractor(item[1]))
    thread.join()
    table = np.stack(rows)
    print("features", table.shape)
    print("means", np.round(table.mean(0)[:5], 2).tolist())
    print("spread", np.round(table.std(0)[:5], 2).tolist())


if __name__ == "__main__":
    main()
