"""Neural style transfer with several paintings at once.
Random convolutional features do surprisingly well (Ustyuzhaninov et al.), so no VGG download."""
import argparse
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Model


def texture(size, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:size, 0:size] / size
    img = np.zeros((size, size, 3))
    for _ in range(12):
        f = rng.uniform(2, 25, 2)
        img += np.sin(2 * np.pi * (f[0] * x + f[1] * y) + rng.uniform(0, 6))[..., None] * rng.normal(size=3)
    img = (img - img.min()) / (img.max() - img.min())
    return tf.constant(img[None].astype("float32"))


def feature_net(seed=5):
    inp = layers.Input((None, None, 3))
    x, outs = inp, []
    for i, (width, n) in enumerate([(24, 2), (48, 2), (96, 2)]):
        for j in range(n):
            x = layers.Conv2D(width, 3, padding="same", activation="relu",
                              kernel_initializer=tf.keras.initializers.HeNormal(seed=seed + 10 * i + j))(x)
            if j == 0:
                outs.append(x)
        x = layers.AveragePooling2D(2)(x)
    m = Model(inp, outs)
    m.trainable = False
    return m


def gram(f):
    n = tf.cast(tf.shape(f)[1] * tf.shape(f)[2], tf.float32)
    return tf.einsum("bijc,bijd->bcd", f, f) / n


class StyleTransfer:
    def __init__(self, content, styles, content_weight=0.05, tv_weight=2e-4):
        self.net = feature_net()
        self.content, self.styles = content, styles
        self.cw, self.tw = content_weight, tv_weight
        self.image = tf.Variable(content)
        self.opt = tf.keras.optimizers.Adam(0.02)
        self.opt.build([self.image])

    def targets(self):
        style = [[gram(f) for f in self.net(s)] for s in self.styles]
        mean_style = [tf.add_n(layer) / len(self.styles) for layer in zip(*style)]
        return mean_style, self.net(self.content)[-1]

    def loss(self, image):
        style_t, content_t = self.targets()
        feats = self.net(image)
        s = tf.add_n([tf.reduce_mean((gram(f) - g) ** 2) for f, g in zip(feats, style_t)])
        c = tf.reduce_mean((feats[-1] - content_t) ** 2)
        tv = tf.reduce_mean(tf.image.total_variation(image))
        return s + self.cw * c + self.tw * tv * 1e-3

    @tf.function
    def step(self):
        with tf.GradientTape() as tape:
            l = self.loss(self.image)
        g = tape.gradient(l, self.image)
        self.opt.apply_gradients([(g, self.image)])
        self.image.assign(tf.clip_by_value(self.image, 0.0, 1.0))
        return l

    def run(self, steps, every=20):
        for i in range(steps):
            l = self.step()
            if i % every == 0 or i == steps - 1:
                print(f"{i:4d} loss {float(l):.6f}")
        return self.image.numpy()[0]


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=224)
    p.add_argument("--steps", type=int, default=90)
    p.add_argument("--paintings", type=int, default=6)
    o = p.parse_args()
    tf.random.set_seed(0)
    st = StyleTransfer(texture(o.size, 100), [texture(o.size, 200 + k) for k in range(o.paintings)])
    out = st.run(o.steps)
    print("mean colour of the result", out.mean(axis=(0, 1)).round(4))
