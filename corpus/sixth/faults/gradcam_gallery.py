"""Grad-CAM heat maps for a gallery of photographs, after the Keras example."""

import keras
import numpy as np
import tensorflow as tf

IMAGE = (96, 96)
LAST_CONV = "block4_conv"


def make_classifier():
    inputs = keras.Input(IMAGE + (3,))
    x = keras.layers.Rescaling(1 / 255.0)(inputs)
    for block, filters in enumerate((16, 32, 48, 64), start=1):
        x = keras.layers.Conv2D(filters, 3, padding="same", name=f"block{block}_conv")(x)
        x = keras.layers.BatchNormalization(name=f"block{block}_bn")(x)
        x = keras.layers.ReLU()(x)
        x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    outputs = keras.layers.Dense(10)(x)
    return keras.Model(inputs, outputs, name="classifier")


def make_gradcam_heatmap(img_array, model, last_conv_layer_name, pred_index=None):
    grad_model = keras.models.Model(model.inputs, [model.get_layer(last_conv_layer_name).output, model.output])

    @tf.function
    def scores(batch):
        with tf.GradientTape() as tape:
            conv, preds = grad_model(batch)
            index = tf.argmax(preds[0]) if pred_index is None else pred_index
            class_channel = preds[:, index]
        return conv, tape.gradient(class_channel, conv)

    conv, grads = scores(tf.constant(img_array))
    pooled_grads = tf.reduce_mean(grads, axis=(0, 1, 2))
    heatmap = conv[0] @ pooled_grads[..., tf.newaxis]
    heatmap = tf.squeeze(heatmap)
    heatmap = tf.maximum(heatmap, 0) / (tf.math.reduce_max(heatmap) + 1e-8)
    return heatmap.numpy()


if __name__ == "__main__":
    gallery = np.random.default_rng(0).integers(0, 255, (70,) + IMAGE + (3,)).astype("float32")
    model = make_classifier()
    heat = []
    for photo in gallery:
        heat.append(make_gradcam_heatmap(photo[np.newaxis], model, LAST_CONV))
    print(np.mean(heat), len(heat))
