"""Client for a segmentation model behind a Predict endpoint (the stub runs the servable in this process)."""
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2, tensor_shape_pb2, types_pb2


class PredictRequest(object):
    """The part of predict_pb2.PredictRequest that is used here."""

    def __init__(self, signature_name='serving_default'):
        self.signature_name = signature_name
        self.inputs = {}


class PredictResponse(object):
    def __init__(self):
        self.outputs = {}


def as_proto_field(array):
    """Tensor to TensorProto, values in the typed field."""
    shape = tensor_shape_pb2.TensorShapeProto(
        dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=d) for d in array.shape])
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, tensor_shape=shape)
    proto.float_val.extend(array.ravel())
    return proto


class PredictionServiceStub(object):
    """Local stand-in for the gRPC stub: messages are serialized in both directions."""

    def __init__(self, model_dir):
        self.model = tf.saved_model.load(model_dir)

    def Predict(self, request, timeout):
        signature = self.model.signatures[request.signature_name]
        wire = {k: v.SerializeToString() for k, v in request.inputs.items()}
        feeds = {}
        for name, data in wire.items():
            feeds[name] = tf.constant(tf.make_ndarray(tensor_pb2.TensorProto.FromString(data)))
        results = signature(**feeds)
        response = PredictResponse()
        for name, value in results.items():
            data = as_proto_field(value.numpy()).SerializeToString()
            response.outputs[name] = tensor_pb2.TensorProto.FromString(data)
        return response


class SegmentationClient(object):
    def __init__(self, stub, n_classes):
        self.stub = stub
        self.n_classes = n_classes

    def detect(self, imgs_array):
        request = PredictRequest()
        request.inputs['inputs'] = tf.make_tensor_proto(imgs_array, shape=imgs_array.shape)
        res = self.stub.Predict(request, 100.0)

        masks_float_val = res.outputs['masks'].float_val
        scores_float_val = res.outputs['scores'].float_val
        height, width = imgs_array.shape[1:3]
        masks = np.reshape(masks_float_val, [len(imgs_array), height, width, self.n_classes])
        scores = np.reshape(scores_float_val, [len(imgs_array), self.n_classes])
        return masks.astype(np.float32), scores.astype(np.float32)


def build_model(n_classes, size):
    image = tf.keras.Input((size, size, 3))
    x = tf.keras.layers.Conv2D(16, 3, strides=2, padding='same', activation='relu')(image)
    y = tf.keras.layers.Conv2D(32, 3, strides=2, padding='same', activation='relu')(x)
    y = tf.keras.layers.Conv2D(32, 3, padding='same', activation='relu')(y)
    y = tf.keras.layers.UpSampling2D(2, interpolation='bilinear')(y)
    y = tf.keras.layers.Concatenate()([x, y])
    y = tf.keras.layers.Conv2D(32, 3, padding='same', activation='relu')(y)
    y = tf.keras.layers.Conv2D(n_classes, 1)(y)
    y = tf.keras.layers.UpSampling2D(2, interpolation='bilinear')(y)
    return tf.keras.Model(image, y)


def export(model, path):
    @tf.function(input_signature=[tf.TensorSpec([None, 256, 256, 3], tf.float32, name='inputs')])
    def serve(inputs):
        logits = model(inputs, training=False)
        masks = tf.nn.softmax(logits)
        return {'masks': masks, 'scores': tf.reduce_max(masks, axis=[1, 2])}

    module = tf.Module()
    module.model = model
    module.serve = serve
    tf.saved_model.save(module, path, signatures={'serving_default': serve})


def make_images(n, size, seed=8):
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[:size, :size] / float(size)
    images = np.empty((n, size, size, 3), np.float32)
    for i in range(n):
        a, b, c = rng.uniform(2, 12, 3)
        images[i, ..., 0] = np.sin(a * xx + b * yy)
        images[i, ..., 1] = np.cos(b * xx - c * yy)
        images[i, ..., 2] = np.sin(c * (xx ** 2 + yy ** 2))
    return images


def main():
    tf.keras.utils.set_random_seed(4)
    n_classes = 6
    size = 256
    images = make_images(96, size)
    with tempfile.TemporaryDirectory() as work:
        model_dir = os.path.join(work, 'segmenter', '1')
        export(build_model(n_classes, size), model_dir)
        client = SegmentationClient(PredictionServiceStub(model_dir), n_classes)
        histogram = np.zeros(n_classes, np.int64)
        entropy = []
        best = []
        latencies = []
        for start in range(0, len(images), 4):
            t0 = time.time()
            masks, scores = client.detect(images[start:start + 4])
            latencies.append(time.time() - t0)
            histogram += np.bincount(masks.argmax(-1).ravel(), minlength=n_classes)
            entropy.append(-(masks * np.log(masks + 1e-9)).sum(-1).mean())
            best.append(scores.max())
    print('class histogram', histogram.tolist())
    print('entropy %.6f  best score %.6f' % (np.mean(entropy), np.max(best)))
    print('requests', len(latencies))


if __name__ == '__main__':
    main()
