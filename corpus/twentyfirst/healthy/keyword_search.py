"""Small architecture search for a keyword spotter on synthetic tones."""
import numpy as np
import tensorflow as tf

RATE = 8000
CLASSES = 6


def make_clips(n, seed):
    rng = np.random.RandomState(seed)
    t = np.arange(RATE) / RATE
    labels = rng.randint(0, CLASSES, n)
    clips = np.empty((n, RATE), np.float32)
    for i, label in enumerate(labels):
        f0 = 220.0 * 2 ** (label / 3.0)
        sweep = rng.uniform(-0.3, 0.3)
        phase = 2 * np.pi * f0 * (t + sweep * t ** 2 / 2)
        clips[i] = np.sin(phase) * np.exp(-3 * rng.rand() * t) + 0.1 * rng.randn(RATE)
    return clips, labels


mel_matrix = tf.signal.linear_to_mel_weight_matrix(40, 129, RATE, 80.0, 3800.0)


def log_mel(clips):
    spectra = tf.abs(tf.signal.stft(clips, 256, 128, fft_length=256))
    return tf.math.log(tf.tensordot(spectra, mel_matrix, 1) + 1e-3)


def spec_augment(mel, label):
    """New random masks at every epoch."""
    f = tf.random.uniform([], 0, 32, tf.int32)
    t = tf.random.uniform([], 0, 50, tf.int32)
    rows = tf.range(61)[:, None]
    cols = tf.range(40)[None, :]
    keep = tf.logical_not(((cols >= f) & (cols < f + 6)) | ((rows >= t) & (rows < t + 8)))
    return tf.where(keep[None], mel, 0.0), label


def build_model(width, depth, kernel):
    layers = [tf.keras.layers.Input((61, 40)), tf.keras.layers.Reshape((61, 40, 1))]
    for i in range(depth):
        layers.append(tf.keras.layers.Conv2D(width * (1 + i // 2), kernel, padding='same', activation='relu'))
        if i % 2:
            layers.append(tf.keras.layers.MaxPooling2D())
    layers += [tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(CLASSES)]
    return tf.keras.Sequential(layers)


def main():
    tf.keras.utils.set_random_seed(31)
    clips, labels = make_clips(720, 0)
    val_clips, val_labels = make_clips(256, 1)
    mels = log_mel(clips)
    val_mels = log_mel(val_clips)
    train = (tf.data.Dataset.from_tensor_slices((mels, labels))
             .shuffle(720, seed=5)
             .batch(60, drop_remainder=True)
             .map(spec_augment, num_parallel_calls=tf.data.AUTOTUNE)
             .prefetch(tf.data.AUTOTUNE))
    results = []
    for width, depth, kernel in [(12, 4, 3), (16, 3, 3), (8, 3, 5)]:
        model = build_model(width, depth, kernel)
        model.compile(tf.keras.optimizers.Adam(5e-3),
                      tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
        history = model.fit(train, epochs=3, verbose=0)
        loss, accuracy = model.evaluate(val_mels, val_labels, batch_size=64, verbose=0)
        results.append((accuracy, width, depth, kernel, model.count_params()))
        print('width %2d depth %d kernel %d: train loss %.4f  val loss %.4f  accuracy %.3f' % (
            width, depth, kernel, history.history['loss'][-1], loss, accuracy))
    print('best', max(results)[1:])


if __name__ == '__main__':
    main()
