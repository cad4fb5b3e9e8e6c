"""Quantise the keyword spotter and compare the two models on the test clips."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

FRAMES, BINS, WORDS = 49, 40, 5


def make_clips(n, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, WORDS, n)
    x = rng.normal(0, 0.6, (n, FRAMES, BINS, 1)).astype(np.float32)
    for i, label in enumerate(labels):
        start = rng.randint(0, 20)
        for k in range(20):
            x[i, start + k, (4 + 6 * label + k // (1 + label)) % BINS, 0] += 2.5
    return x, labels.astype(np.int32)


def build():
    model = tf.keras.Sequential([
        tf.keras.Input((FRAMES, BINS, 1)),
        layers.Conv2D(24, (8, 5), strides=2, activation="relu"),
        layers.DepthwiseConv2D(3, activation="relu"),
        layers.Conv2D(32, 1, activation="relu"),
        layers.DepthwiseConv2D(3, strides=2, activation="relu"),
        layers.Conv2D(32, 1, activation="relu"),
        layers.Flatten(),
        layers.Dense(WORDS),
    ])
    model.compile(optimizer=tf.keras.optimizers.Adam(3e-3), jit_compile=False,
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def main():
    tf.keras.utils.set_random_seed(6)
    x, y = make_clips(1200, 0)
    test_x, test_y = make_clips(1024, 1)
    model = build()
    model.fit(x, y, batch_size=64, epochs=3, verbose=0)
    plain = model.predict(test_x, batch_size=256, verbose=0)

    def representative():
        for clip in x[:100]:
            yield [clip[None]]

    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "spotter")
        model.export(path, verbose=False)
        converter = tf.lite.TFLiteConverter.from_saved_model(path)
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = representative
        content = converter.convert()

    interpreter = tf.lite.Interpreter(model_content=content, num_threads=2)
    inp, out = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    interpreter.resize_tensor_input(inp["index"], (256, FRAMES, BINS, 1))
    interpreter.allocate_tensors()
    quantised = []
    for start in range(0, len(test_x), 256):
        interpreter.set_tensor(inp["index"], test_x[start:start + 256])
        interpreter.invoke()
        quantised.append(interpreter.get_tensor(out["index"]))
    quantised = np.concatenate(quantised)
    for name, scores in (("float", plain), ("int8", quantised)):
        print(name, "accuracy %.4f" % np.mean(scores.argmax(1) == test_y))
    print("bytes", len(content) // 1000, "k")


if __name__ == "__main__":
    main()
