"""Neural style transfer (Gatys et al.) with a small random-weight VGG-like network and several styles."""
import argparse

import numpy as np
import tensorflow as tf

STYLE_LAYERS = ["b1c1", "b2c1", "b3c1"]
CONTENT_LAYER = "b3c2"


def vgg_like(size):
    inp = tf.keras.Input((size, size, 3))
    x = inp
    for b, width in enumerate((24, 48, 96), 1):
        for c in (1, 2):
            x = tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu",
                                       kernel_initializer="he_normal", name=f"b{b}c{c}")(x)
        x = tf.keras.layers.AveragePooling2D(2)(x)
    base = tf.keras.Model(inp, x)
    base.trainable = False
    outs = [base.get_layer(n).output for n in STYLE_LAYERS + [CONTENT_LAYER]]
    return tf.keras.Model(inp, outs)


def gram(feat):
    g = tf.linalg.einsum("bijc,bijd->bcd", feat, feat)
    shape = tf.shape(feat)
    return g / tf.cast(shape[1] * shape[2], tf.float32)


def pattern(kind, size):
    yy, xx = np.mgrid[0:size, 0:size] / size
    if kind == "stripes":
        base = np.sin(40 * xx + 10 * np.sin(6 * yy))
    elif kind == "rings":
        base = np.sin(60 * np.hypot(xx - 0.5, yy - 0.5))
    elif kind == "checks":
        base = np.sign(np.sin(25 * xx) * np.sin(25 * yy))
    else:
        base = np.random.default_rng(3).normal(size=(size, size))
    rgb = np.stack([0.5 + 0.4 * base, 0.5 - 0.3 * base, 0.5 + 0.2 * base ** 2], -1)
    return tf.constant(np.clip(rgb, 0, 1)[None], tf.float32)


def content_photo(size):
    yy, xx = np.mgrid[0:size, 0:size] / size
    img = np.stack([yy, 0.6 * (1 - yy), (np.hypot(xx - 0.6, yy - 0.4) < 0.25)], -1)
    return tf.constant(img[None], tf.float32)


class StyleTransfer:
    def __init__(self, size, styles, style_weight, content_weight, tv_weight):
        self.extractor = vgg_like(size)
        self.content = content_photo(size)
        self.styles = [pattern(s, size) for s in styles]
        self.sw, self.cw, self.tv = style_weight, content_weight, tv_weight
        self.opt = tf.keras.optimizers.Adam(0.02)
        self.image = tf.Variable(self.content)

    def targets(self):
        content = self.extractor(self.content)[-1]
        grams = [[gram(f) for f in self.extractor(s)[:-1]] for s in self.styles]
        return content, grams

    def loss(self, image):
        content_target, style_targets = self.targets()
        *style_feats, content_feat = self.extractor(image)
        loss = self.cw * tf.reduce_mean(tf.square(content_feat - content_target))
        grams = [gram(f) for f in style_feats]
        for target in style_targets:
            for g, t in zip(grams, target):
                loss += self.sw / len(style_targets) * tf.reduce_mean(tf.square(g - t))
        return loss + self.tv * tf.reduce_mean(tf.image.total_variation(image))

    @tf.function
    def step(self):
        with tf.GradientTape() as tape:
            loss = self.loss(self.image)
        grad = tape.gradient(loss, self.image)
        self.opt.apply_gradients([(grad, self.image)])
        self.image.assign(tf.clip_by_value(self.image, 0.0, 1.0))
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", type=int, default=128)
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--styles", nargs="+", default=["stripes", "rings", "checks", "noise"])
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(8)
    job = StyleTransfer(args.size, args.styles, 1.0, 0.1, 1e-6)
    for i in range(args.steps):
        loss = job.step()
        if i % 15 == 0:
            print(f"step {i}: loss {float(loss):.5f}")
    out = tf.cast(job.image[0] * 255, tf.uint8)
    print("result", out.shape, "mean colour", tf.reduce_mean(job.image, axis=[0, 1, 2]).numpy().round(3))


if __name__ == "__main__":
    main()
