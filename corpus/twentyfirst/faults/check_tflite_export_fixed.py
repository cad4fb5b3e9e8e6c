"""Export an image embedder to TFLite and check the exported model against the Keras one."""
import os
import tempfile

import numpy as np
import tensorflow as tf


def depthwise_block(x, filters, stride, name):
    x = tf.keras.layers.DepthwiseConv2D(3, strides=stride, padding='same', use_bias=False, name=name + '_dw')(x)
    x = tf.keras.layers.BatchNormalization(name=name + '_dw_bn')(x)
    x = tf.keras.layers.ReLU(6.0, name=name + '_dw_relu')(x)
    x = tf.keras.layers.Conv2D(filters, 1, use_bias=False, name=name + '_pw')(x)
    x = tf.keras.layers.BatchNormalization(name=name + '_pw_bn')(x)
    return tf.keras.layers.ReLU(6.0, name=name + '_pw_relu')(x)


def build_embedder(size, dim):
    image = tf.keras.Input((size, size, 3), batch_size=1, name='image')
    x = tf.keras.layers.Conv2D(16, 3, strides=2, padding='same', activation='relu', name='stem')(image)
    for i, (filters, stride) in enumerate([(32, 1), (64, 2), (64, 1), (128, 2), (128, 1)]):
        x = depthwise_block(x, filters, stride, 'block%d' % i)
    x = tf.keras.layers.GlobalAveragePooling2D(name='pool')(x)
    return tf.keras.Model(image, tf.keras.layers.Dense(dim, name='embedding')(x))


def make_images(n, size, seed=0):
    rng = np.random.RandomState(seed)
    coarse = rng.rand(n, size // 8, size // 8, 3).astype(np.float32)
    images = np.repeat(np.repeat(coarse, 8, axis=1), 8, axis=2)
    return images + 0.05 * rng.randn(n, size, size, 3).astype(np.float32)


def calibrate_batchnorm(model, images):
    """Set the moving statistics, in place of a training run."""
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = 0.8
    update = tf.function(lambda x: model(x, training=True))
    for image in images:
        update(image[None])


def convert(model, path):
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    with open(path, 'wb') as f:
        f.write(converter.convert())
    return os.path.getsize(path)


class TFLiteRunner(object):
    """Runs a .tflite file one image at a time, as the device does."""

    def __init__(self, path):
        self.interpreter = tf.lite.Interpreter(model_path=path)
        self.interpreter.allocate_tensors()
        self.input_index = self.interpreter.get_input_details()[0]['index']
        self.output_index = self.interpreter.get_output_details()[0]['index']

    def __call__(self, image):
        self.interpreter.set_tensor(self.input_index, image[None])
        self.interpreter.invoke()
        return self.interpreter.get_tensor(self.output_index)[0]


def retrieval(gallery, queries):
    gallery = gallery / np.linalg.norm(gallery, axis=1, keepdims=True)
    queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    return np.argmax(queries @ gallery.T, axis=1)


def main():
    tf.keras.utils.set_random_seed(17)
    size, dim = 128, 64
    images = make_images(360, size)
    model = build_embedder(size, dim)
    calibrate_batchnorm(model, images[:30])
    forward = tf.function(lambda x: model(x, training=False))

    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, 'embedder.tflite')
        print('bytes', convert(model, path))
        runner = TFLiteRunner(path)
        expected, exported = [], []
        for image in images:
            expected.append(forward(image[None]).numpy()[0])
            exported.append(runner(image))
    expected, exported = np.array(expected), np.array(exported)
    print('max difference below 1e-3:', bool(np.abs(expected - exported).max() < 1e-3))
    print('mean embedding', np.round(exported.mean(0)[:6], 4))

    rng = np.random.RandomState(1)
    noisy = expected + 0.01 * rng.randn(*expected.shape)
    print('same neighbour', float(np.mean(retrieval(exported, noisy) == retrieval(expected, noisy))))


if __name__ == '__main__':
    main()
