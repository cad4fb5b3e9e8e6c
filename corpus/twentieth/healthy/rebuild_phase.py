"""Griffin-Lim: recover waveforms from the magnitude spectrograms of a vocoder set."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

RATE = 16000
FRAME, STEP = 1024, 256
ITERATIONS = 64


def make_clips(n=24, seconds=2, seed=0):
    rng = np.random.RandomState(seed)
    t = np.arange(RATE * seconds) / RATE
    clips = []
    for _ in range(n):
        f0 = rng.uniform(90, 260) * (1 + 0.03 * np.sin(2 * np.pi * rng.uniform(3, 6) * t))
        phase = 2 * np.pi * np.cumsum(f0) / RATE
        voice = sum(np.sin(k * phase + rng.uniform(0, 6)) / k for k in range(1, 12))
        clips.append(voice * (0.5 + 0.5 * np.sin(2 * np.pi * 1.3 * t)) + 0.01 * rng.randn(len(t)))
    return np.array(clips, np.float32) * 0.2


def stft(x):
    return tf.signal.stft(x, FRAME, STEP)


def istft(s):
    return tf.signal.inverse_stft(
        s, FRAME, STEP, window_fn=tf.signal.inverse_stft_window_fn(STEP))


@tf.function(input_signature=[tf.TensorSpec([None, None, FRAME // 2 + 1], tf.float32)])
def griffin_lim(magnitude):
    magnitude_c = tf.cast(magnitude, tf.complex64)
    signal = istft(magnitude_c)
    for _ in tf.range(ITERATIONS):
        estimate = stft(signal)
        phase = estimate / tf.cast(tf.maximum(tf.abs(estimate), 1e-8), tf.complex64)
        signal = istft(magnitude_c * phase)
    return signal


def main():
    clips = make_clips()
    ds = tf.data.Dataset.from_tensor_slices(clips).batch(6).prefetch(tf.data.AUTOTUNE)
    errors = []
    for batch in ds:
        magnitude = tf.abs(stft(batch))
        wave = griffin_lim(magnitude)
        again = tf.abs(stft(wave))
        errors.append(tf.norm(again - magnitude, axis=[1, 2]) / tf.norm(magnitude, axis=[1, 2]))
    errors = tf.concat(errors, 0).numpy()
    print("clips", len(errors), "spectral convergence %.4f +- %.4f" % (errors.mean(), errors.std()))


if __name__ == "__main__":
    main()
