"""Keyword spotting: log-mel features are computed once up front, then a small CNN is fitted."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

RATE, SECONDS, N_MELS = 8000, 1.0, 40
WORDS = ["yes", "no", "up", "down", "stop"]


def synth_clips(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(int(RATE * SECONDS), dtype=np.float32) / RATE
    y = rng.integers(0, len(WORDS), n).astype(np.int32)
    f0 = rng.uniform(180, 260, n).astype(np.float32)
    sweep = (y - 2).astype(np.float32) * 350
    phase = 2 * np.pi * (f0[:, None] * t + 0.5 * sweep[:, None] * t ** 2)
    x = np.sin(phase) + 0.5 * np.sin(3 * phase)
    x += rng.standard_normal(x.shape, dtype=np.float32) * 0.5
    return x.astype(np.float32), y


MEL = tf.signal.linear_to_mel_weight_matrix(N_MELS, 129, RATE, 60.0, 3800.0)


@tf.function(input_signature=[tf.TensorSpec([None, int(RATE * SECONDS)], tf.float32)])
def log_mel(waves):
    spec = tf.abs(tf.signal.stft(waves, frame_length=256, frame_step=128))
    return tf.math.log(tf.matmul(spec, MEL) + 1e-3)[..., None]


def features(waves, chunk=256):
    return np.concatenate([log_mel(tf.constant(waves[i:i + chunk])).numpy()
                           for i in range(0, len(waves), chunk)])


def build_model(shape):
    norm = layers.Normalization(axis=None)
    model = tf.keras.Sequential([
        layers.Input(shape),
        norm,
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dropout(0.3),
        layers.Dense(len(WORDS)),
    ])
    return model, norm


def main():
    tf.keras.utils.set_random_seed(0)
    waves, y = synth_clips(3200, 0)
    waves_val, y_val = synth_clips(512, 1)
    x, x_val = features(waves), features(waves_val)
    print("features:", x.shape)

    model, norm = build_model(x.shape[1:])
    norm.adapt(x)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=False,
    )
    model.fit(x, y, batch_size=64, epochs=4, validation_data=(x_val, y_val), verbose=2)
    pred = model.predict(x_val, batch_size=256, verbose=0).argmax(1)
    for k, word in enumerate(WORDS):
        print(f"{word:>5}: recall {np.mean(pred[y_val == k] == k):.3f}")


if __name__ == "__main__":
    main()
